// Keys of imported runs, which precede those of the runs that were started in the store.
import type { RunWrite } from "../store.ts";
import { StoreError } from "../store_errors.ts";
import type { SqlDatabase } from "./driver.ts";
import { once } from "./statements.ts";

/** Keys are the start in microseconds minus this: negative until the year 2255. */
const FIRST_ADOPTED = 9e15;

/** Returns a free key. Throws a StoreError for an open run, and for a run that is in the store. */
export function adoptedKey(database: SqlDatabase, { row, create }: RunWrite): number {
  const { runId, closeTimeMs, startTimeMs } = row!;
  if (!create || !(closeTimeMs > 0)) {
    throw new StoreError(`run ${runId} is open; only closed runs can be imported`);
  }
  const same = "SELECT 1 AS n FROM runs WHERE run_id = ?";
  if (once(database, same, (statement) => statement.get([runId])) !== undefined) {
    throw new StoreError(`run ${runId} is already in the store; leave it out of the import`);
  }
  return once(database, "SELECT 1 AS n FROM runs WHERE run_key = ?", (taken) => {
    let key = Math.round(startTimeMs * 1000) - FIRST_ADOPTED;
    while (taken.get([key]) !== undefined) key++;
    return key;
  });
}
