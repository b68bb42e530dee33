// Messages of a query, to the process that runs it and to the process that holds its store. JSON,
// because rows are small; values without a form in JSON (bytes, non-finite numbers) are objects
// with one field.
import type { SqlRow, SqlValue } from "../../engine/sqlite/driver.ts";
import { SqlLimitError, type SqlLimits } from "../../engine/sqlite/bounded_rows.ts";
import { SqlRefusedError } from "../../engine/sqlite/read_only_sql.ts";
import { StoreError, type StoreHolder, StoreLockedError } from "../../engine/store_errors.ts";

/** Input of a query's process. */
export interface QueryJob {
  readonly path: string;
  readonly sql: string;
  /** The values of the statement's places. */
  readonly params?: readonly WireValue[];
  readonly limits: SqlLimits;
}

export type WireValue = string | number | null | { readonly hex: string } | {
  readonly number: string;
};

/**
 * "refused": not run. "limit": stopped. "locked": another process has exclusive access. "sqlite":
 * an error of SQLite.
 */
type Kind = "refused" | "limit" | "locked" | "store" | "sqlite";

/** Result of a query's process. */
export type QueryAnswer =
  | { readonly columns: readonly string[]; readonly rows: readonly (readonly WireValue[])[] }
  | { readonly kind: Kind; readonly message: string; readonly holder?: StoreHolder };

/** An error of SQLite. */
export class SqliteError extends Error {
  override name = "SqliteError";
}

export function rowsAnswer(rows: readonly SqlRow[]): QueryAnswer {
  const columns = Object.keys(rows[0] ?? {});
  return { columns, rows: rows.map((row) => columns.map((column) => wireValue(row[column]!))) };
}

export function refusedAnswer(error: unknown): QueryAnswer {
  const { message } = error as Error;
  if (error instanceof SqlRefusedError) return { kind: "refused", message };
  if (error instanceof SqlLimitError) return { kind: "limit", message };
  if (error instanceof StoreLockedError) {
    return { kind: "locked", message, ...(error.holder !== undefined && { holder: error.holder }) };
  }
  return { kind: error instanceof StoreError ? "store" : "sqlite", message };
}

/** Returns the rows of a result, or throws its error. */
export function answerRows(answer: QueryAnswer): SqlRow[] {
  if ("rows" in answer) {
    return answer.rows.map((row) =>
      Object.fromEntries(row.map((value, i) => [answer.columns[i]!, valueOfWire(value)]))
    );
  }
  const { kind, message, holder } = answer;
  if (kind === "refused") throw new SqlRefusedError(message);
  if (kind === "limit") throw new SqlLimitError(message);
  if (kind === "locked") throw new StoreLockedError(message, holder);
  throw kind === "store" ? new StoreError(message) : new SqliteError(message);
}

export function wireValue(value: SqlValue): WireValue {
  if (value instanceof Uint8Array) {
    return { hex: Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("") };
  }
  return typeof value === "number" && !Number.isFinite(value) ? { number: String(value) } : value;
}

export function valueOfWire(value: WireValue): SqlValue {
  if (typeof value !== "object" || value === null) return value;
  if ("number" in value) return Number(value.number);
  return Uint8Array.from(value.hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}
