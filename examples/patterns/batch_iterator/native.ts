// A batch iterator: one page in each run, then continue-as-new with the position of the next page.
import { activities, continueAsNew, parallel, workflow } from "temporalex/workflow";

const table = activities<typeof import("./activities.ts")>({ startToClose: "10s" });

export interface Progress {
  readonly runs: number;
  readonly processed: number;
  readonly failed: readonly string[];
}
const NOTHING: Progress = { runs: 0, processed: 0, failed: [] };

export const processTable = workflow("processTable", async (offset: number, before = NOTHING) => {
  const { records, next } = await table.readPage(offset);
  const results = await parallel(records.map((record) => () => table.processRecord(record)));
  const failed = records.filter((_, i) => !results[i]!.ok);
  const progress: Progress = {
    runs: before.runs + 1,
    processed: before.processed + records.length - failed.length,
    failed: [...before.failed, ...failed],
  };
  return next === undefined ? progress : continueAsNew(next, progress);
});
