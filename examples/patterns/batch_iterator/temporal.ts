// A batch iterator: one page in each run, then continue-as-new with the position of the next page.
import { continueAsNew, isCancellation, proxyActivities } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const table = proxyActivities<typeof activities>({ startToCloseTimeout: "10s" });

export interface Progress {
  readonly runs: number;
  readonly processed: number;
  readonly failed: readonly string[];
}
const NOTHING: Progress = { runs: 0, processed: 0, failed: [] };

export async function processTable(offset: number, before = NOTHING): Promise<Progress> {
  const { records, next } = await table.readPage(offset);
  const results = await Promise.allSettled(records.map((record) => table.processRecord(record)));
  for (const result of results) {
    if (result.status === "rejected" && isCancellation(result.reason)) throw result.reason;
  }
  const failed = records.filter((_, i) => results[i]!.status === "rejected");
  const progress: Progress = {
    runs: before.runs + 1,
    processed: before.processed + records.length - failed.length,
    failed: [...before.failed, ...failed],
  };
  if (next === undefined) return progress;
  return await continueAsNew<typeof processTable>(next, progress);
}
