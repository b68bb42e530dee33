// Pages and counts of runs by a condition; the SQL is built for each query. Indexes find the keys
// first, and only the rows of the page are read.
import type { ListPage, ListPosition, ListQuery } from "../store.ts";
import type { Condition } from "../visibility/condition.ts";
import { conditionSql } from "./condition_sql.ts";
import type { SqlDatabase, SqlValue } from "./driver.ts";
import { type Branch, queryBranches, selectiveSearch } from "./list_branches.ts";
import { numberColumn, toRow } from "./rows.ts";
import { keptCounts } from "./run_counts.ts";
import { once, ROW_COLUMNS } from "./statements.ts";

/** The place of open runs: they sort after all closed ones. */
const OPEN_PLACE = 9e15;

/** A run's place in the list and its key. */
type Found = readonly [place: number, runKey: number];

export function listPage(
  database: SqlDatabase,
  query: ListQuery,
  size: number,
  after?: ListPosition,
): ListPage {
  // One extra run shows whether there is a next page.
  const found = keysOf(database, query, size + 1, after);
  const page = found.slice(0, size);
  const rows = once(
    database,
    `SELECT ${ROW_COLUMNS}, head FROM runs WHERE run_key = ?`,
    (statement) => page.map(([, runKey]) => statement.get([runKey])!),
  );
  const next = found.length > size ? page.at(-1) : undefined;
  return { rows: rows.map(toRow), heads: rows.map((row) => row["head"] as Uint8Array), next };
}

function keysOf(
  database: SqlDatabase,
  query: ListQuery,
  limit: number,
  after: ListPosition | undefined,
): readonly Found[] {
  const { where, orderBy, descending } = query;
  const search = new Search(database, descending, limit);
  const selective = selectiveSearch(where);
  if (orderBy === "StartTime" || selective !== undefined) {
    const order = orderBy === "StartTime"
      ? "start_time_ms"
      : `ifnull(close_time_ms, ${OPEN_PLACE})`;
    return search.first([selective ?? wholeSearch(where)], order, after);
  }
  const { open, closed } = queryBranches(where);
  const parts = [{ branches: open === undefined ? [] : [open], order: String(OPEN_PLACE) }, {
    branches: closed,
    order: "close_time_ms",
  }];
  const found: Found[] = [];
  // If the previous page ended in the second part, the first part is skipped.
  const isInOpen = after !== undefined && after[0] === OPEN_PLACE;
  const begun = after === undefined || isInOpen === descending ? 0 : 1;
  const ordered = descending ? parts : parts.reverse();
  for (let i = begun; i < ordered.length && found.length < limit; i++) {
    const { branches, order } = ordered[i]!;
    found.push(...search.first(branches, order, i === begun ? after : undefined));
  }
  return found.slice(0, limit);
}

function wholeSearch(where: Condition | undefined): Branch {
  const params: SqlValue[] = [];
  return { sql: where === undefined ? "1" : conditionSql(where, params), params };
}

/** Finds the first runs of branches in one order. */
class Search {
  readonly #database: SqlDatabase;
  readonly #descending: boolean;
  readonly #limit: number;

  constructor(database: SqlDatabase, descending: boolean, limit: number) {
    this.#database = database;
    this.#descending = descending;
    this.#limit = limit;
  }

  first(branches: readonly Branch[], order: string, after: ListPosition | undefined): Found[] {
    const found = branches.flatMap((branch) => this.#of(branch, order, after));
    if (branches.length > 1) {
      found.sort((a, b) => (this.#descending ? -1 : 1) * (a[0] - b[0] || a[1] - b[1]));
    }
    return found.slice(0, this.#limit);
  }

  #of(branch: Branch, order: string, after: ListPosition | undefined): Found[] {
    const [direction, beyond] = this.#descending ? ["DESC", "<"] : ["ASC", ">"];
    const params = [...branch.params];
    const terms = [branch.sql];
    // Open runs share one place: SQLite orders and searches them by key alone.
    const isPlace = order === String(OPEN_PLACE);
    if (after !== undefined) {
      terms.push(isPlace ? `run_key ${beyond} ?` : `(${order}, run_key) ${beyond} (?, ?)`);
      params.push(...(isPlace ? after.slice(1) : after));
    }
    const sorted = isPlace ? `run_key ${direction}` : `${order} ${direction}, run_key ${direction}`;
    const sql = `SELECT ${order} AS place, run_key FROM runs WHERE ${
      terms.join(" AND ")
    } ORDER BY ${sorted} LIMIT ?`;
    const rows = once(this.#database, sql, (statement) => statement.all([...params, this.#limit]));
    return rows.map((row) => [numberColumn(row, "place"), numberColumn(row, "run_key")] as const);
  }
}

export function countRuns(database: SqlDatabase, where?: Condition): number {
  return [...countByStatus(database, where).values()].reduce((sum, n) => sum + n, 0);
}

/** Returns the number of runs by status; statuses without runs are absent. */
export function countByStatus(
  database: SqlDatabase,
  where?: Condition,
): ReadonlyMap<number, number> {
  const kept = keptCounts(database, where);
  if (kept !== undefined) return kept;
  const counts = new Map<number, number>();
  const add = (status: number, n: number) =>
    n > 0 && counts.set(status, (counts.get(status) ?? 0) + n);
  const selective = selectiveSearch(where);
  const { open, closed } = selective === undefined
    ? queryBranches(where, true)
    : { open: undefined, closed: [selective] };
  for (const { sql, params, status } of open === undefined ? closed : [open, ...closed]) {
    if (status === undefined) {
      const groups = `SELECT status, count(*) AS n FROM runs WHERE ${sql} GROUP BY +status`;
      for (const row of once(database, groups, (statement) => statement.all(params))) {
        add(numberColumn(row, "status"), numberColumn(row, "n"));
      }
    } else {
      add(
        status,
        once(
          database,
          `SELECT count(*) AS n FROM runs WHERE ${sql}`,
          (statement) => numberColumn(statement.get(params), "n"),
        ),
      );
    }
  }
  return counts;
}
