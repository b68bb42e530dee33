// Collapses equal steps of a comparison for display. Each row has the position of both runs.
import type { ComparedStep, Comparison } from "./compare.ts";

/** A row of a collapsed comparison: a step, or a range of equal steps. */
export type FoldedRow =
  | { readonly kind: "step"; readonly index: number; readonly step: ComparedStep }
  /** Indices in the comparison's steps; `to` is exclusive. */
  | { readonly kind: "fold"; readonly from: number; readonly to: number };

/** Shorter ranges are not collapsed. */
const SHORT = 2;

/**
 * Collapses equal steps. `around`: number of equal steps shown on each side of a difference
 * (default 2). `unfolded`: expanded ranges, by the index of their first step. Runs without a
 * difference keep their first and last steps.
 */
export function foldedSteps(
  { steps, differences }: Comparison,
  { around = 2, unfolded = new Set() }: {
    readonly around?: number;
    readonly unfolded?: ReadonlySet<number>;
  } = {},
): FoldedRow[] {
  const isShown = new Uint8Array(steps.length);
  for (const at of [0, ...differences, steps.length - 1]) {
    const wide = steps[at]?.same === false ? around : 0;
    for (let i = Math.max(0, at - wide); i <= Math.min(steps.length - 1, at + wide); i++) {
      isShown[i] = 1;
    }
  }
  const rows: FoldedRow[] = [];
  for (let i = 0; i < steps.length;) {
    let end = i;
    while (end < steps.length && isShown[end] === 0) end++;
    if (end - i > SHORT && !unfolded.has(i)) {
      rows.push({ kind: "fold", from: i, to: end });
      i = end;
      continue;
    }
    for (end = Math.max(end, i + 1); i < end; i++) {
      rows.push({ kind: "step", index: i, step: steps[i]! });
    }
  }
  return rows;
}

/**
 * Returns the position of both runs at a step: the ID of the last event up to it; 0 if a run has no
 * event yet.
 */
export function eventsAt({ steps }: Comparison, index: number): readonly [a: number, b: number] {
  let [a, b] = [0, 0];
  for (const step of steps.slice(0, index + 1)) {
    a = step.a?.eventId ?? a;
    b = step.b?.eventId ?? b;
  }
  return [a, b];
}

/**
 * Returns what each run has at the first difference. A side is undefined if it has no further step
 * until both are equal again. Returns undefined for equal runs.
 */
export function firstDifference(
  { steps, first }: Comparison,
): Pick<ComparedStep, "a" | "b"> | undefined {
  if (first < 0) return undefined;
  const end = steps.findIndex(({ same }, i) => i > first && same);
  const apart = steps.slice(first, end < 0 ? steps.length : end);
  return {
    a: apart.find(({ a }) => a !== undefined)?.a,
    b: apart.find(({ b }) => b !== undefined)?.b,
  };
}
