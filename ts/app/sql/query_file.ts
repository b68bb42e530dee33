// A query of a store that this process holds, in a separate process. package.json's `browser`
// removes this module from pages, which have neither processes nor files.
import { withCopy } from "./copied_store.ts";
import type { QueryJob } from "./query.ts";
import { runQuery } from "./query_process.ts";
import type { Store } from "../../engine/store.ts";
import type { SqlRow } from "../../engine/sqlite/driver.ts";

/** Returns the rows. A store whose driver locks the file for one process is copied first. */
export async function queryFile(
  store: Store,
  job: QueryJob,
  signal?: AbortSignal,
): Promise<SqlRow[]> {
  const run = (path: string) => runQuery({ ...job, path }, signal);
  return store.description.includes("node-sqlite3-wasm")
    ? await withCopy(job.path, run)
    : await run(job.path);
}
