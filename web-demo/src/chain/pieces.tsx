// The row of a chain: a bar for each run, in ink up to the position. The current run has a ring.
import type { JSX } from "preact";
import type { Chain, Piece } from "../store/family.ts";
import type { OpenRun } from "../store/state.ts";
import { LETTER_PX } from "../../../ts/run_view/timeline/layout.ts";
import type { Drawing } from "../timeline/shapes.tsx";
import { count, lasting } from "../ui/time.ts";
import { chainNumber } from "./line.ts";
import { CHAIN_PX } from "./rows.ts";

const BAR_PX = 18;
const TOP_PX = (CHAIN_PX - BAR_PX) / 2;
/** Boundaries that are closer together are not drawn through the lanes. In pixels. */
const EDGE_PX = 14;

export function Pieces({ chain, drawing, current }: {
  readonly chain: Chain;
  readonly drawing: Drawing;
  readonly current: OpenRun;
}): JSX.Element {
  return (
    <g class={chain.pieces.some(({ run }) => run === current) ? "ch-own" : ""}>
      {chain.pieces.map((piece, index) => (
        <PieceBar
          key={piece.run.key}
          chain={chain}
          piece={piece}
          index={index}
          drawing={drawing}
          isCurrent={piece.run === current}
        />
      ))}
    </g>
  );
}

function PieceBar({ chain, piece, index, drawing, isCurrent }: {
  readonly chain: Chain;
  readonly piece: Piece;
  readonly index: number;
  readonly drawing: Drawing;
  readonly isCurrent: boolean;
}): JSX.Element | null {
  const { scale, isRecorded } = drawing;
  const position = isRecorded ? Infinity : drawing.position;
  const now = isRecorded ? Infinity : drawing.x;
  const x = scale.x(piece.startMs);
  const next = chain.pieces[index + 1];
  const end = Math.max(x + 2, scale.x(piece.endMs));
  // Runs follow each other immediately: a small gap separates their bars.
  const w = Math.max(
    2,
    (next !== undefined && scale.x(next.startMs) - end < 1 ? end - 1 : end) - x,
  );
  if (x > drawing.toX || x + w < drawing.fromX) return null;
  const begun = piece.offset < position;
  const done = chainNumber(piece, piece.run.model.lines.length) <= position;
  const inkTo = done ? x + w : begun ? Math.max(x, Math.min(x + w, now)) : x;
  const { status } = piece.run.model.facts;
  const isBad = done && /^(?:Failed|TimedOut|Terminated)$/.test(status);
  const text = textOf(chain, index, w);
  const wide = text.length * LETTER_PX + 8;
  const isInk = inkTo - x >= wide;
  // A label across the edge of ink and paper is unreadable: it moves to one side, or is omitted.
  const textX = isInk || inkTo === x ? x + 6 : x + w - inkTo >= wide ? inkTo + 5 : undefined;
  return (
    <g data-piece={index} class={isCurrent ? "tl-item ch-piece ch-current" : "tl-item ch-piece"}>
      <title>{pieceTitle(chain, index)}</title>
      <rect class="tl-hit" x={x - 1} y={TOP_PX - 2} width={w + 2} height={BAR_PX + 4} />
      {inkTo < x + w && (
        <rect
          class="tl-pencil"
          x={x + 0.5}
          y={TOP_PX + 0.5}
          width={Math.max(1, w - 1)}
          height={BAR_PX - 1}
          rx={3}
        />
      )}
      {inkTo > x && (
        <rect
          class="tl-ink"
          x={x}
          y={TOP_PX}
          width={inkTo - x}
          height={BAR_PX}
          rx={Math.min(3, w / 3)}
        />
      )}
      {isBad && (
        <rect
          class="tl-red"
          x={x + w - Math.min(3, w)}
          y={TOP_PX}
          width={Math.min(3, w)}
          height={BAR_PX}
          rx={1}
        />
      )}
      {text !== "" && textX !== undefined && (
        <text class={isInk ? "tl-on" : "tl-later"} x={textX} y={TOP_PX + BAR_PX / 2 + 4}>
          {text}
        </text>
      )}
    </g>
  );
}

/** Lines where runs begin, through the lanes of their chain. */
export function Edges({ chain, drawing: { scale, fromX, toX }, top, bottom }: {
  readonly chain: Chain;
  readonly drawing: Drawing;
  readonly top: number;
  readonly bottom: number;
}): JSX.Element {
  const edges: JSX.Element[] = [];
  let last = -Infinity;
  for (const { run, startMs } of chain.pieces.slice(1)) {
    const x = scale.x(startMs);
    if (x < fromX || x > toX || x - last < EDGE_PX) continue;
    last = x;
    edges.push(<line key={run.key} class="ch-edge" x1={x} x2={x} y1={top} y2={bottom} />);
  }
  return <g aria-hidden="true">{edges}</g>;
}

/** Why a run of a chain started. */
export function begunBy({ pieces }: Chain, index: number): string {
  const { run: { model: { facts } } } = pieces[index]!;
  if (index === 0) return "started";
  if (pieces[index]!.first > 1) return "reset";
  if (facts.attempt > 1) return `attempt ${facts.attempt}`;
  const before = pieces[index - 1]!.run.model.facts.status;
  return before === "ContinuedAsNew"
    ? "continued as new"
    : facts.cron !== ""
    ? "cron"
    : "started again";
}

function textOf(chain: Chain, index: number, w: number): string {
  const number = String(index + 1);
  const long = chain.pieces.length === 1
    ? chain.pieces[0]!.run.model.facts.type
    : `${number} ${begunBy(chain, index)}`;
  if (w >= long.length * LETTER_PX + 12) return long;
  return chain.pieces.length > 1 && w >= number.length * LETTER_PX + 10 ? number : "";
}

const STATUS: { readonly [status: string]: string } = {
  Running: "running",
  TimedOut: "timed out",
  ContinuedAsNew: "continued as new",
};

export function pieceTitle({ pieces }: Chain, index: number): string {
  const { run: { model: { facts, lines } }, startMs, endMs } = pieces[index]!;
  const which = pieces.length === 1
    ? facts.type
    : `${facts.type}, run ${index + 1} of ${pieces.length}`;
  const how = begunBy({ pieces } as Chain, index);
  const end = STATUS[facts.status] ?? facts.status.toLowerCase();
  return `${which}: ${how}, ${end}; ${count(lines.length)} events in ${lasting(endMs - startMs)}`;
}
