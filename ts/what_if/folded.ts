// A comparison as it is read: what is the same on both sides folds away, and each row says where both runs stand.
import type { ComparedStep, Comparison } from "./compare.ts";

/** A row of a folded comparison: a step, or steps that are the same on both sides and are folded. */
export type FoldedRow =
  | { readonly kind: "step"; readonly index: number; readonly step: ComparedStep }
  /** `from` to `to` (not included) are indexes in the comparison's steps. */
  | { readonly kind: "fold"; readonly from: number; readonly to: number };

/** As many steps as this are shown where a fold would take the place of them. */
const SHORT = 2;

/**
 * Folds what is the same. `around`: so many equal steps stay in sight on each side of a difference (default 2). `unfolded`: folds, by the
 * index of their first step, that are open. Runs without a difference keep their first and last steps in sight.
 */
export function foldedSteps(
  { steps, differences }: Comparison,
  { around = 2, unfolded = new Set() }: { readonly around?: number; readonly unfolded?: ReadonlySet<number> } = {},
): FoldedRow[] {
  const isShown = new Uint8Array(steps.length);
  for (const at of [0, ...differences, steps.length - 1]) {
    const wide = steps[at]?.same === false ? around : 0;
    for (let i = Math.max(0, at - wide); i <= Math.min(steps.length - 1, at + wide); i++) isShown[i] = 1;
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
    for (end = Math.max(end, i + 1); i < end; i++) rows.push({ kind: "step", index: i, step: steps[i]! });
  }
  return rows;
}

/** Where both runs stand at a step: the ids of the last events that they have up to it; 0: a run has none yet. */
export function eventsAt({ steps }: Comparison, index: number): readonly [a: number, b: number] {
  let [a, b] = [0, 0];
  for (const step of steps.slice(0, index + 1)) {
    a = step.a?.eventId ?? a;
    b = step.b?.eventId ?? b;
  }
  return [a, b];
}

/**
 * The first place where two runs part: what each has there. A side is undefined where it has nothing more until both are the same again.
 * Undefined: they do the same.
 */
export function firstDifference({ steps, first }: Comparison): Pick<ComparedStep, "a" | "b"> | undefined {
  if (first < 0) return undefined;
  const end = steps.findIndex(({ same }, i) => i > first && same);
  const apart = steps.slice(first, end < 0 ? steps.length : end);
  return { a: apart.find(({ a }) => a !== undefined)?.a, b: apart.find(({ b }) => b !== undefined)?.b };
}
