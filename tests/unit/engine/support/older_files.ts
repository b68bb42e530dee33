// Files of older versions of the schema: the statements undo migrations of a new file.
import { MIGRATIONS } from "../../../../ts/engine/sqlite/schema.ts";
import { loadLibrary } from "../../../../ts/engine/sqlite/libraries.ts";
import { builtins } from "../../../../ts/engine/sqlite/builtins.ts";
import type { DriverName } from "../../../../ts/engine/sqlite/driver.ts";

const dropColumns = (...columns: string[]) =>
  columns.map((column) => `ALTER TABLE runs DROP COLUMN ${column};`).join("\n");

/** Undoes each migration after the second, newest first. */
const UNDO: { readonly [version: number]: string } = {
  13: "DROP TABLE temporalex_task_queues;",
  14:
    "DROP TRIGGER temporalex_run_created; DROP TRIGGER temporalex_run_changed; DROP TRIGGER temporalex_run_removed; DROP TABLE temporalex_run_counts;",
  12: "DROP TABLE temporalex_deployments;",
  11: "ALTER TABLE temporalex_activities DROP COLUMN execution_time_ms;",
  10: "DROP TABLE temporalex_activities; DROP TABLE temporalex_activity_attributes;",
  9: "DROP TABLE temporalex_batch_operations;",
  8: "ALTER TABLE store DROP COLUMN attribute_types;",
  7: `DROP INDEX runs_by_parent;
${dropColumns("execution_time_ms", "state_transitions", "parent_workflow_id", "root_workflow_id")}`,
  6: "DROP TABLE temporalex_schedules;",
  5: `DROP INDEX runs_open;
DROP INDEX runs_by_close;
DROP INDEX runs_closed_by_status;
DROP INDEX runs_closed_by_type;
CREATE INDEX runs_by_close ON runs (ifnull(close_time_ms, 9e15));
CREATE INDEX runs_open ON runs (start_time_ms) WHERE status = 1;`,
  // The views read the columns of both.
  4: "",
  3: `DROP VIEW workflow;
DROP VIEW workflow_timer;
DROP VIEW pending_procedure;
DROP VIEW workflow_subscription;
DROP VIEW last_workflow_id;
DROP TABLE waits;
DROP TABLE run_states;
DROP INDEX runs_by_entity;
DROP INDEX runs_by_correlation;
${dropColumns("stage", "entity_id", "correlation_id", "phase")}`,
};

/** Gives a closed file of the newest version the schema of version 2, or of 4 or newer. */
export function downgradeFile(path: string, driver: DriverName, version: number): void {
  const database = loadLibrary(builtins()!, driver).open(path);
  for (const migration of MIGRATIONS.toReversed()) {
    if (migration.version <= version) break;
    const undo = UNDO[migration.version];
    if (undo === undefined) throw new Error(`nothing undoes migration ${migration.version}`);
    database.exec(undo);
  }
  database.exec(
    `DELETE FROM migrations WHERE version > ${version}; PRAGMA user_version = ${version}`,
  );
  database.close();
}
