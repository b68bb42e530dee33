// The tables that a fight changes, and the functions that change them, each in the transaction of a
// step of the fight.
import type { Database, TableMigration } from "temporalex";

export const migrations: readonly TableMigration[] = [{
  name: "001 combat",
  sql: `
    CREATE TABLE npc (id INTEGER PRIMARY KEY, hp INTEGER NOT NULL CHECK (hp >= 0)) STRICT;
    CREATE TABLE effect (id INTEGER PRIMARY KEY, npc INTEGER NOT NULL REFERENCES npc, kind TEXT NOT NULL) STRICT;
    CREATE TABLE combat_log (id INTEGER PRIMARY KEY, npc INTEGER NOT NULL, what TEXT NOT NULL) STRICT;
    INSERT INTO npc (id, hp) VALUES (1, 100), (2, 100);`,
}];

/**
 * Returns the remaining hit points; never below 0. Throws a RangeError if the npc does not exist.
 */
export function applyDamage(database: Database, npc: number, amount: number): number {
  const row = database.get<{ hp: number }>(
    "UPDATE npc SET hp = max(0, hp - ?) WHERE id = ? RETURNING hp",
    amount,
    npc,
  );
  if (row === undefined) throw new RangeError(`npc ${npc} not found`);
  return row.hp;
}

export function spawnEffect(database: Database, npc: number, kind: string): void {
  database.run("INSERT INTO effect (npc, kind) VALUES (?, ?)", npc, kind);
}

export function logCombatEvent(database: Database, npc: number, what: string): void {
  database.run("INSERT INTO combat_log (npc, what) VALUES (?, ?)", npc, what);
}
