// Read-only SQL from users and other programs. Not every driver has SQLite's authorizer, so a
// statement is checked first: one reading statement, without functions and tables that reach
// outside the file or change settings. `query_only` makes SQLite reject writes as well.
import { checkValues } from "../tables/database.ts";
import { boundedRows, IN_ENGINE_LIMITS, type SqlLimits, tooLong } from "./bounded_rows.ts";
import type { SqlDatabase, SqlRow, SqlValue } from "./driver.ts";
import { piecesOf, REACHES_OUT } from "./sql_pieces.ts";
import { once } from "./statements.ts";

/** The statement was rejected before it ran. */
export class SqlRefusedError extends Error {
  override name = "SqlRefusedError";
}

const MAX_LENGTH = 100_000;
const READS: ReadonlySet<string> = new Set(["SELECT", "VALUES", "WITH"]);
/**
 * Keywords that make a WITH statement a write. REPLACE is also a function, so it is checked apart.
 */
const WRITES: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE"]);
/** Throws a SqlRefusedError unless the text is one reading statement. */
export function refuseWriting(sql: string): void {
  const refuse = (why: string): never => {
    const line = sql.replace(/\s+/g, " ").trim();
    throw new SqlRefusedError(
      `${why}; pass one read-only statement (SELECT, VALUES, WITH, EXPLAIN): ${line.slice(0, 200)}`,
    );
  };
  if (typeof sql !== "string") throw new SqlRefusedError(`SQL must be a string, not ${typeof sql}`);
  if (sql.length > MAX_LENGTH) {
    refuse(`the statement has ${sql.length} characters, more than ${MAX_LENGTH}`);
  }
  // SQLite ends a text at its first NUL, and these checks do not.
  if (sql.includes("\0")) refuse("the statement has a NUL character");
  const pieces = piecesOf(sql);
  const end = pieces.findIndex(({ text, kind }) => kind === "symbol" && text === ";");
  if (end >= 0 && pieces.slice(end).some(({ text }) => text !== ";")) {
    refuse("there is more than one statement");
  }
  const words = (end < 0 ? pieces : pieces.slice(0, end)).map((piece) => ({
    ...piece,
    upper: piece.text.toUpperCase(),
  }));
  let at = 0;
  if (words[at]?.kind === "word" && words[at]?.upper === "EXPLAIN") {
    at++;
    if (words[at]?.upper === "QUERY" && words[at + 1]?.upper === "PLAN") at += 2;
  }
  const first = words[at];
  if (first === undefined) return refuse("the statement is empty");
  if (first.kind !== "word" || !READS.has(first.upper)) refuse(`${first.text} is not allowed`);
  words.forEach(({ kind, upper, text }, i) => {
    if (kind === "symbol") return;
    const name = text.toLowerCase();
    if (kind === "word" && first.upper === "WITH") {
      if (WRITES.has(upper) || (upper === "REPLACE" && words[i + 1]?.text !== "(")) {
        refuse(`${text} is not allowed`);
      }
    }
    if (REACHES_OUT.has(name)) refuse(`${text} is not allowed`);
    if (name.startsWith("pragma_")) refuse(`${text} is not readable`);
  });
}

/**
 * Returns the rows of a statement that reads. Throws a SqlRefusedError, a SqlLimitError, and
 * SQLite's own errors. The time is checked at each row: the native libraries cannot interrupt
 * SQLite before it has one.
 */
export function readOnlyRows(
  database: SqlDatabase,
  sql: string,
  params: readonly SqlValue[],
  limits: SqlLimits = IN_ENGINE_LIMITS,
): SqlRow[] {
  refuseWriting(sql);
  checkValues(sql, params);
  const endsAt = performance.now() + limits.ms;
  const checkTime = () => {
    if (performance.now() > endsAt) {
      throw tooLong(limits.ms, ", or use app.query(), which runs in a separate process");
    }
  };
  database.exec("PRAGMA query_only=ON");
  try {
    return once(database, sql, (statement) => boundedRows(statement, params, limits, checkTime));
  } finally {
    database.exec("PRAGMA query_only=OFF");
  }
}
