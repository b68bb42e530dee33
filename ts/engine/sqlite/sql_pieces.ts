// Splits a SQL statement into tokens, and finds names that reach outside the store's file. Some
// builds of SQLite have functions for files (libsql has readfile), and not every driver has an
// authorizer.

/** Functions that load code or access files, by lower-case name. */
export const REACHES_OUT: ReadonlySet<string> = new Set([
  "load_extension",
  "fts3_tokenizer",
  "readfile",
  "writefile",
  "edit",
  "zipfile",
  "fsdir",
  "lsmode",
  "sqlite_dbpage",
  "sqlite_dbdata",
  "sqlite_dbptr",
]);

// Texts, quoted names, comments, words, white space, and every other character.
const TOKEN =
  /('(?:[^']|'')*')|("(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])|(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|([A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|(\s+)|([\s\S])/gy;

export interface Piece {
  readonly kind: "word" | "name" | "symbol";
  readonly text: string;
}

export function piecesOf(sql: string): Piece[] {
  const pieces: Piece[] = [];
  for (const [, , quoted, , word, , symbol] of sql.matchAll(TOKEN)) {
    if (word !== undefined) pieces.push({ kind: "word", text: word });
    else if (quoted !== undefined) pieces.push({ kind: "name", text: quoted.slice(1, -1) });
    else if (symbol !== undefined) pieces.push({ kind: "symbol", text: symbol });
  }
  return pieces;
}

/**
 * The first name in a statement that reaches outside the file; undefined if it has no such name.
 */
export const outsideName = (sql: string): string | undefined =>
  piecesOf(sql).find(({ kind, text }) => kind !== "symbol" && REACHES_OUT.has(text.toLowerCase()))
    ?.text;
