// Compares two runs or branches: aligned steps, the first difference, and the time shift of each
// step.
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import { type Step, stepsOf } from "./steps.ts";

/** A step of one or both sides. */
export interface ComparedStep {
  /** Undefined if A lacks the step. */
  readonly a: Step | undefined;
  /** Undefined if B lacks the step. */
  readonly b: Step | undefined;
  /** Both sides have the step, with equal values. */
  readonly same: boolean;
  /**
   * Delay of the step in B, each measured from the start of its run, in milliseconds; undefined if
   * one side lacks it.
   */
  readonly laterMs: number | undefined;
}

/** The comparison of two histories. */
export interface Comparison {
  /** Aligned steps in order. */
  readonly steps: readonly ComparedStep[];
  /** Index in `steps` of the first difference; -1 without one. */
  readonly first: number;
  /** Indices of all differences. */
  readonly differences: readonly number[];
  /** Duration of each run from its first to its last event, in milliseconds. */
  readonly tookMs: readonly [a: number, b: number];
}

/** Maximum size of the alignment table; longer runs are aligned by order. */
const MAX_CELLS = 4_000_000;

/** Compares two histories. */
export function compareRuns(
  a: readonly HistoryEvent[],
  b: readonly HistoryEvent[],
  converter?: PayloadConverter,
): Comparison {
  const [stepsA, stepsB] = [stepsOf(a, converter), stepsOf(b, converter)];
  const startA = stepsA[0]?.timeMs ?? 0;
  const startB = stepsB[0]?.timeMs ?? 0;
  const steps = aligned(stepsA, stepsB).map(([one, other]): ComparedStep => ({
    a: one,
    b: other,
    same: one !== undefined && other !== undefined && isSame(one, other),
    laterMs: one === undefined || other === undefined
      ? undefined
      : other.timeMs - startB - (one.timeMs - startA),
  }));
  const differences = steps.flatMap(({ same }, i) => (same ? [] : [i]));
  const took = (of: readonly Step[]) => (of.at(-1)?.timeMs ?? 0) - (of[0]?.timeMs ?? 0);
  return { steps, first: differences[0] ?? -1, differences, tookMs: [took(stepsA), took(stepsB)] };
}

const isSame = (a: Step, b: Step): boolean => isAlike(a, b) && a.text === b.text;
const isAlike = (a: Step, b: Step): boolean =>
  a.kind === b.kind && a.what === b.what && a.name === b.name;

/** Aligns the common start and end, and between them the longest common subsequence. */
function aligned(a: readonly Step[], b: readonly Step[]): [Step | undefined, Step | undefined][] {
  let head = 0;
  while (head < a.length && head < b.length && isSame(a[head]!, b[head]!)) head++;
  let tail = 0;
  while (
    tail < a.length - head && tail < b.length - head &&
    isSame(a[a.length - 1 - tail]!, b[b.length - 1 - tail]!)
  ) tail++;
  const pairs: [Step | undefined, Step | undefined][] = [];
  for (let i = 0; i < head; i++) pairs.push([a[i], b[i]]);
  pairs.push(...longest(a.slice(head, a.length - tail), b.slice(head, b.length - tail)));
  for (let i = tail; i > 0; i--) pairs.push([a[a.length - i], b[b.length - i]]);
  return pairs;
}

function longest(a: readonly Step[], b: readonly Step[]): [Step | undefined, Step | undefined][] {
  const pairs: [Step | undefined, Step | undefined][] = [];
  const width = b.length + 1;
  if (a.length * b.length > MAX_CELLS) {
    for (let i = 0; i < Math.max(a.length, b.length); i++) pairs.push([a[i], b[i]]);
    return pairs;
  }
  // Equal steps weigh twice as much as similar ones.
  const table = new Uint32Array((a.length + 1) * width);
  const worth = (i: number, j: number) => isSame(a[i]!, b[j]!) ? 2 : isAlike(a[i]!, b[j]!) ? 1 : 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const both = worth(i, j);
      const skip = Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
      table[i * width + j] = both === 0
        ? skip
        : Math.max(skip, table[(i + 1) * width + j + 1]! + both);
    }
  }
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const here = i < a.length && j < b.length ? table[i * width + j]! : -1;
    const both = here < 0 ? 0 : worth(i, j);
    if (both > 0 && here === table[(i + 1) * width + j + 1]! + both) pairs.push([a[i++], b[j++]]);
    else if (i < a.length && (j >= b.length || here === table[(i + 1) * width + j]!)) {
      pairs.push([a[i++], undefined]);
    } else pairs.push([undefined, b[j++]]);
  }
  return pairs;
}
