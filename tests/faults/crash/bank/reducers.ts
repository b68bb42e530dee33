// Accounts whose total never changes, and notes: what a workflow did and what the tables say can be
// compared.
import type { Database } from "../../../../ts/engine/mod.ts";

export const ACCOUNTS = 10;
export const OPENING = 1000;

export const migrations = [
  {
    name: "001 accounts",
    sql:
      `CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0)) STRICT;
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${ACCOUNTS - 1})
      INSERT INTO account (id, balance) SELECT i, ${OPENING} FROM n;`,
  },
  {
    name: "002 moves",
    sql:
      "CREATE TABLE moves (id INTEGER PRIMARY KEY, run TEXT NOT NULL, amount INTEGER NOT NULL) STRICT",
  },
  {
    name: "003 notes",
    sql:
      "CREATE TABLE notes (id INTEGER PRIMARY KEY, run TEXT NOT NULL, step INTEGER NOT NULL) STRICT",
  },
];

/**
 * Writes everything before it may fail: an account without the money makes it throw at its last
 * statement.
 */
export function move(
  database: Database,
  run: string,
  from: number,
  to: number,
  amount: number,
): number {
  database.run("INSERT INTO moves (run, amount) VALUES (?, ?)", run, amount);
  database.run("UPDATE account SET balance = balance + ? WHERE id = ?", amount, to);
  database.run("UPDATE account SET balance = balance - ? WHERE id = ?", amount, from);
  return amount;
}

export function note(database: Database, run: string, step: number): void {
  database.run("INSERT INTO notes (run, step) VALUES (?, ?)", run, step);
}
