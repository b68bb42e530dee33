// The statements of the store's hot paths, prepared once per connection.
import type { SqlDatabase, SqlStatement } from "./driver.ts";

export const ROW_COLUMNS =
  `run_key, workflow_id, run_id, workflow_type, task_queue, status, start_time_ms, close_time_ms, history_length,
  history_size_bytes, history_key, wake_at_ms, ready, first_run_id, next_run_id, memo, search_attributes`;

/** Prepares a statement for one use, and frees it. */
export function once<T>(
  database: SqlDatabase,
  sql: string,
  use: (statement: SqlStatement) => T,
): T {
  const statement = database.prepare(sql);
  try {
    return use(statement);
  } finally {
    statement.close?.();
  }
}

/** The greatest key in a table; 0 without rows. */
export function greatestKey(database: SqlDatabase, table: string, column: string): number {
  const sql = `SELECT ifnull(max(${column}), 0) AS n FROM ${table}`;
  return Number(once(database, sql, (statement) => statement.get([]))?.["n"]);
}

/** Closed runs without pending work. Parameters: closed before, those of `where`, limit. */
export const purgeableSql = (where = "1") =>
  `SELECT run_key, run_id, history_key FROM runs
    WHERE close_time_ms < ? AND ready = 0 AND wake_at_ms = 0 AND (${where}) ORDER BY close_time_ms LIMIT ?`;

const STEP_COLUMNS =
  `history_length = ?, history_size_bytes = ?, history_key = ?, wake_at_ms = ?, ready = ?, next_run_id = ?,
  memo = ?, search_attributes = ?, head = ?, stage = ?, state_transitions = ?, phase = ifnull(?, phase)`;

/** Prepares the statements of the hot paths. */
export function statements(database: SqlDatabase) {
  const prepare = (sql: string): SqlStatement => database.prepare(sql);
  return {
    commit: prepare("COMMIT"),
    savepoint: prepare("SAVEPOINT reducer"),
    release: prepare("RELEASE reducer"),
    rollbackTo: prepare("ROLLBACK TO reducer"),
    epoch: prepare("SELECT epoch FROM store"),
    nextEpoch: prepare("UPDATE store SET epoch = epoch + 1"),
    changes: prepare("SELECT total_changes() AS n"),
    attributeTypes: prepare("SELECT attribute_types FROM store"),
    setAttributeTypes: prepare("UPDATE store SET attribute_types = ?"),
    latest: prepare(
      `SELECT ${ROW_COLUMNS}, head FROM runs WHERE workflow_id = ? ORDER BY run_key DESC LIMIT 1`,
    ),
    byRunId: prepare(`SELECT ${ROW_COLUMNS}, head FROM runs WHERE run_id = ?`),
    items: prepare("SELECT kind, id, value FROM items WHERE run_key = ? ORDER BY kind, id"),
    ready: prepare(
      "SELECT workflow_id, run_id, run_key FROM runs WHERE ready = 1 AND run_key > ? ORDER BY run_key LIMIT ?",
    ),
    due: prepare(
      `SELECT workflow_id, run_id, run_key, wake_at_ms FROM runs
        WHERE wake_at_ms > 0 AND wake_at_ms <= ? AND (wake_at_ms, run_key) > (?, ?) ORDER BY wake_at_ms, run_key LIMIT ?`,
    ),
    nextWake: prepare("SELECT ifnull(min(wake_at_ms), 0) AS wake FROM runs WHERE wake_at_ms > 0"),
    insertRun: prepare(
      `INSERT INTO runs (status, close_time_ms, history_length, history_size_bytes, history_key, wake_at_ms, ready, next_run_id, memo,
         search_attributes, head, stage, state_transitions, phase, run_key, workflow_id, run_id, workflow_type, task_queue,
         first_run_id, start_time_ms, execution_time_ms, parent_workflow_id, root_workflow_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    updateRun: prepare(
      `UPDATE runs SET status = ?, close_time_ms = ?, ${STEP_COLUMNS} WHERE run_key = ?`,
    ),
    // SQLite rewrites index entries of every column in SET, also if the value is unchanged.
    updateStep: prepare(`UPDATE runs SET ${STEP_COLUMNS} WHERE run_key = ?`),
    append: prepare(
      "INSERT INTO history (history_key, prev, run_key, first_event_id, last_event_id, events) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    putItem: prepare(
      "INSERT INTO items (run_key, kind, id, value) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    ),
    removeItem: prepare("DELETE FROM items WHERE run_key = ? AND kind = ? AND id = ?"),
    purgeable: prepare(purgeableSql()),
    removeHistory: prepare(
      `WITH RECURSIVE chain (history_key) AS (
         SELECT ?1 WHERE ?1 <> 0
         UNION ALL
         SELECT h.prev FROM chain JOIN history h ON h.history_key = chain.history_key WHERE h.prev <> 0
       ) DELETE FROM history WHERE history_key IN (SELECT history_key FROM chain)`,
    ),
    removeItems: prepare("DELETE FROM items WHERE run_key = ?"),
    removeRun: prepare("DELETE FROM runs WHERE run_key = ?"),
  };
}
