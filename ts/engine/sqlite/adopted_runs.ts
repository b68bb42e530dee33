// Imported runs. Closed ones get keys that precede those of the runs that were started in the store,
// so that the latest run of a workflow id remains one that was started here; an open one becomes the
// latest.
import type { RunRow, RunWrite } from "../store.ts";
import { StoreError } from "../store_errors.ts";
import type { SqlDatabase } from "./driver.ts";
import { once } from "./statements.ts";

/** Keys are the start in microseconds minus this: negative until the year 2255. */
const FIRST_ADOPTED = 9e15;

/** What a store gives an import. */
interface Adopting {
  /** The next key of the store. */
  readonly next: number;
  latest(workflowId: string): RunRow | undefined;
  write(write: RunWrite, key: number): void;
}

/**
 * Writes the runs with their keys. Returns the next key of the store. Throws a StoreError for
 * existing run ids and for `openRunConflict`.
 */
export function adoptRuns(
  database: SqlDatabase,
  writes: readonly RunWrite[],
  { next, latest, write: writeWithKey }: Adopting,
): number {
  const same = "SELECT 1 AS n FROM runs WHERE run_id = ?";
  for (const write of writes) {
    const { workflowId, runId, startTimeMs, closeTimeMs } = write.row!;
    if (once(database, same, (statement) => statement.get([runId])) !== undefined) {
      throw new StoreError(`run ${runId} is already in the store; leave it out of the import`);
    }
    if (closeTimeMs > 0) {
      writeWithKey(write, closedKey(database, startTimeMs));
      continue;
    }
    const conflict = openRunConflict(latest(workflowId), startTimeMs);
    if (conflict !== undefined) throw new StoreError(conflict);
    writeWithKey(write, next++);
  }
  return next;
}

/** Returns a free key for a closed run. */
function closedKey(database: SqlDatabase, startTimeMs: number): number {
  return once(database, "SELECT 1 AS n FROM runs WHERE run_key = ?", (taken) => {
    let key = Math.round(startTimeMs * 1000) - FIRST_ADOPTED;
    while (taken.get([key]) !== undefined) key++;
    return key;
  });
}

/**
 * Why an open run cannot be imported next to the latest run of its workflow id; undefined if it can.
 */
export function openRunConflict(
  latest: RunRow | undefined,
  startTimeMs: number,
): string | undefined {
  if (latest === undefined) return undefined;
  const known = `run ${latest.runId} of workflow "${latest.workflowId}" in the store`;
  if (latest.closeTimeMs === 0) return `${known} is open: a workflow has one open run`;
  return latest.startTimeMs > startTimeMs
    ? `${known} started later: only the latest run of a workflow can be open`
    : undefined;
}
