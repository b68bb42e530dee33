// `app.query`: a query of the application in a separate process, so that the engine continues while
// SQLite works.
import * as kind from "../../base/option_kinds.ts";
import { SQL_LIMITS } from "../../engine/sqlite/bounded_rows.ts";
import type { SqlRow, SqlValue } from "../../engine/sqlite/driver.ts";
import { refuseWriting } from "../../engine/sqlite/read_only_sql.ts";
import { StoreError } from "../../engine/store_errors.ts";
import type { Store } from "../../engine/store.ts";
import { checkValues } from "../../engine/tables/database.ts";
import { wireValue } from "./query.ts";

/** Options of `app.query`. */
export interface QueryOptions {
  /** The values of the statement's places (`?`). Default: none. */
  params?: readonly SqlValue[];
  /** The query is stopped after this time. Default: 30,000; at most one hour. */
  timeoutMs?: number;
  /** Stops the query when aborted; the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

const OPTIONS: kind.Table<QueryOptions> = {
  params: kind.list,
  timeoutMs: kind.positive,
  signal: kind.object,
};

/**
 * Runs the query. Rejects with a SqlRefusedError, a SqlLimitError, a StoreError or a SqliteError.
 */
export async function queryOfApp(
  store: Store,
  sql: string,
  options: QueryOptions,
): Promise<SqlRow[]> {
  kind.checkOptions("app.query", options, OPTIONS);
  const { params = [], timeoutMs: ms = SQL_LIMITS.ms, signal } = options;
  refuseWriting(sql);
  checkValues(sql, params);
  const { path } = store as { path?: unknown };
  if (typeof path !== "string" || path === ":memory:") {
    throw new StoreError(
      "app.query() needs a store in a file, because it reads in a separate process: use app.engine.sql()",
    );
  }
  // Loaded on demand: it starts processes, and `open` also runs in runtimes without them.
  const { queryFile } = await import("./query_file.ts");
  const job = { path, sql, params: params.map(wireValue), limits: { ...SQL_LIMITS, ms } };
  return await queryFile(store, job, signal);
}
