// The map on a canvas: ground, patrols, threats and the cell selected by keys, in the colors of the
// theme.
import { HEIGHT, type Npc, WIDTH } from "../../../../examples/world/reducers.ts";
import type { Sight } from "../../../../examples/world/world.ts";
import type { Point } from "../../../../examples/world/workflows.ts";

/** Pixels of a cell, before the page scales the canvas. */
export const CELL = 20;

const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Colors of NPCs by their state. */
const kindOf = ({ doing }: Npc): string =>
  doing === "fights" ? "--red" : doing === "alert" ? "--timer" : "--activity";

export function drawMap(canvas: HTMLCanvasElement, sight: Sight, at: Point | undefined): void {
  const scale = globalThis.devicePixelRatio || 1;
  canvas.width = WIDTH * CELL * scale;
  canvas.height = HEIGHT * CELL * scale;
  const pen = canvas.getContext("2d")!;
  pen.scale(scale, scale);
  pen.fillStyle = token("--sunk");
  pen.fillRect(0, 0, WIDTH * CELL, HEIGHT * CELL);
  pen.fillStyle = token("--line-2");
  for (let x = 0; x < WIDTH; x++) {
    for (let y = 0; y < HEIGHT; y++) {
      pen.fillRect((x + 0.5) * CELL - 0.5, (y + 0.5) * CELL - 0.5, 1, 1);
    }
  }
  for (const npc of sight.npcs) drawNpc(pen, npc);
  for (const { x, y, hp } of sight.threats) {
    const [left, top] = [x * CELL, y * CELL];
    pen.fillStyle = token("--red");
    pen.beginPath();
    pen.moveTo(left + CELL / 2, top + 1);
    pen.lineTo(left + CELL - 1, top + CELL - 2);
    pen.lineTo(left + 1, top + CELL - 2);
    pen.fill();
    pen.fillStyle = token("--on-kind");
    pen.font = `600 9px ${token("--sans")}`;
    pen.textAlign = "center";
    pen.fillText(String(hp), left + CELL / 2, top + CELL - 4);
  }
  if (at === undefined) return;
  pen.strokeStyle = token("--focus");
  pen.lineWidth = 2;
  pen.strokeRect(at.x * CELL + 1, at.y * CELL + 1, CELL - 2, CELL - 2);
}

function drawNpc(pen: CanvasRenderingContext2D, npc: Npc): void {
  const [x, y] = [(npc.x + 0.5) * CELL, (npc.y + 0.5) * CELL];
  const ring = (color: string, radius: number) => {
    pen.strokeStyle = token(color);
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.stroke();
  };
  pen.fillStyle = token(kindOf(npc));
  pen.beginPath();
  // The size of the dot shows the health.
  pen.arc(x, y, 2.5 + 3 * npc.hp / 100, 0, 2 * Math.PI);
  pen.fill();
  if (npc.poison > 0) ring("--if", 8);
  if (npc.ward > 0) ring("--ok", 9.5);
}
