// Reducers of the tests of transact.
import type { Database } from "../../../../ts/engine/mod.ts";

export const migrations = [
  {
    name: "001 npcs",
    sql:
      "CREATE TABLE npc (id INTEGER PRIMARY KEY, name TEXT NOT NULL, hp INTEGER NOT NULL CHECK (hp >= 0)) STRICT",
  },
  {
    name: "002 log",
    sql: "CREATE TABLE combat_log (id INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT",
  },
];

/** Runs of reducers in this process, replays' included if there were any. */
export const ran: string[] = [];

export function spawn(database: Database, name: string, hp: number): number {
  ran.push("spawn");
  database.run("INSERT INTO npc (name, hp) VALUES (?, ?)", name, hp);
  return database.get<{ id: number }>("SELECT last_insert_rowid() AS id")!.id;
}

export function applyDamage(database: Database, id: number, amount: number): { hp: number } {
  ran.push("applyDamage");
  if (database.run("UPDATE npc SET hp = hp - ? WHERE id = ?", amount, id) !== 1) {
    throw new RangeError(`npc ${id} not found`);
  }
  return database.get<{ hp: number }>("SELECT hp FROM npc WHERE id = ?", id)!;
}

export function logLine(database: Database, line: string): void {
  ran.push("logLine");
  database.run("INSERT INTO combat_log (line) VALUES (?)", line);
}

/** Writes first, then throws: what it wrote must not stay. */
export function logAndThrow(database: Database, line: string): void {
  ran.push("logAndThrow");
  database.run("INSERT INTO combat_log (line) VALUES (?)", line);
  throw new TypeError(`not today: ${line}`);
}

export let failures = 0;
/** Fails the first `times` times. */
export function failsAtFirst(database: Database, line: string, times: number): void {
  database.run("INSERT INTO combat_log (line) VALUES (?)", `${line} ${failures}`);
  if (failures++ < times) throw new Error("a bad start");
}

export const waits = async (database: Database): Promise<void> => {
  await Promise.resolve();
  database.run("INSERT INTO combat_log (line) VALUES ('late')");
};

export function writesEngine(database: Database): void {
  database.run("UPDATE runs SET status = 2");
}
