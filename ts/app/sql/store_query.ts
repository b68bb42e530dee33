// Queries a store file from a process that does not hold it: directly if both drivers can share the
// file, otherwise through the holder.
import { StoreLockedError } from "../../engine/store_errors.ts";
import { SQL_LIMITS } from "../../engine/sqlite/bounded_rows.ts";
import type { SqlRow } from "../../engine/sqlite/driver.ts";
import { NOT_CONNECTED } from "../../grpc/links.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import { findHolder } from "../socket_path.ts";
import { lineTo, REACHABLE_MS, resolveStorePath, unreachable } from "../store_service.ts";
import { realTimers, sleepOn } from "../../base/timers.ts";
import { runQuery } from "./query_process.ts";
import { askForRows } from "./sql_method.ts";

const PAUSE_MS = 100;

/**
 * Returns the rows of a statement that reads. `ms`: time limit. Throws like `runQuery` and
 * `askForRows`.
 */
export async function queryStore(
  given: string,
  sql: string,
  ms: number,
  signal: AbortSignal,
): Promise<SqlRow[]> {
  const path = resolveStorePath(given);
  const began = performance.now();
  for (;;) {
    try {
      return await runQuery({ path, sql, limits: { ...SQL_LIMITS, ms } }, signal);
    } catch (error) {
      if (!(error instanceof StoreLockedError)) throw error;
      const rows = await throughHolder(path, sql, ms, signal);
      if (rows !== undefined) return rows;
      // The holder is starting or has just exited.
      if (performance.now() - began > REACHABLE_MS) throw unreachable(path, error);
    }
    await sleepOn(realTimers, PAUSE_MS, signal);
  }
}

/** Returns undefined if no process is found. */
async function throughHolder(
  path: string,
  sql: string,
  ms: number,
  signal: AbortSignal,
): Promise<SqlRow[] | undefined> {
  const holder = findHolder(path);
  if (holder === undefined) return undefined;
  const line = lineTo(holder);
  try {
    return await askForRows(line, { namespace: "", sql, ms }, signal);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === Code.UNAVAILABLE && error.reason === NOT_CONNECTED) return undefined;
    if (error.code !== Code.UNIMPLEMENTED) throw error;
    throw new ServiceError(
      Code.UNIMPLEMENTED,
      `the process that has ${path} open has a version without SQL queries: stop it, or start it with this version`,
    );
  } finally {
    line.close();
  }
}
