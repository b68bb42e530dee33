// Runs of programs with tables, recorded on an engine with tables, in virtual time.
import type { Database } from "../../../ts/mod.ts";
import { readHistoryFile } from "../../../ts/debug/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import { START } from "./support.ts";

export const TABLES =
  new URL(`./programs/tables.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url)
    .href;

export const MIGRATIONS = [{
  name: "001",
  sql:
    "CREATE TABLE npc (id INTEGER PRIMARY KEY, hp INTEGER NOT NULL); CREATE TABLE log (line TEXT NOT NULL);" +
    "INSERT INTO npc (id, hp) VALUES (7, 100);",
}];

export const REDUCERS = {
  strike(database: Database, npc: number, amount: number): { hp: number } {
    const row = database.get<{ hp: number }>(
      "UPDATE npc SET hp = max(0, hp - ?) WHERE id = ? RETURNING hp",
      amount,
      npc,
    );
    if (row === undefined) throw new RangeError(`npc ${npc} not found`);
    return row;
  },
  logLine(database: Database, line: string): void {
    database.run("INSERT INTO log (line) VALUES (?)", line);
  },
};

/**
 * Runs a workflow to its end, or to its state after `acts`; returns its history. An act:
 * milliseconds after the start, and an action.
 */
export async function liveWithTables(
  type: string,
  args: readonly unknown[],
  acts: readonly (readonly [
    ms: number,
    // deno-lint-ignore no-explicit-any
    act: (handle: any, env: TestEnvironment) => Promise<unknown>,
  ])[] = [],
): Promise<Uint8Array> {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const env = await TestEnvironment.create({
    startTime: START,
    logger: silent,
    reducers: REDUCERS,
    migrations: MIGRATIONS,
  });
  try {
    return await env.runWorker({ workflows: new URL(TABLES) }, async () => {
      const handle = await env.client.start(type as never, { id: "lived", args: args as never });
      await env.advance(0);
      let now = 0;
      for (const [ms, act] of acts) {
        if (ms > now) await env.advance(ms - now);
        now = Math.max(now, ms);
        await act(handle, env);
        await env.advance(0);
      }
      await handle.result().catch(() => undefined);
      return (await readHistoryFile(new TextEncoder().encode(await handle.historyJson()))).bytes;
    });
  } finally {
    await env.dispose();
  }
}
