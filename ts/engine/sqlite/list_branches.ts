// Splits a query over runs into branches that an index serves in order of close time: one of open
// runs, and one of closed runs for each selected type and status (LISTS_SCHEMA in schema.ts). So a
// page reads only its own rows, and a count reads only index entries.
import type { Condition, Field } from "../visibility/condition.ts";
import { STATUS_NAMES } from "../visibility/values.ts";
import { conditionSql } from "./condition_sql.ts";
import type { SqlValue } from "./driver.ts";

/** More types are not searched one by one. */
const MAX_TYPES = 8;
const STATUSES = STATUS_NAMES.map(([, status]) => status);
const TYPE_AND_STATUS: ReadonlySet<Field> = new Set<Field>(["WorkflowType", "ExecutionStatus"]);
/** Columns in the index of a branch. Other indexes on them would need to sort and to read rows. */
const WALKED: ReadonlySet<Field> = new Set<Field>([...TYPE_AND_STATUS, "StartTime"]);

/** A condition as SQL, with its parameters. */
export interface Branch {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /** The status of all runs of the branch, if they have the same one. */
  readonly status?: number;
}

/** The branches of a query. They are disjoint. */
export interface Branches {
  /** Open runs; undefined if the query selects closed runs only. */
  readonly open: Branch | undefined;
  readonly closed: readonly Branch[];
}

/**
 * Returns the query as one search if another field selects few runs: its index is used, and those
 * of type and status are excluded from the plan.
 */
export function selectiveSearch(where: Condition | undefined): Branch | undefined {
  if (where === undefined || !conjuncts(where).some(isSelective)) return undefined;
  const params: SqlValue[] = [];
  return { sql: conditionSql(where, params, TYPE_AND_STATUS), params };
}

/** Returns the branches of any other query. `apart`: each branch of closed runs has one status. */
export function queryBranches(where: Condition | undefined, apart = false): Branches {
  const terms = where === undefined ? [] : conjuncts(where);
  const typed = terms.find((term) => typesOf(term) !== undefined);
  const types = typed === undefined ? [undefined] : typesOf(typed)!;
  const statusTerms = terms.filter(isOfStatus);
  const isByStart = terms.some((term) => "field" in term && term.field === "StartTime");
  const statuses = typed === undefined && statusTerms.length === 0 && !isByStart && !apart
    ? [undefined]
    : STATUSES.filter((status) => statusTerms.every((term) => holdsOf(term, status)));
  const rest = terms.filter((term) => term !== typed && !isOfStatus(term));
  const ofClose = rest.filter((term) => "field" in term && term.field === "CloseTime");
  const isClosed = (term: Condition) => term.kind !== "null" || term.negated;
  return {
    open: ofClose.some(isClosed) ? undefined : branch(OPEN, undefined, undefined, terms),
    closed: ofClose.some((term) => !isClosed(term))
      ? []
      : types.flatMap((type) => statuses.map((status) => branch(CLOSED, type, status, rest))),
  };
}

const OPEN = "close_time_ms IS NULL";
const CLOSED = "close_time_ms IS NOT NULL";

function branch(
  part: string,
  type: string | undefined,
  status: number | undefined,
  rest: readonly Condition[],
): Branch {
  const params: SqlValue[] = [];
  const sql = [part];
  if (type !== undefined) {
    sql.push("workflow_type = ?");
    params.push(type);
  }
  if (status !== undefined) {
    sql.push("status = ?");
    params.push(status);
  }
  for (const term of rest) sql.push(conditionSql(term, params, WALKED));
  return { sql: sql.join(" AND "), params, ...(status !== undefined && { status }) };
}

/** The terms of a conjunction. */
function conjuncts(condition: Condition): Condition[] {
  return condition.kind === "and" ? condition.parts.flatMap(conjuncts) : [condition];
}

/** Whether a term alone selects few runs by an index. */
function isSelective(term: Condition): boolean {
  if (term.kind === "attribute") return !term.negated;
  if (term.kind === "compare") {
    return (term.field === "WorkflowId" || term.field === "RunId") && term.op === "=";
  }
  if (term.kind !== "in" && term.kind !== "startsWith") return false;
  return (term.field === "WorkflowId" || term.field === "RunId") && !term.negated;
}

/** The types that a term selects, if it is only about types and they are few. */
function typesOf(term: Condition): readonly string[] | undefined {
  if (term.kind === "compare") {
    return term.field === "WorkflowType" && term.op === "=" ? [term.value as string] : undefined;
  }
  if (term.kind !== "in" || term.field !== "WorkflowType" || term.negated) return undefined;
  const types = [...new Set(term.values as readonly string[])];
  return types.length <= MAX_TYPES ? types : undefined;
}

type StatusTerm = Condition & { readonly kind: "compare" | "in" };

function isOfStatus(term: Condition): term is StatusTerm {
  if (term.kind === "in") return term.field === "ExecutionStatus";
  return term.kind === "compare" && term.field === "ExecutionStatus" &&
    (term.op === "=" || term.op === "!=");
}

function holdsOf(term: StatusTerm, status: number): boolean {
  if (term.kind === "in") return term.values.includes(status) !== term.negated;
  return (term.value === status) === (term.op === "=");
}
