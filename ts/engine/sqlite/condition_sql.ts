// Visibility conditions as SQL. Values are always parameters. Text compares by its UTF-8 bytes
// (SQLite's default collation), and STARTS_WITH is a range of text so that an index can serve it.
import type { AttributeTest, Condition, Field, Test } from "../visibility/condition.ts";
import type { SqlValue } from "./driver.ts";

const NONE: ReadonlySet<Field> = new Set();

/** Of an open run NULL. */
function ofClosed(column: string): string {
  return `(CASE WHEN close_time_ms IS NOT NULL THEN ${column} END)`;
}

/** The columns of a table that queries select from, and the table of its search attributes. */
export interface ConditionTable {
  readonly columns: { readonly [field in Field]?: string };
  /** Column of the keys, in both tables. */
  readonly key: string;
  readonly attributes: string;
}

const COLUMNS: ConditionTable["columns"] = {
  WorkflowType: "workflow_type",
  WorkflowId: "workflow_id",
  RunId: "run_id",
  TaskQueue: "task_queue",
  ExecutionStatus: "status",
  StartTime: "start_time_ms",
  CloseTime: "close_time_ms",
  ExecutionTime: "execution_time_ms",
  ParentWorkflowId: "parent_workflow_id",
  RootWorkflowId: "ifnull(root_workflow_id, workflow_id)",
  ExecutionDuration: "(close_time_ms - execution_time_ms)",
  HistoryLength: ofClosed("history_length"),
  HistorySizeBytes: ofClosed("history_size_bytes"),
  StateTransitionCount: ofClosed("state_transitions"),
};

const RUNS: ConditionTable = { columns: COLUMNS, key: "run_key", attributes: "search_attributes" };

/**
 * Returns the SQL and appends its parameters. A comparison with NULL is NULL, which WHERE treats as
 * false.
 *
 * Fields of `unindexed` are written as `+column`, which excludes their indexes from the plan.
 * Inside OR the status always is: many runs share one, and a search for each branch would read them
 * all.
 */
export function conditionSql(
  condition: Condition,
  params: SqlValue[],
  unindexed: ReadonlySet<Field> = NONE,
  table: ConditionTable = RUNS,
): string {
  const column = (field: Field) =>
    unindexed.has(field) ? `+${table.columns[field]!}` : table.columns[field]!;
  switch (condition.kind) {
    case "and":
    case "or": {
      const isOr = condition.kind === "or";
      const inside: ReadonlySet<Field> = isOr
        ? new Set<Field>([...unindexed, "ExecutionStatus"])
        : unindexed;
      return joined(
        condition.parts.map((part) => conditionSql(part, params, inside, table)),
        isOr ? " OR " : " AND ",
      );
    }
    case "attribute": {
      // A negation excludes runs without the attribute.
      const has = condition.negated ? `${hasAttribute(table, condition.name, params)} AND ` : "";
      const found = `${table.key}${condition.negated ? " NOT" : ""} IN (${
        condition.tests.map((test) => attributeSql(table, condition.name, test, params)).join(
          " UNION ALL ",
        )
      })`;
      return `(${has}${found})`;
    }
    case "noAttribute":
      return `${condition.negated ? "" : "NOT "}${hasAttribute(table, condition.name, params)}`;
    case "null":
      return `${table.columns[condition.field]!} IS${condition.negated ? " NOT" : ""} NULL`;
    case "compare":
      return testSql(column(condition.field), condition, params);
    case "in":
      return testSql(column(condition.field), condition, params, condition.negated);
    default:
      return testSql(column(condition.field), condition, params, condition.negated);
  }
}

/** Nests in halves: SQLite parses 1000 flat terms as an expression of depth 1000 and rejects it. */
function joined(terms: readonly string[], operator: string): string {
  if (terms.length <= 8) return `(${terms.join(operator)})`;
  const half = terms.length >> 1;
  return `(${joined(terms.slice(0, half), operator)}${operator}${
    joined(terms.slice(half), operator)
  })`;
}

function hasAttribute(
  { key, attributes }: ConditionTable,
  name: string,
  params: SqlValue[],
): string {
  params.push(name);
  return `${key} IN (SELECT ${key} FROM ${attributes} WHERE name = ?)`;
}

function attributeSql(
  { key, attributes }: ConditionTable,
  name: string,
  { of, test }: AttributeTest,
  params: SqlValue[],
): string {
  params.push(name, of);
  return `SELECT ${key} FROM ${attributes} WHERE name = ? AND kind = ? AND ${
    testSql("value", test, params)
  }`;
}

function testSql(column: string, test: Test, params: SqlValue[], negated = false): string {
  const not = negated ? " NOT" : "";
  switch (test.kind) {
    case "compare":
      params.push(test.value);
      return `${column} ${test.op} ?`;
    case "in":
      params.push(...test.values);
      return `${column}${not} IN (${test.values.map(() => "?").join(", ")})`;
    case "between":
      params.push(test.low, test.high);
      return `${column}${not} BETWEEN ? AND ?`;
    case "startsWith": {
      const end = endOfPrefix(test.prefix);
      params.push(test.prefix);
      if (end !== undefined) params.push(end);
      const range = end === undefined ? `${column} >= ?` : `${column} >= ? AND ${column} < ?`;
      return negated ? `NOT (${range})` : `(${range})`;
    }
  }
}

/**
 * The smallest text greater than all texts with this prefix; undefined if the prefix is empty or
 * consists of U+10FFFF.
 */
function endOfPrefix(prefix: string): string | undefined {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0)!;
    if (point === 0x10ffff) continue;
    // d800..dfff are surrogates.
    points.push(String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1));
    return points.join("");
  }
  return undefined;
}
