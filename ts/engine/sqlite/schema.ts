// The SQL schema of all drivers, and its migrations. A file has APPLICATION_ID and its version in
// SQLite's header fields, which are checked before anything is written. `history` is a chain per
// run, newest first: runs.history_key is the last batch, `prev` the one before (0: none). Without
// an index a commit of many runs dirties few pages: twice the throughput of an index on (run,
// event).
import { ACTIVITIES_SCHEMA, ACTIVITY_TIMES_SCHEMA, fillExecutionTimes } from "./activity_rows.ts";
import { ATTRIBUTES_SCHEMA, fillAttributes } from "./attribute_rows.ts";
import { DEPLOYMENTS_SCHEMA } from "./deployment_rows.ts";
import type { SqlDatabase } from "./driver.ts";
import { fillFields } from "./rows.ts";
import { RUN_COUNTS_SCHEMA } from "./run_counts.ts";
import { fillViews, SHOWN_SCHEMA, VIEWS_SCHEMA } from "./views.ts";

/** "TxTs" as a big-endian number. */
export const APPLICATION_ID = 0x54785473;

export interface Migration {
  /** The version of the file afterwards. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /** Fills the new tables from existing data. */
  fill?(database: SqlDatabase): void;
}

/**
 * Indexes of lists and counts (list_branches.ts), separate for open and closed runs: a run enters
 * each once, and leaves the first when it closes. They include the columns that complete the order
 * of a list, and the start time, so that a search by it reads no rows.
 */
const LISTS_SCHEMA = `
DROP INDEX runs_open;
DROP INDEX runs_by_close;
CREATE INDEX runs_open ON runs (run_key, workflow_type, status, start_time_ms, close_time_ms) WHERE close_time_ms IS NULL;
CREATE INDEX runs_by_close ON runs (close_time_ms) WHERE close_time_ms IS NOT NULL;
CREATE INDEX runs_closed_by_status ON runs (status, close_time_ms, run_key, start_time_ms) WHERE close_time_ms IS NOT NULL;
CREATE INDEX runs_closed_by_type ON runs (workflow_type, status, close_time_ms, run_key, start_time_ms)
  WHERE close_time_ms IS NOT NULL;
`;

/** Fields of lists that only the engine's state had. */
const FIELDS_SCHEMA = `
ALTER TABLE runs ADD COLUMN execution_time_ms REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN state_transitions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN parent_workflow_id TEXT;   -- NULL: no parent
ALTER TABLE runs ADD COLUMN root_workflow_id TEXT;     -- NULL: the run is its own root
CREATE INDEX runs_by_parent ON runs (parent_workflow_id) WHERE parent_workflow_id IS NOT NULL;
`;

/** NULL: no register, every name is taken. */
const REGISTER_SCHEMA = "ALTER TABLE store ADD COLUMN attribute_types TEXT"; // JSON

/** Schedules: few, so an engine reads all of them when it opens (schedules/state.ts). */
const SCHEDULES_SCHEMA = `
CREATE TABLE temporalex_schedules (
  schedule_id TEXT PRIMARY KEY,
  description BLOB NOT NULL,    -- encoded temporal.api.workflowservice.v1.DescribeScheduleResponse
  carried BLOB NOT NULL,        -- encoded StartWorkflowExecutionRequest: the last result and failure
  state TEXT NOT NULL           -- JSON
) STRICT, WITHOUT ROWID;
`;

/** Batch operations: few are kept, so an engine reads all of them (batch_operations/state.ts). */
const BATCH_OPERATIONS_SCHEMA = `
CREATE TABLE temporalex_batch_operations (
  job_id TEXT PRIMARY KEY,
  request BLOB NOT NULL,        -- encoded temporal.api.workflowservice.v1.StartBatchOperationRequest
  state TEXT NOT NULL           -- JSON
) STRICT, WITHOUT ROWID;
`;

