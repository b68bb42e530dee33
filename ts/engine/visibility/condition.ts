// Conditions of visibility queries. The memory store evaluates them here; SQLite gets them as SQL
// (sqlite/condition_sql.ts), and a property test compares the two. Strings compare by code point,
// as in SQLite. CloseTime and numbers of an open run, and absent parents and attributes are null: no
// test of them holds, negated or not. A keyword list passes a test if one element does, and its negation if no element
// does.
import type { RunRow } from "../store.ts";
import { readHeadFields } from "./head_fields.ts";
import { type AttributeValue, attributeValues, type Kind } from "./attributes.ts";

export type StringField =
  | "WorkflowType"
  | "WorkflowId"
  | "RunId"
  | "TaskQueue"
  | "ParentWorkflowId"
  | "RootWorkflowId";
export type TimeField = "StartTime" | "CloseTime" | "ExecutionTime";
/** Of closed runs only, as on a server. */
export type NumberField =
  | "ExecutionDuration"
  | "HistoryLength"
  | "HistorySizeBytes"
  | "StateTransitionCount";
export type Field = StringField | TimeField | NumberField | "ExecutionStatus";
export type CompareOp = "=" | "!=" | "<" | "<=" | ">" | ">=";
/**
 * Strings unchanged, times in ms since the epoch, durations in ms, statuses as numbers of
 * WorkflowExecutionStatus.
 */
export type Value = string | number;

/** A parsed visibility query. */
export type Condition =
  | { readonly kind: "and" | "or"; readonly parts: readonly Condition[] }
  | {
    readonly kind: "compare";
    readonly field: Field;
    readonly op: CompareOp;
    readonly value: Value;
  }
  | {
    readonly kind: "in";
    readonly field: Field;
    readonly values: readonly Value[];
    readonly negated: boolean;
  }
  | {
    readonly kind: "between";
    readonly field: Field;
    readonly low: Value;
    readonly high: Value;
    readonly negated: boolean;
  }
  | {
    readonly kind: "startsWith";
    readonly field: StringField;
    readonly prefix: string;
    readonly negated: boolean;
  }
  | { readonly kind: "null"; readonly field: Field; readonly negated: boolean }
  | {
    readonly kind: "attribute";
    readonly name: string;
    readonly tests: readonly AttributeTest[];
    readonly negated: boolean;
  }
  | { readonly kind: "noAttribute"; readonly name: string; readonly negated: boolean };

/** A test of a value. */
export type Test =
  | { readonly kind: "compare"; readonly op: CompareOp; readonly value: Value }
  | { readonly kind: "in"; readonly values: readonly Value[] }
  | { readonly kind: "between"; readonly low: Value; readonly high: Value }
  | { readonly kind: "startsWith"; readonly prefix: string };

/**
 * A test for values of one kind. A literal may be of several: '2030-01-31' is a text and a time.
 */
export interface AttributeTest {
  readonly of: Kind;
  readonly test: Test;
}

const OPPOSITE: { readonly [op in CompareOp]: CompareOp } = {
  "=": "!=",
  "!=": "=",
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
};

/** Negates a condition. As in SQL, the negation does not hold for null either. */
export function negated(condition: Condition): Condition {
  switch (condition.kind) {
    case "and":
      return { kind: "or", parts: condition.parts.map(negated) };
    case "or":
      return { kind: "and", parts: condition.parts.map(negated) };
    case "compare":
      return { ...condition, op: OPPOSITE[condition.op] };
    default:
      return { ...condition, negated: !condition.negated };
  }
}

/** A run as conditions test it. */
export interface TestedRun {
  readonly row: RunRow;
  /** The engine's state of the run. */
  readonly head: Uint8Array;
  /** Overrides that of the state. */
  readonly executionTimeMs?: number;
}

/** The value of a field; undefined is null. */
export function fieldOf(
  { row, head, executionTimeMs }: TestedRun,
  field: Field,
): Value | undefined {
  const isClosed = row.closeTimeMs !== 0;
  switch (field) {
    case "ParentWorkflowId":
      return readHeadFields(head).parentWorkflowId || undefined;
    case "RootWorkflowId":
      return readHeadFields(head).rootWorkflowId || row.workflowId;
    case "ExecutionTime":
      return executionTimeMs ?? (readHeadFields(head).executionTimeMs || row.startTimeMs);
    case "ExecutionDuration":
      return isClosed
        ? row.closeTimeMs - (readHeadFields(head).executionTimeMs || row.startTimeMs)
        : undefined;
    case "StateTransitionCount":
      return isClosed ? readHeadFields(head).stateTransitions : undefined;
    case "HistoryLength":
      return isClosed ? row.historyLength : undefined;
    case "HistorySizeBytes":
      return isClosed ? row.historySizeBytes : undefined;
    case "WorkflowType":
      return row.workflowType;
    case "WorkflowId":
      return row.workflowId;
    case "RunId":
      return row.runId;
    case "TaskQueue":
      return row.taskQueue;
    case "ExecutionStatus":
      return row.status;
    case "StartTime":
      return row.startTimeMs;
    case "CloseTime":
      return row.closeTimeMs === 0 ? undefined : row.closeTimeMs;
  }
}

/**
 * Compares strings by code point. JavaScript's `<` compares UTF-16 units, which differs above
 * U+FFFF.
 */
function compareText(a: string, b: string): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates (d800..dfff) encode code points above the rest of the basic plane.
    const high = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
    return high(x) - high(y);
  }
  return a.length - b.length;
}

function compare(a: Value, b: Value): number {
  return typeof a === "string" ? compareText(a, b as string) : a - (b as number);
}

function holds(order: number, op: CompareOp): boolean {
  switch (op) {
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

export function matches(run: TestedRun, condition: Condition): boolean {
  const { row } = run;
  switch (condition.kind) {
    case "and":
      return condition.parts.every((part) => matches(run, part));
    case "or":
      return condition.parts.some((part) => matches(run, part));
    case "null":
      return (fieldOf(run, condition.field) === undefined) !== condition.negated;
    case "noAttribute":
      return (valuesOf(row, condition.name).length === 0) !== condition.negated;
    case "attribute": {
      const values = valuesOf(row, condition.name);
      const passed = values.some(({ kind, value }) =>
        condition.tests.some(({ of, test }) => of === kind && passes(value, test))
      );
      return values.length > 0 && passed !== condition.negated;
    }
  }
  const value = fieldOf(run, condition.field);
  return value !== undefined &&
    passes(value, condition) !== (condition.kind !== "compare" && condition.negated);
}

function passes(value: Value, test: Test): boolean {
  switch (test.kind) {
    case "compare":
      return holds(compare(value, test.value), test.op);
    case "in":
      return test.values.includes(value);
    case "between":
      return compare(value, test.low) >= 0 && compare(value, test.high) <= 0;
    case "startsWith":
      return (value as string).startsWith(test.prefix);
  }
}

/** Decoded attributes of rows; rows of a memory store are queried often. */
const read = new WeakMap<RunRow, readonly AttributeValue[]>();

function valuesOf(row: RunRow, name: string): AttributeValue[] {
  let values = read.get(row);
  if (values === undefined) read.set(row, values = attributeValues(row.searchAttributes));
  return values.filter((each) => each.name === name);
}
