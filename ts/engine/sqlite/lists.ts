// Pages of runs by a condition, and their number: the SQL is made for each query.
import type { ListPage, ListPosition, ListQuery } from "../store.ts";
import type { Condition } from "../visibility/condition.ts";
import { conditionSql } from "./condition_sql.ts";
import type { SqlDatabase, SqlValue } from "./driver.ts";
import { number, toRow } from "./rows.ts";
import { once, ROW_COLUMNS } from "./statements.ts";

const ORDER_COLUMNS = { StartTime: "start_time_ms", CloseTime: "ifnull(close_time_ms, 9e15)" } as const;

export function listPage(database: SqlDatabase, query: ListQuery, size: number, after?: ListPosition): ListPage {
  const params: SqlValue[] = [];
  const order = ORDER_COLUMNS[query.orderBy];
  const terms = query.where === undefined ? [] : [conditionSql(query.where, params)];
  if (after !== undefined) {
    terms.push(`(${order}, run_key) ${query.descending ? "<" : ">"} (?, ?)`);
    params.push(...after);
  }
  const where = terms.length === 0 ? "" : `WHERE ${terms.join(" AND ")}`;
  const direction = query.descending ? "DESC" : "ASC";
  const sql =
    `SELECT ${ROW_COLUMNS}, head, ${order} AS place FROM runs ${where} ORDER BY ${order} ${direction}, run_key ${direction} LIMIT ?`;
  // One more than asked for tells whether there is a next page.
  const rows = once(database, sql, (statement) => statement.all([...params, size + 1]));
  const page = rows.slice(0, size);
  const last = page[page.length - 1];
  const next = rows.length > size && last !== undefined ? [number(last, "place"), number(last, "run_key")] as const : undefined;
  return { rows: page.map(toRow), heads: page.map((row) => row["head"] as Uint8Array), next };
}

export function countRuns(database: SqlDatabase, where?: Condition): number {
  const params: SqlValue[] = [];
  const condition = where === undefined ? "" : `WHERE ${conditionSql(where, params)}`;
  return once(
    database,
    `SELECT count(*) AS n FROM runs ${condition}`,
    (statement) => number(statement.get(params), "n"),
  );
}
