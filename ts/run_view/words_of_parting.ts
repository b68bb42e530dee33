// Texts about a divergence, for the page and reports.
import type { SessionProblem } from "../debug/problem.ts";
import type { FieldDifference, LikelyEdit } from "../debug/divergence/types.ts";

/** The confidence in the likely edit. */
export const CONFIDENCE: { readonly [confidence in LikelyEdit["confidence"]]: string } = {
  verified: "With this one edit undone, the rest of this history was replayed and matches.",
  likely: "What follows fits that.",
  guess: "Several edits would look like this.",
};

/** Returns the fields that differ at the first place. */
export function fieldDifferences(
  { divergence, diffs }: Pick<SessionProblem, "divergence" | "diffs">,
): readonly FieldDifference[] {
  const first = divergence?.first;
  if (first === undefined) {
    return diffs.map(({ field, expected, actual }) => ({
      field,
      history: expected,
      code: actual,
      counts: true,
    }));
  }
  if (first.differences.some(({ counts }) => counts)) return first.differences;
  const step = {
    field: "step",
    code: first.code?.text ?? "nothing",
    history: first.history?.text ?? "nothing",
    counts: true,
  };
  return [step, ...first.differences];
}
