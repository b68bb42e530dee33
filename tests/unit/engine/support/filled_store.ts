// Stores with runs of several kinds, for tests of what looks after stores.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, silentLogger } from "../../../../ts/client/mod.ts";
import { ApplicationFailure } from "../../../../ts/converter/mod.ts";
import { EmbeddedEngine } from "../../../../ts/engine/mod.ts";
import { checkStore, StoreReader } from "../../../../ts/engine/maintenance/mod.ts";
import { builtins } from "../../../../ts/engine/sqlite/builtins.ts";
import type { SqlDatabase } from "../../../../ts/engine/sqlite/driver.ts";
import { loadLibrary } from "../../../../ts/engine/sqlite/libraries.ts";
import { Worker } from "../../../../ts/worker/mod.ts";
import {
  continueAsNew,
  executeChild,
  externalWorkflow,
  parallel,
  signal,
  sleep,
  startChild,
  upsertMemo,
  waitForSignal,
  workflow,
} from "../../../../ts/workflow/mod.ts";

export const go = signal("go");
export const completes = workflow("Completes", async (name: string) => {
  await sleep("5ms");
  return `done ${name}`;
});
export const fails = workflow("Fails", (): Promise<void> => {
  throw new ApplicationFailure("no", { type: "No" });
});
export const twice = workflow("Twice", async (n: number) => n === 0 ? "end" : continueAsNew(n - 1));
export const waits = workflow("Waits", async () => await waitForSignal(go));
export const family = workflow("Family", async () => {
  upsertMemo({ children: 3, gone: null });
  const left = await startChild(waits, {
    id: "left",
    parentClosePolicy: "ABANDON",
    memo: { note: "alone" },
  });
  const [done, failed] = await parallel([
    () => executeChild(twice, { id: "chain", args: [1] }),
    () => executeChild(fails, { id: "failing" }),
  ]);
  await externalWorkflow("left").signal("unheard", left.workflowId);
  return [done.ok && done.value, failed.ok];
});
const workflows = [{ completes, fails, twice, waits, family }];

export interface Filled {
  readonly path: string;
  readonly folder: string;
}

export async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-maintenance-"));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function withEngine<T>(
  path: string,
  body: (client: Client, engine: EmbeddedEngine) => Promise<T>,
  work = true,
): Promise<T> {
  const engine = await EmbeddedEngine.open({ path });
  const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
  const worker = await Worker.create({
    service: engine,
    taskQueue: "q",
    workflows,
    realm: "inline",
    logger: silentLogger,
  });
  try {
    return work ? await worker.runUntil(() => body(client, engine)) : await body(client, engine);
  } finally {
    await worker.shutdown();
    await engine.close();
  }
}

/** A store with four closed workflows (one of them two runs long) and two open ones. */
export const filled = (body: (store: Filled) => Promise<void>) =>
  inFolder(async (folder) => {
    const path = join(folder, "a.sqlite");
    await withEngine(path, async (client) => {
      await client.execute(completes, { id: "c1", args: ["a"], memo: { note: "kept" } });
      await assert.rejects(client.execute(fails, { id: "f1" }));
      await client.execute(twice, { id: "t1", args: [1] });
      const terminated = await client.start(waits, { id: "x1" });
      await terminated.terminate("enough");
      await client.start(waits, { id: "o1" });
      await client.start(waits, { id: "o2" });
    });
    await body({ path, folder });
  });

export function sql(path: string, change: (database: SqlDatabase) => void): void {
  const database = loadLibrary(builtins()!).open(path);
  try {
    change(database);
  } finally {
    database.close();
  }
}

export async function check(path: string, options = {}) {
  const reader = StoreReader.open(path);
  try {
    return await checkStore(reader, options);
  } finally {
    reader.close();
  }
}
