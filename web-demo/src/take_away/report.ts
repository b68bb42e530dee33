// The run as a report: one HTML file, made when it is asked for.
import type { ReplayingRealm } from "temporalex/debug";
import { excerptOf } from "../../../ts/report/code_excerpt.ts";
import { reportText } from "../../../ts/report/report.ts";
import { reportedRun } from "../../../ts/report/reported_run.ts";
import { redactedText } from "../../../ts/run_view/words.ts";
import type { OpenRun } from "../app/state.ts";
import { frameLine } from "../code/view_facts.ts";

interface Reported {
  /** As its values are to be shown. */
  readonly history: Uint8Array;
  readonly realm?: ReplayingRealm;
  /** Its values are as the codec wrote them: code cannot be replayed with them. */
  readonly isEncoded: boolean;
  readonly values: string;
}

/** What a report says of its values. `keep`: texts that were kept; undefined: all values are there. */
export const valuesText = (keep: readonly string[] | undefined, numbers: boolean): string =>
  keep === undefined ? "Values are as they were recorded." : redactedText(numbers, keep.length);

/** The text of the file. */
export async function reportOf(run: OpenRun, { history, realm, isEncoded, values }: Reported): Promise<string> {
  const code = run.code.peek();
  const reported = await reportedRun({
    ...{ source: run.name, history, values },
    ...(realm !== undefined && !isEncoded
      ? { realm }
      : { notReplayed: `Not replayed: ${isEncoded ? "its values are encoded here." : "there was no code beside it."}` }),
    excerpt: (location) => {
      const place = code === undefined ? undefined : frameLine(location, code);
      const text = code?.files.find(({ path }) => path === place?.path)?.text;
      return place === undefined || text === undefined ? undefined : excerptOf(place.path, text, place.line);
    },
  });
  return reportText({ runs: [reported], madeMs: Date.now() });
}
