// A table of records that is read page by page. Records named "bad..." cannot be processed.
import { ApplicationFailure } from "temporalex/activity";

export interface Page {
  readonly records: readonly string[];
  /** Where the next page begins; undefined after the last one. */
  readonly next?: number;
}

const PAGE_SIZE = 3;
const TABLE = ["a", "b", "bad 1", "c", "d", "e", "f", "bad 2", "g", "h"];

export async function readPage(offset: number): Promise<Page> {
  const next = offset + PAGE_SIZE;
  const records = TABLE.slice(offset, next);
  return next < TABLE.length ? { records, next } : { records };
}

export async function processRecord(record: string): Promise<void> {
  if (record.startsWith("bad")) {
    throw new ApplicationFailure(`cannot process ${record}`, {
      type: "BadRecord",
      nonRetryable: true,
    });
  }
}
