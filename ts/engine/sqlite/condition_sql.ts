// Visibility conditions as SQL. Values are always parameters. Text compares by its UTF-8 bytes (SQLite's default collation), and
// STARTS_WITH is written as a range of text so that an index can serve it.
import type { Condition, Field } from "../visibility/condition.ts";
import type { SqlValue } from "./driver.ts";

const COLUMNS: { readonly [field in Field]: string } = {
  WorkflowType: "workflow_type",
  WorkflowId: "workflow_id",
  RunId: "run_id",
  TaskQueue: "task_queue",
  ExecutionStatus: "status",
  StartTime: "start_time_ms",
  CloseTime: "close_time_ms",
};

/**
 * Answers the SQL and appends its parameters. Only CloseTime can be NULL, and then every comparison is NULL, which WHERE takes as false.
 *
 * Inside of OR the status is written as `+status`, which keeps the partial index runs_open out of the plan: SQLite 3.53 looks at the value
 * that is bound to `status = ?`, takes that index for one branch, and then answers such statements with "internal query planner error".
 */
export function conditionSql(condition: Condition, params: SqlValue[], insideOr = false): string {
  const column = (field: Field) => insideOr && field === "ExecutionStatus" ? `+${COLUMNS[field]}` : COLUMNS[field];
  switch (condition.kind) {
    case "and":
    case "or": {
      const isOr = condition.kind === "or";
      return `(${condition.parts.map((part) => conditionSql(part, params, insideOr || isOr)).join(isOr ? " OR " : " AND ")})`;
    }
    case "compare":
      params.push(condition.value);
      return `${column(condition.field)} ${condition.op} ?`;
    case "in":
      params.push(...condition.values);
      return `${column(condition.field)}${condition.negated ? " NOT" : ""} IN (${condition.values.map(() => "?").join(", ")})`;
    case "between":
      params.push(condition.low, condition.high);
      return `${COLUMNS[condition.field]}${condition.negated ? " NOT" : ""} BETWEEN ? AND ?`;
    case "null":
      return `${COLUMNS[condition.field]} IS${condition.negated ? " NOT" : ""} NULL`;
    case "startsWith": {
      const column = COLUMNS[condition.field];
      const end = endOfPrefix(condition.prefix);
      params.push(condition.prefix);
      if (end !== undefined) params.push(end);
      const range = end === undefined ? `${column} >= ?` : `${column} >= ? AND ${column} < ?`;
      return condition.negated ? `NOT (${range})` : `(${range})`;
    }
  }
}

/** The first text behind all texts with this prefix; undefined when there is none (the prefix is empty or made of U+10FFFF). */
function endOfPrefix(prefix: string): string | undefined {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0)!;
    if (point === 0x10ffff) continue;
    // The code points d800..dfff are no characters.
    points.push(String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1));
    return points.join("");
  }
  return undefined;
}
