// Converts between rows of the store's tables and the engine's types.
import type { RunRow, StoredRun } from "../store.ts";
import { StoreError } from "../store_errors.ts";
import { readHeadFields } from "../visibility/head_fields.ts";
import type { SqlDatabase, SqlRow, SqlValue } from "./driver.ts";
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
    readHeadFields(head).stateTransitions,
    phase,
    keys.runKey,
  ];
}

/** Columns that never change, in the order of the statement that inserts a run. */
export function constantValues(row: RunRow, head: Uint8Array): SqlValue[] {
  const { workflowId, runId, workflowType, taskQueue, firstRunId, startTimeMs } = row;
  const columns = [workflowId, runId, workflowType, taskQueue, firstRunId, startTimeMs];
  return [...columns, ...familyValues(head, startTimeMs)];
}

/** Execution time, parent and root as columns. */
function familyValues(head: Uint8Array, startTimeMs: number): SqlValue[] {
  const { executionTimeMs, parentWorkflowId, rootWorkflowId } = readHeadFields(head);
  return [executionTimeMs || startTimeMs, parentWorkflowId || null, rootWorkflowId || null];
}

const PAGE = 500;

/** Fills the columns of a file that has none yet. */
export function fillFields(database: SqlDatabase): void {
  const page = database.prepare(
    `SELECT run_key, start_time_ms, head FROM runs WHERE run_key > ? ORDER BY run_key LIMIT ${PAGE}`,
  );
  const fill = database.prepare(
    `UPDATE runs SET execution_time_ms = ?, parent_workflow_id = ?, root_workflow_id = ?, state_transitions = ?
      WHERE run_key = ?`,
  );
  for (let after = -9e15;;) {
    const rows = page.all([after]);
    if (rows.length === 0) return;
    for (const row of rows) {
      after = numberColumn(row, "run_key");
      const head = row["head"] as Uint8Array;
      const { stateTransitions } = readHeadFields(head);
      fill.run([
        ...familyValues(head, numberColumn(row, "start_time_ms")),
        stateTransitions,
        after,
      ]);
    }
  }
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
