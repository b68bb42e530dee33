// Reducers and tables of the tests of application transactions.
import type { Transaction } from "../../../../ts/mod.ts";
import { listener, said } from "./workflows.ts";

export const migrations = [{
  name: "001 lines",
  sql: "CREATE TABLE line (id INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT",
}];

export function startAndSay({ workflows }: Transaction, id: string, line: string): void {
  workflows.start(listener, { id });
  workflows.signal(id, said, line);
}

export function say(db: Transaction, id: string, line: string): void {
  db.run("INSERT INTO line (line) VALUES (?)", line);
  db.workflows.signal(id, said, line);
}

export function sayAndThrow(db: Transaction, id: string, line: string): void {
  say(db, id, line);
  throw new RangeError(`not ${line}`);
}

export const collisions = { attempts: 0 };
/** Starts a listener with the id at the first attempt. */
export function startFirst({ workflows }: Transaction, id: string): void {
  if (collisions.attempts++ === 0) workflows.start(listener, { id });
}
