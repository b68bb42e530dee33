// The rows of a statement that somebody wrote by hand, up to a number of rows and of bytes: one without an end must not fill the memory.
import type { SqlRow, SqlStatement, SqlValue } from "./driver.ts";

/** How much one statement may answer, and for how long it may run. */
export interface SqlLimits {
  readonly rows: number;
  /** Of all values together: characters of text, bytes of blobs, 8 for a number. */
  readonly bytes: number;
  /** Milliseconds. Kept by whoever can stop SQLite: the process that started the query, or the library in a browser. */
  readonly ms: number;
}

/** What a query may take where its caller says nothing else. */
export const SQL_LIMITS: SqlLimits = { rows: 100_000, bytes: 16 * 1024 * 1024, ms: 30_000 };

/** A statement was stopped, because its answer is too large or took too long. */
export class SqlLimitError extends Error {
  override name = "SqlLimitError";
}

/** `how`: what gives it more time, if anything does. */
export const tooLong = (ms: number, how = ""): SqlLimitError =>
  new SqlLimitError(
    `the query was stopped after ${ms / 1000} s: reduce its work (a WHERE that uses an index, a LIMIT in a recursive WITH)${how}`,
  );

function sizeOf(value: SqlValue): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  return value === null ? 1 : 8;
}

/** The rows of a statement, one by one where the library can. Throws a SqlLimitError when there are too many or they are too large. */
export function boundedRows(
  statement: Pick<SqlStatement, "iterate"> & Partial<Pick<SqlStatement, "all">>,
  params: readonly SqlValue[],
  { rows: most, bytes: room }: Pick<SqlLimits, "rows" | "bytes">,
): SqlRow[] {
  const rows: SqlRow[] = [];
  let bytes = 0;
  for (const row of statement.iterate?.(params) ?? statement.all!(params)) {
    if (rows.length === most) throw new SqlLimitError(`the result has more than ${most} rows: add a LIMIT, or a narrower WHERE`);
    for (const name in row) bytes += sizeOf(row[name]!);
    if (bytes > room) {
      throw new SqlLimitError(
        `the result is larger than ${room} bytes (at row ${rows.length + 1}): select fewer columns, or add a LIMIT`,
      );
    }
    rows.push({ ...row });
  }
  return rows;
}
