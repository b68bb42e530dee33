// Which runs share a difference: after a deploy hundreds of open runs fail, for one or two reasons.
import type { Divergence, SharedDivergence } from "./types.ts";

/** Groups runs by what differs, largest group first; runs without a divergence are left out. */
export function sharedDivergences<Run>(
  runs: Iterable<{ readonly run: Run; readonly divergence: Divergence | undefined }>,
): SharedDivergence<Run>[] {
  const groups = new Map<string, { readonly divergence: Divergence; readonly runs: Run[] }>();
  for (const { run, divergence } of runs) {
    if (divergence === undefined) continue;
    const group = groups.get(divergence.key);
    if (group === undefined) groups.set(divergence.key, { divergence, runs: [run] });
    else group.runs.push(run);
  }
  return [...groups].map(([key, group]) => ({ key, ...group })).toSorted((a, b) => b.runs.length - a.runs.length);
}
