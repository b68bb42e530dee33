// A query of an application's store, in a separate process. package.json's `browser` removes this
// module from pages, which have neither processes nor files.
import { withCopy } from "./copied_store.ts";
import type { QueryJob } from "./query.ts";
import { runQuery } from "./query_process.ts";
import type { SqlRow } from "../../engine/sqlite/driver.ts";

/** Returns the rows. `copies`: another process cannot open the file while this one has it open. */
export async function queryFile(job: QueryJob, copies: boolean, signal?: AbortSignal): Promise<SqlRow[]> {
  const run = (path: string) => runQuery({ ...job, path }, signal);
  return copies ? await withCopy(job.path, run) : await run(job.path);
}
