// The world's tables, and the functions that change them. A reducer runs in the transaction that
// commits a step of a workflow, so what the map shows and what the workflows know is never apart.
import type { Database, TableMigration } from "temporalex";

export const WIDTH = 48;
export const HEIGHT = 24;

export const migrations: readonly TableMigration[] = [{
  name: "001 world",
  sql: `
    CREATE TABLE npc (
      id INTEGER PRIMARY KEY, x INTEGER NOT NULL, y INTEGER NOT NULL, hp INTEGER NOT NULL,
      ward INTEGER NOT NULL DEFAULT 0, poison INTEGER NOT NULL DEFAULT 0, doing TEXT NOT NULL) STRICT;
    CREATE TABLE threat (id INTEGER PRIMARY KEY, x INTEGER NOT NULL, y INTEGER NOT NULL, hp INTEGER NOT NULL) STRICT;
    CREATE TABLE score (what TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT;`,
}];

export interface Npc {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  readonly hp: number;
  readonly ward: number;
  readonly poison: number;
  readonly doing: string;
}
export interface Threat {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  readonly hp: number;
}

const FULL = 100;

const scored = (database: Database, what: string): void =>
  void database.run(
    "INSERT INTO score VALUES (?, 1) ON CONFLICT (what) DO UPDATE SET count = count + 1",
    what,
  );

/** One step of an NPC; its first one puts it on the map. */
export function walk(database: Database, id: number, x: number, y: number, doing: string): void {
  database.run(
    "INSERT INTO npc (id, x, y, hp, doing) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET x = ?2, y = ?3, doing = ?5",
    ...[id, x, y, FULL, doing],
  );
}

/** A threat comes; returns the NPCs near enough to see it, the nearest first. */
export function threaten(
  database: Database,
  x: number,
  y: number,
  hp: number,
): { threat: number; near: number[] } {
  database.run("INSERT INTO threat (x, y, hp) VALUES (?, ?, ?)", x, y, hp);
  const { threat } = database.get<{ threat: number }>("SELECT last_insert_rowid() AS threat")!;
  const near = database.all<{ id: number }>(
    "SELECT id FROM npc ORDER BY max(abs(x - ?), abs(y - ?)), id LIMIT 5",
    x,
    y,
  );
  return { threat, near: near.map(({ id }) => id) };
}

/**
 * One blow at a threat by an NPC next to it; a ward makes it stronger. Undefined: it is beaten
 * already.
 */
export function strike(database: Database, id: number, threat: number): Threat | undefined {
  const npc = database.get<Npc>("SELECT * FROM npc WHERE id = ?", id)!;
  const there = database.get<Threat>("SELECT * FROM threat WHERE id = ?", threat);
  if (there === undefined) return undefined;
  if (Math.max(Math.abs(npc.x - there.x), Math.abs(npc.y - there.y)) > 1) return there;
  const hp = there.hp - 1 - npc.ward;
  if (hp > 0) {
    database.run("UPDATE threat SET hp = ? WHERE id = ?", hp, threat);
    return { ...there, hp };
  }
  database.run("DELETE FROM threat WHERE id = ?", threat);
  scored(database, "threats beaten");
  return undefined;
}

/** How many wards an NPC has. */
export function ward(database: Database, id: number, stacks: number): void {
  database.run("UPDATE npc SET ward = ? WHERE id = ?", stacks, id);
  if (stacks === 0) scored(database, "wards over");
}

/** Poison takes a point; what is left of it is shown. */
export function poison(database: Database, id: number, left: number, damage: number): void {
  database.run("UPDATE npc SET poison = ?, hp = max(1, hp - ?) WHERE id = ?", left, damage, id);
}
