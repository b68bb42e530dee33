// A chain of runs as one run: items and events are numbered across the runs, so that the shapes of
// the timeline can draw it.
import type { RunItem, RunModel } from "../store/run_model.ts";
import type { Chain, Piece } from "../store/family.ts";
import { busyOf, type Lane, lanesOf, timesOf } from "../../../ts/run_view/timeline/lanes.ts";

export interface Place {
  readonly piece: Piece;
  readonly eventId: number;
}

export interface Line {
  readonly chain: Chain;
  readonly lanes: readonly Lane[];
  /** The time of each event (index: number - 1), in milliseconds. Ascending. */
  readonly clock: Float64Array;
  readonly times: readonly number[];
  readonly busy: readonly (readonly [number, number])[];
  /** The part of a model that the shapes read. */
  readonly model: RunModel;
  /** By index of the line's items. */
  readonly origins: readonly { readonly piece: Piece; readonly item: RunItem }[];
  /** The line's item for an item of a run. */
  readonly own: ReadonlyMap<RunItem, RunItem>;
}

/** The number of an event in its chain, from 1. */
export const chainNumber = ({ offset, first }: Piece, eventId: number): number =>
  offset + Math.max(0, eventId - first) + 1;

/** The event with a number of {@link chainNumber}. Numbers out of range are clamped. */
export function findInChain({ pieces, events }: Chain, number: number): Place {
  const wanted = Math.max(1, Math.min(events, Math.round(number)));
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pieces[middle]!.offset < wanted) low = middle + 1;
    else high = middle;
  }
  const piece = pieces[Math.max(0, low - 1)]!;
  return { piece, eventId: piece.first + wanted - piece.offset - 1 };
}

const known = new WeakMap<Chain, Line>();

/**
 * Cached per chain. Opened children have separate rows, so they have no bar in the lane of
 * children.
 */
export function chainLine(chain: Chain): Line {
  const found = known.get(chain);
  if (found !== undefined) return found;
  const line = make(chain);
  known.set(chain, line);
  return line;
}

function make(chain: Chain): Line {
  const opened = new Set(
    chain.children.flatMap(({ pieces }) => pieces.map(({ run }) => run.model.facts.id)),
  );
  const items: RunItem[] = [];
  const origins: { piece: Piece; item: RunItem }[] = [];
  const own = new Map<RunItem, RunItem>();
  const clock = new Float64Array(chain.events);
  let latest = 0;
  for (const piece of chain.pieces) {
    const { run: { model }, first, offset, startMs } = piece;
    for (let id = first; id <= model.lines.length; id++) {
      clock[offset + id - first] = latest = Math.max(latest, model.lines[id - 1]!.timeMs ?? latest);
    }
    for (const item of model.items) {
      if (item.to < first && (item.closedBy !== undefined || item.startMs === undefined)) continue;
      if (item.kind === "child" && opened.has(item.key)) continue;
      const number = (id: number) => chainNumber(piece, id);
      const mine: RunItem = {
        ...item,
        index: items.length,
        from: number(item.from),
        to: number(item.to),
        closedBy: item.closedBy === undefined ? undefined : number(item.closedBy),
        startMs: item.startMs === undefined ? undefined : Math.max(startMs, item.startMs),
        // An item that is open at the end of a run ends with the run.
        endMs: item.endMs ?? piece.endMs,
      };
      items.push(mine);
      origins.push({ piece, item });
      own.set(item, mine);
    }
  }
  const models = chain.pieces.map(({ run }) => run.model);
  const attemptsOf = (item: RunItem) => {
    const origin = origins[item.index]!;
    return origin.piece.run.model.attemptsOf(origin.item);
  };
  // Shapes read only these two properties of a model.
  const model = { items, attemptsOf } as unknown as RunModel;
  return {
    chain,
    lanes: lanesOf(model, false),
    clock,
    times: models.flatMap(timesOf),
    busy: models.flatMap(busyOf),
    model,
    origins,
    own,
  };
}