/** Configurations of task queues (task_queue_configs.ts). */
const TASK_QUEUES_SCHEMA = `
CREATE TABLE temporalex_task_queues (
  task_queue TEXT NOT NULL,
  task_queue_type INTEGER NOT NULL, -- temporal.api.enums.v1.TaskQueueType
  config BLOB NOT NULL,             -- encoded temporal.api.taskqueue.v1.TaskQueueConfig
  PRIMARY KEY (task_queue, task_queue_type)
) STRICT, WITHOUT ROWID;
`;

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: "first",
    sql: `
CREATE TABLE store (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  created_ms REAL NOT NULL,
  epoch INTEGER NOT NULL        -- counts openings; each commit checks that it is still the writer's own
) STRICT;
CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_ms REAL NOT NULL) STRICT;
CREATE TABLE runs (
  run_key INTEGER PRIMARY KEY,  -- grows with each run: the order of creation
  workflow_id TEXT NOT NULL,
  run_id TEXT NOT NULL UNIQUE,
  workflow_type TEXT NOT NULL,
  task_queue TEXT NOT NULL,
  first_run_id TEXT NOT NULL,
  start_time_ms REAL NOT NULL,
  status INTEGER NOT NULL,      -- temporal.api.enums.v1.WorkflowExecutionStatus
  close_time_ms REAL,           -- NULL while open
  history_length INTEGER NOT NULL,
  history_size_bytes REAL NOT NULL,
  history_key INTEGER NOT NULL,
  wake_at_ms REAL NOT NULL,     -- 0: never
  ready INTEGER NOT NULL,
  next_run_id TEXT NOT NULL,
  memo BLOB NOT NULL,
  search_attributes BLOB NOT NULL,
  head BLOB NOT NULL
) STRICT;
CREATE INDEX runs_by_id ON runs (workflow_id);
CREATE INDEX runs_by_start ON runs (start_time_ms);
CREATE INDEX runs_by_type ON runs (workflow_type, start_time_ms);
CREATE INDEX runs_by_close ON runs (ifnull(close_time_ms, 9e15));
CREATE INDEX runs_open ON runs (start_time_ms) WHERE status = 1;
CREATE INDEX runs_ready ON runs (run_key) WHERE ready = 1;
CREATE INDEX runs_wake ON runs (wake_at_ms) WHERE wake_at_ms > 0;
CREATE TABLE history (
  history_key INTEGER PRIMARY KEY,
  prev INTEGER NOT NULL,
  run_key INTEGER NOT NULL,
  first_event_id INTEGER NOT NULL,
  last_event_id INTEGER NOT NULL,
  events BLOB NOT NULL          -- encoded temporal.api.history.v1.History
) STRICT;
CREATE TABLE items (
  run_key INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  id TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (run_key, kind, id)
) STRICT, WITHOUT ROWID;
INSERT INTO store (id, created_ms, epoch) VALUES (1, unixepoch('subsec') * 1000, 0);
`,
  },
  { version: 2, name: "search attributes", sql: ATTRIBUTES_SCHEMA, fill: fillAttributes },
  { version: 3, name: "views", sql: VIEWS_SCHEMA, fill: fillViews },
  { version: 4, name: "phase and state", sql: SHOWN_SCHEMA },
  { version: 5, name: "lists by status and type", sql: LISTS_SCHEMA },
  { version: 6, name: "schedules", sql: SCHEDULES_SCHEMA },
  { version: 7, name: "fields of lists", sql: FIELDS_SCHEMA, fill: fillFields },
  { version: 8, name: "register of search attributes", sql: REGISTER_SCHEMA },
  { version: 9, name: "batch operations", sql: BATCH_OPERATIONS_SCHEMA },
  { version: 10, name: "standalone activities", sql: ACTIVITIES_SCHEMA },
  {
    version: 11,
    name: "execution times of activities",
    sql: ACTIVITY_TIMES_SCHEMA,
    fill: fillExecutionTimes,
  },
  { version: 12, name: "worker deployments", sql: DEPLOYMENTS_SCHEMA },
  { version: 13, name: "configurations of task queues", sql: TASK_QUEUES_SCHEMA },
  { version: 14, name: "counts by type and status", sql: RUN_COUNTS_SCHEMA },
];

/** The newest version that this package supports. */
export function schemaVersion(migrations: readonly Migration[] = MIGRATIONS): number {
  return migrations[migrations.length - 1]!.version;
}

export function fileVersion(database: SqlDatabase): number {
  return Number(database.prepare("PRAGMA user_version").get([])?.["user_version"]);
}

/** Whether the file is empty: new, or after SQLite rolled back an interrupted creation. */
export function isUnmade(database: SqlDatabase): boolean {
  return Number(database.prepare("SELECT count(*) AS n FROM sqlite_schema").get([])?.["n"]) === 0;
}

/** Migrates a new or older file to the newest version, in one transaction. */
export function migrate(
  database: SqlDatabase,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    const from = fileVersion(database);
    for (const { version, name, sql, fill } of migrations) {
      if (version <= from) continue;
      database.exec(sql);
      fill?.(database);
      database.prepare("INSERT INTO migrations (version, name, applied_ms) VALUES (?, ?, ?)").run([
        version,
        name,
        Date.now(),
      ]);
    }
    database.exec(
      `PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=${schemaVersion(migrations)}`,
    );
    database.exec("COMMIT");
  } catch (e) {
    database.exec("ROLLBACK");
    throw e;
  }
}
