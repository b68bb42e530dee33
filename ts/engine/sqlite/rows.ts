// Converts between rows of the store's tables and the engine's types.
import type { RunRow, StoredRun } from "../store.ts";
import { StoreError } from "../store_errors.ts";
import type { SqlRow, SqlValue } from "./driver.ts";
import { stageOf } from "./waits.ts";

export function numberColumn(row: SqlRow | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== "number") throw new StoreError(`a number was expected in column ${column}`);
  return value;
}

export function stored(row: SqlRow, first: number): StoredRun {
  return {
    workflowId: row["workflow_id"] as string,
    runId: row["run_id"] as string,
    position: [first, numberColumn(row, "run_key")],
  };
}

/** Status and close time as columns. */
export function closingValues(row: RunRow): SqlValue[] {
  return [row.status, row.closeTimeMs === 0 ? null : row.closeTimeMs];
}

/** The other columns that a commit updates, in the order of its statement. */
export function stepValues(
  row: RunRow,
  head: Uint8Array,
  keys: { readonly historyKey: number; readonly runKey: number },
  phase: number | null,
): SqlValue[] {
  return [
    row.historyLength,
    row.historySizeBytes,
    keys.historyKey,
    row.wakeAtMs,
    row.ready ? 1 : 0,
    row.nextRunId,
    row.memo,
    row.searchAttributes,
    head,
    stageOf(head),
    phase,
    keys.runKey,
  ];
}

export function toRow(row: SqlRow): RunRow {
  return {
    workflowId: row["workflow_id"] as string,
    runId: row["run_id"] as string,
    workflowType: row["workflow_type"] as string,
    taskQueue: row["task_queue"] as string,
    status: row["status"] as number,
    startTimeMs: row["start_time_ms"] as number,
    closeTimeMs: (row["close_time_ms"] as number | null) ?? 0,
    historyLength: row["history_length"] as number,
    historySizeBytes: row["history_size_bytes"] as number,
    wakeAtMs: row["wake_at_ms"] as number,
    ready: row["ready"] === 1,
    firstRunId: row["first_run_id"] as string,
    nextRunId: row["next_run_id"] as string,
    memo: row["memo"] as Uint8Array,
    searchAttributes: row["search_attributes"] as Uint8Array,
  };
}
