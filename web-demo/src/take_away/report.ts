// The run as a report: one HTML file.
import type { ReplayingRealm } from "temporalex/debug";
import { excerptOf } from "../../../ts/report/code_excerpt.ts";
import { reportText } from "../../../ts/report/report.ts";
import { reportedRun } from "../../../ts/report/reported_run.ts";
import { redactedText } from "../../../ts/run_view/words.ts";
import { isLiveRun } from "../store/live_runs.ts";
import type { OpenRun } from "../store/state.ts";
import { frameLine } from "../code/view_facts.ts";

interface Reported {
  /** With the values to show. */
  readonly history: Uint8Array;
  readonly realm?: ReplayingRealm;
  /** True if the values are encoded by a codec: the code cannot be replayed with them. */
  readonly isEncoded: boolean;
  readonly values: string;
}

/**
 * The sentence of the report about its values. `keep`: texts that stayed; undefined if all values
 * are in it.
 */
export const valuesText = (keep: readonly string[] | undefined, numbers: boolean): string =>
  keep === undefined ? "Values are as recorded." : redactedText(numbers, keep.length);

/** Returns the HTML. */
export async function reportOf(
  run: OpenRun,
  { history, realm, isEncoded, values }: Reported,
): Promise<string> {
  const code = run.code.peek();
  const reported = await reportedRun({
    ...{ source: run.name, history, values },
    readMs: isLiveRun(run) ? Date.now() : undefined,
    ...(realm !== undefined && !isEncoded ? { realm } : {
      notReplayed: `Not replayed: ${
        isEncoded ? "the values are encoded." : "the run had no code."
      }`,
    }),
    excerpt: (location) => {
      const place = code === undefined ? undefined : frameLine(location, code);
      const text = code?.files.find(({ path }) => path === place?.path)?.text;
      return place === undefined || text === undefined
        ? undefined
        : excerptOf(place.path, text, place.line);
    },
  });
  return reportText({ runs: [reported], madeMs: Date.now() });
}
