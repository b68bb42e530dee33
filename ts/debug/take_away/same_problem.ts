// Whether two replays went wrong in the same way: the same kind of problem, at the same first difference. Numbers of events and the order of
// activities may differ: a smaller history has other ones.
import type { ReplayVerdict } from "../../executor/tasks/replay.ts";

/** What a problem is, in one text; "ok" for none. */
export function problemKey({ verdict, error }: ReplayVerdict): string {
  if (error === undefined) return verdict;
  const { name, code, commandKind, expected, actual, location, diffs } = error;
  const fields = diffs.map(({ field }) => field).sort().join();
  return [verdict, name, code, commandKind, shape(expected), shape(actual), location, fields].join("\n");
}

/** Without what another history has others of: numbers, and quoted values that hold them. */
const shape = (text: string): string => text.replace(/\d+/g, "#");

/** The same for histories whose values were replaced: values do not count. */
export const problemKeyWithoutValues = (verdict: ReplayVerdict): string =>
  problemKey(verdict).replace(/"(?:[^"\\]|\\.)*"/g, '"…"');
