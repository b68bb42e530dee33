// Limits the rows and bytes of ad hoc SQL statements, so that a result cannot fill the memory.
import type { SqlRow, SqlStatement, SqlValue } from "./driver.ts";

/** Limits of one statement. */
export interface SqlLimits {
  readonly rows: number;
  /** Total size of all values: characters of text, bytes of blobs, 8 for a number. */
  readonly bytes: number;
  /**
   * Milliseconds. Enforced by the process that started the query, or by the library in a browser.
   */
  readonly ms: number;
}

/** Default limits of a query. */
export const SQL_LIMITS: SqlLimits = { rows: 100_000, bytes: 16 * 1024 * 1024, ms: 30_000 };

/** Limits of a query in the thread of an engine, which runs nothing else meanwhile. */
export const IN_ENGINE_LIMITS: SqlLimits = { ...SQL_LIMITS, ms: 2_000 };

/** A statement was stopped, because its result is too large or it ran too long. */
export class SqlLimitError extends Error {
  override name = "SqlLimitError";
}

/** `how` is appended: how to get more time, if possible. */
export const tooLong = (ms: number, how = ""): SqlLimitError =>
  new SqlLimitError(
    `the query was stopped after ${
      ms / 1000
    } s: reduce its work (a WHERE that uses an index, a LIMIT in a recursive WITH)${how}`,
  );

function sizeOf(value: SqlValue): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  return value === null ? 1 : 8;
}

/**
 * Returns the rows of a statement, read one by one if the library can. Throws a SqlLimitError for
 * too many rows or bytes. `checkTime` is called for each row and may throw.
 */
export function boundedRows(
  statement: Pick<SqlStatement, "iterate"> & Partial<Pick<SqlStatement, "all">>,
  params: readonly SqlValue[],
  { rows: most, bytes: room }: Pick<SqlLimits, "rows" | "bytes">,
  checkTime: () => void = () => {},
): SqlRow[] {
  const rows: SqlRow[] = [];
  let bytes = 0;
  for (const row of statement.iterate?.(params) ?? statement.all!(params)) {
    checkTime();
    if (rows.length === most) {
      throw new SqlLimitError(
        `the result has more than ${most} rows: add a LIMIT, or a narrower WHERE`,
      );
    }
    for (const name in row) bytes += sizeOf(row[name]!);
    if (bytes > room) {
      throw new SqlLimitError(
        `the result is larger than ${room} bytes (at row ${
          rows.length + 1
        }): select fewer columns, or add a LIMIT`,
      );
    }
    rows.push({ ...row });
  }
  return rows;
}
