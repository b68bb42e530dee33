// The world on a terminal: `npm run example -- world_map`. It is kept in a file: end it in any way,
// and start it again.
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { HEIGHT, type Npc, WIDTH } from "./reducers.ts";
import { openWorld } from "./main.ts";
import {
  cast,
  endSpell,
  look,
  populate,
  type Sight,
  strengthen,
  threaten,
  within,
} from "./world.ts";

const NPCS = 100;
const PACE_MS = 250;
const KEYS = "arrows move   t threat   w ward   s spell   c cancel spells   q quit";
const color = (code: number, text: string): string => `\x1b[${code}m${text}\x1b[0m`;

function glyph({ doing, ward, poison }: Npc): string {
  const letter = doing === "fights" ? "x" : doing === "alert" ? "!" : "o";
  if (poison > 0) return color(35, letter);
  if (ward > 0) return color(36, letter);
  return doing === "patrols" ? letter : color(33, letter);
}

/** The map as lines of characters. */
export function draw(
  { npcs, threats, scores }: Sight,
  at: { readonly x: number; readonly y: number },
): string {
  const cells = Array.from({ length: HEIGHT }, () => Array<string>(WIDTH).fill(color(90, "·")));
  for (const npc of npcs) cells[npc.y]![npc.x] = glyph(npc);
  for (const { x, y } of threats) cells[y]![x] = color(31, "▲");
  cells[at.y]![at.x] = `\x1b[7m${cells[at.y]![at.x]}\x1b[27m`;
  const count = (is: (npc: Npc) => boolean) => npcs.filter(is).length;
  const line =
    `${npcs.length} patrols, ${count(({ doing }) => doing === "fights")} fight, ${
      count(({ ward }) => ward > 0)
    } warded, ` +
    `${count(({ poison }) => poison > 0)} poisoned; ${
      scores["threats beaten"] ?? 0
    } threats beaten`;
  return [...cells.map((row) => row.join("")), "", line, KEYS].join("\n");
}

/** Runs until `q` or Ctrl-C. */
export async function play(): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new Error(
      "the map needs a terminal; without one, `npm run example -- world` plays a day of it",
    );
  }
  const path = join(tmpdir(), "temporalex-world.sqlite");
  const world = await openWorld({ path });
  await populate(world, NPCS, PACE_MS);
  const at = { x: WIDTH >> 1, y: HEIGHT >> 1 };
  const spells: string[] = [];
  const press: { readonly [key: string]: () => unknown } = {
    "\x1b[A": () => (at.y = Math.max(0, at.y - 1)),
    "\x1b[B": () => (at.y = Math.min(HEIGHT - 1, at.y + 1)),
    "\x1b[C": () => (at.x = Math.min(WIDTH - 1, at.x + 1)),
    "\x1b[D": () => (at.x = Math.max(0, at.x - 1)),
    t: () => threaten(world, at, 20),
    w: async () =>
      await Promise.all((await within(world, at, 2)).map((npc) => strengthen(world, npc, 10_000))),
    s: async () => {
      const spell = `spell-${crypto.randomUUID()}`;
      spells.push(spell);
      await cast(world, await within(world, at, 5), 30, 1000, spell);
    },
    c: async () => await Promise.all(spells.splice(0).map((spell) => endSpell(world, spell))),
  };
  let wrong = "";
  const ended = new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.stdin.setRawMode(true).on("data", (data) => {
      const key = String(data);
      if (key === "q" || key === "\x03") return resolve();
      void (async () => await press[key]?.())().catch((e: Error) => (wrong = e.message));
    });
  });
  process.stdout.write("\x1b[?1049h\x1b[?25l");
  const frames = setInterval(async () => {
    const map = await look(world).then((sight) => draw(sight, at), (e: Error) => e.message);
    process.stdout.write(`\x1b[H\x1b[J${map}\n${wrong}`);
  }, 100);
  try {
    await ended;
  } finally {
    clearInterval(frames);
    process.stdout.write("\x1b[?25h\x1b[?1049l");
    process.stdin.setRawMode(false).pause();
    await world.close();
  }
  console.log(`The world is kept in ${path}.`);
}
