// How a divergence is put, in the page and in reports.
import type { SessionProblem } from "../debug/problem.ts";
import type { FieldDifference, LikelyEdit } from "../debug/divergence/types.ts";

/** How sure the likely edit is. */
export const CONFIDENCE: { readonly [confidence in LikelyEdit["confidence"]]: string } = {
  verified: "With this one edit undone, the rest of this history was replayed and matches.",
  likely: "What follows fits that.",
  guess: "Several edits would look like this.",
};

/** What differs at the first place, field by field. */
export function fieldDifferences(
  { divergence, diffs }: Pick<SessionProblem, "divergence" | "diffs">,
): readonly FieldDifference[] {
  const first = divergence?.first;
  if (first === undefined) {
    return diffs.map(({ field, expected, actual }) => ({ field, history: expected, code: actual, counts: true }));
  }
  if (first.differences.some(({ counts }) => counts)) return first.differences;
  const step = { field: "step", code: first.code?.text ?? "nothing", history: first.history?.text ?? "nothing", counts: true };
  return [step, ...first.differences];
}
