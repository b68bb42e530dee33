// SQL views of workflows for any SQLite tool, over columns and rows that the store writes with the
// run. What is only in the engine's encoded state (timer names, procedures, whether a task is open)
// has a column or row here, because SQL cannot decode it.
import { CORRELATION, ENTITY } from "../../converter/belonging_names.ts";
import { SUBSCRIPTION_ATTRIBUTE } from "../../converter/subscriptions.ts";
import type { SqlDatabase } from "./driver.ts";
import { HistoryIndex } from "./history_index.ts";
import { nameOfTimer, stageOf, Waits } from "./waits.ts";

export const VIEWS = [
  "workflow",
  "workflow_timer",
  "workflow_subscription",
  "pending_procedure",
  "last_workflow_id",
] as const;

export const VIEWS_SCHEMA = `
ALTER TABLE runs ADD COLUMN stage INTEGER NOT NULL DEFAULT 2;  -- of an open run. 0: no task is started yet, 1: a task is open, 2: it waits
ALTER TABLE runs ADD COLUMN entity_id TEXT;
ALTER TABLE runs ADD COLUMN correlation_id TEXT;
CREATE INDEX runs_by_entity ON runs (entity_id) WHERE entity_id IS NOT NULL;
CREATE INDEX runs_by_correlation ON runs (correlation_id) WHERE correlation_id IS NOT NULL;
CREATE TABLE waits (
  run_key INTEGER NOT NULL,
  kind INTEGER NOT NULL,        -- 1: a procedure, 3: a timer
  id TEXT NOT NULL,             -- of the state item
  label TEXT NOT NULL,          -- id of the activity or timer
  name TEXT,
  at_ms REAL,                   -- when a timer fires; when a procedure was asked for
  args TEXT,                    -- JSON
  PRIMARY KEY (run_key, kind, id)
) STRICT, WITHOUT ROWID;
CREATE VIEW IF NOT EXISTS workflow AS SELECT
  workflow_id AS id, run_id, workflow_type, workflow_type AS type, entity_id, correlation_id,
  CASE status
    WHEN 1 THEN CASE stage WHEN 0 THEN 'Created' WHEN 1 THEN 'Running' ELSE 'Suspended' END
    WHEN 2 THEN 'Completed' WHEN 4 THEN 'Cancelled' WHEN 6 THEN 'Completed' WHEN 8 THEN 'Suspended' ELSE 'Failed'
  END COLLATE NOCASE AS status,
  CASE status WHEN 5 THEN 'terminated' WHEN 6 THEN 'continued as new' WHEN 7 THEN 'timed out' END AS cause,
  task_queue, start_time_ms AS started_ms, close_time_ms AS closed_ms, nullif(next_run_id, '') AS next_run_id, history_length
  FROM runs;
CREATE VIEW IF NOT EXISTS workflow_timer AS SELECT
  r.workflow_id, r.run_id, w.label AS timer_id, w.name, w.at_ms AS fires_ms
  FROM waits w JOIN runs r ON r.run_key = w.run_key WHERE w.kind = 3 AND r.status IN (1, 8);
CREATE VIEW IF NOT EXISTS pending_procedure AS SELECT
  r.workflow_id, r.run_id, w.label AS procedure_id, w.name, w.args, w.at_ms AS asked_ms
  FROM waits w JOIN runs r ON r.run_key = w.run_key WHERE w.kind = 1 AND r.status IN (1, 8);
CREATE VIEW IF NOT EXISTS workflow_subscription AS SELECT
  r.workflow_id, r.run_id,
  replace(replace(CASE instr(a.value, ':') WHEN 0 THEN a.value ELSE substr(a.value, 1, instr(a.value, ':') - 1) END,
    '%3A', ':'), '%25', '%') AS signal_name,
  CASE instr(a.value, ':') WHEN 0 THEN NULL ELSE substr(a.value, instr(a.value, ':') + 1) END AS filter
  FROM search_attributes a JOIN runs r ON r.run_key = a.run_key
  WHERE a.name = '${SUBSCRIPTION_ATTRIBUTE}' AND a.kind = 1 AND instr(a.value, ':') <> length(a.value) AND r.status IN (1, 8);
CREATE VIEW IF NOT EXISTS last_workflow_id AS
  SELECT workflow_id AS id, run_id FROM runs WHERE run_key = (SELECT max(run_key) FROM runs);
`;

/**
 * What runs show of their state: the number of passed awaits, and the published state. NULL until a
 * task has reported them.
 */
export const SHOWN_SCHEMA = `
ALTER TABLE runs ADD COLUMN phase INTEGER;
CREATE TABLE run_states (run_key INTEGER PRIMARY KEY, state TEXT NOT NULL) STRICT;
DROP VIEW IF EXISTS workflow;
CREATE VIEW workflow AS SELECT
  workflow_id AS id, run_id, workflow_type, workflow_type AS type, entity_id, correlation_id,
  CASE status
    WHEN 1 THEN CASE stage WHEN 0 THEN 'Created' WHEN 1 THEN 'Running' ELSE 'Suspended' END
    WHEN 2 THEN 'Completed' WHEN 4 THEN 'Cancelled' WHEN 6 THEN 'Completed' WHEN 8 THEN 'Suspended' ELSE 'Failed'
  END COLLATE NOCASE AS status,
  CASE status WHEN 5 THEN 'terminated' WHEN 6 THEN 'continued as new' WHEN 7 THEN 'timed out' END AS cause,
  task_queue, start_time_ms AS started_ms, close_time_ms AS closed_ms, nullif(next_run_id, '') AS next_run_id, history_length,
  phase, (SELECT state FROM run_states s WHERE s.run_key = runs.run_key) AS state
  FROM runs;
`;

const PAGE = 200;
const OPEN_STATE = "1, 8";

/** Fills the columns and rows of a file that has none yet. */
export function fillViews(database: SqlDatabase): void {
  for (const [column, name] of [["entity_id", ENTITY], ["correlation_id", CORRELATION]] as const) {
    const of = `FROM search_attributes a WHERE a.name = '${name}' AND a.kind = 1`;
    database.exec(
      `UPDATE runs SET ${column} = (SELECT a.value ${of} AND a.run_key = runs.run_key) WHERE run_key IN (SELECT a.run_key ${of})`,
    );
  }
  const page = database.prepare(
    `SELECT run_key, history_key, history_length, head FROM runs WHERE status IN (${OPEN_STATE}) AND run_key > ? ORDER BY run_key LIMIT ${PAGE}`,
  );
  const items = database.prepare(
    "SELECT kind, id, value FROM items WHERE run_key = ? AND kind IN (1, 2, 3)",
  );
  const stage = database.prepare("UPDATE runs SET stage = ? WHERE run_key = ?");
  const index = new HistoryIndex(database);
  const waits = new Waits(database);
  for (let after = -9e15;;) {
    const rows = page.all([after]);
    if (rows.length === 0) return;
    for (const row of rows) {
      const runKey = after = row["run_key"] as number;
      stage.run([stageOf(row["head"] as Uint8Array), runKey]);
      const put = items.all([runKey]).map((item) => ({
        kind: item["kind"] as number,
        id: item["id"] as string,
        value: item["value"] as Uint8Array,
      }));
      const [key, length] = [row["history_key"] as number, row["history_length"] as number];
      const named = (startedId: number) => {
        try {
          return nameOfTimer(index.read(runKey, key, length, startedId, startedId), startedId);
        } catch {
          // A gap in the history is reported when it is read; opening succeeds.
          return undefined;
        }
      };
      waits.write(runKey, { put, remove: [] }, null, named);
    }
  }
}
