// How many runs each type has in each status, kept by triggers: counts of a large store read these
// few rows in place of an index entry for each run.
import type { Condition, Field } from "../visibility/condition.ts";
import { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { conditionSql, type ConditionTable } from "./condition_sql.ts";
import type { SqlDatabase, SqlValue } from "./driver.ts";
import { numberColumn } from "./rows.ts";
import { once } from "./statements.ts";

export const RUN_COUNTS_SCHEMA = `
CREATE TABLE temporalex_run_counts (
  workflow_type TEXT NOT NULL,
  status INTEGER NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (workflow_type, status)
) STRICT, WITHOUT ROWID;
INSERT INTO temporalex_run_counts (workflow_type, status, n)
  SELECT workflow_type, status, count(*) FROM runs GROUP BY workflow_type, status;
CREATE TRIGGER temporalex_run_created AFTER INSERT ON runs BEGIN
  INSERT INTO temporalex_run_counts (workflow_type, status, n) VALUES (NEW.workflow_type, NEW.status, 1)
    ON CONFLICT (workflow_type, status) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER temporalex_run_changed AFTER UPDATE OF status ON runs WHEN OLD.status <> NEW.status BEGIN
  UPDATE temporalex_run_counts SET n = n - 1 WHERE workflow_type = OLD.workflow_type AND status = OLD.status;
  INSERT INTO temporalex_run_counts (workflow_type, status, n) VALUES (NEW.workflow_type, NEW.status, 1)
    ON CONFLICT (workflow_type, status) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER temporalex_run_removed AFTER DELETE ON runs BEGIN
  UPDATE temporalex_run_counts SET n = n - 1 WHERE workflow_type = OLD.workflow_type AND status = OLD.status;
  DELETE FROM temporalex_run_counts WHERE workflow_type = OLD.workflow_type AND status = OLD.status AND n = 0;
END;
`;

/** A rule of the check of a file (check.ts): the types and statuses whose number is wrong. */
export const WRONG_COUNTS = `SELECT workflow_type AS name FROM
  (SELECT workflow_type, status, n FROM temporalex_run_counts WHERE n <> 0
    UNION ALL SELECT workflow_type, status, -count(*) FROM runs GROUP BY workflow_type, status)
  GROUP BY workflow_type, status HAVING sum(n) <> 0`;

const OPEN = [WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.PAUSED];

/** Fields of the counts. Whether a run has a close time follows from its status. */
const COUNTED: ConditionTable = {
  columns: {
    WorkflowType: "workflow_type",
    ExecutionStatus: "status",
    CloseTime: `CASE WHEN status NOT IN (${OPEN.join(", ")}) THEN status END`,
  },
  key: "",
  attributes: "",
};

const IN_COUNTS: ReadonlySet<Field> = new Set<Field>(["WorkflowType", "ExecutionStatus"]);

/** Whether type and status, or being closed, decide the condition. */
function isCounted(where: Condition): boolean {
  switch (where.kind) {
    case "and":
    case "or":
      return where.parts.every(isCounted);
    case "attribute":
    case "noAttribute":
      return false;
    case "null":
      return where.field === "CloseTime" || IN_COUNTS.has(where.field);
    default:
      return IN_COUNTS.has(where.field);
  }
}

/** Returns the number of runs by status; undefined if runs must be read for this condition. */
export function keptCounts(
  database: SqlDatabase,
  where: Condition | undefined,
): ReadonlyMap<number, number> | undefined {
  if (where !== undefined && !isCounted(where)) return undefined;
  const params: SqlValue[] = [];
  const sql = where === undefined ? "1" : conditionSql(where, params, undefined, COUNTED);
  const rows = once(
    database,
    `SELECT status, sum(n) AS n FROM temporalex_run_counts WHERE ${sql} GROUP BY status HAVING sum(n) > 0`,
    (statement) => statement.all(params),
  );
  return new Map(rows.map((row) => [numberColumn(row, "status"), numberColumn(row, "n")]));
}
