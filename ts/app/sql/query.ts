// A query as it travels: to the process that runs it, and to the process that holds its store. JSON, because rows are small and everybody
// can read it; what JSON has no form for (bytes, numbers that are not finite) is an object with one field.
import type { SqlRow, SqlValue } from "../../engine/sqlite/driver.ts";
import { SqlLimitError, type SqlLimits } from "../../engine/sqlite/bounded_rows.ts";
import { SqlRefusedError } from "../../engine/sqlite/read_only_sql.ts";
import { StoreError, type StoreHolder, StoreLockedError } from "../../engine/store_errors.ts";

/** What a query's process is given. */
export interface QueryJob {
  /** The store's file. */
  readonly path: string;
  readonly sql: string;
  readonly limits: SqlLimits;
}

type WireValue = string | number | null | { readonly hex: string } | { readonly number: string };

/** "refused": it was not run. "limit": it was stopped. "locked": another process has the file for itself. "sqlite": SQLite's own words. */
type Kind = "refused" | "limit" | "locked" | "store" | "sqlite";

/** What comes back. */
export type QueryAnswer =
  | { readonly columns: readonly string[]; readonly rows: readonly (readonly WireValue[])[] }
  | { readonly kind: Kind; readonly message: string; readonly holder?: StoreHolder };

/** SQLite has said no. */
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

/** The rows of an answer. Throws what it says instead. */
export function answerRows(answer: QueryAnswer): SqlRow[] {
  if ("rows" in answer) {
    return answer.rows.map((row) => Object.fromEntries(row.map((value, i) => [answer.columns[i]!, valueOf(value)])));
  }
  const { kind, message, holder } = answer;
  if (kind === "refused") throw new SqlRefusedError(message);
  if (kind === "limit") throw new SqlLimitError(message);
  if (kind === "locked") throw new StoreLockedError(message, holder);
  throw kind === "store" ? new StoreError(message) : new SqliteError(message);
}

function wireValue(value: SqlValue): WireValue {
  if (value instanceof Uint8Array) {
    return { hex: Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("") };
  }
  return typeof value === "number" && !Number.isFinite(value) ? { number: String(value) } : value;
}

function valueOf(value: WireValue): SqlValue {
  if (typeof value !== "object" || value === null) return value;
  if ("number" in value) return Number(value.number);
  return Uint8Array.from(value.hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}
