// An embedded engine for a test, in memory or on a SQLite file, with client and worker.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client, silentLogger } from "../../ts/client/mod.ts";
import { EmbeddedEngine, type EmbeddedEngineOptions, MemoryStore } from "../../ts/engine/mod.ts";
import { Worker, type WorkerOptions } from "../../ts/worker/mod.ts";

export const STORES = ["memory", "sqlite"] as const;
export type StoreKind = typeof STORES[number];

export interface Setting {
  engine: EmbeddedEngine;
  client: Client;
  /** Runs a worker for the time of `body`. */
  work<T>(options: Partial<WorkerOptions>, body: (worker: Worker) => Promise<T>): Promise<T>;
}

export async function withEngine(
  kind: StoreKind,
  options: Omit<EmbeddedEngineOptions, "path" | "store">,
  body: (setting: Setting) => Promise<void>,
): Promise<void> {
  const folder = kind === "sqlite" ? mkdtempSync(join(tmpdir(), "temporalex-test-")) : undefined;
  const place = folder === undefined ? { store: new MemoryStore() } : { path: join(folder, "engine.sqlite") };
  const engine = await EmbeddedEngine.open({ ...options, ...place });
  try {
    await body({
      engine,
      client: new Client({ service: engine, taskQueue: "q", logger: silentLogger }),
      async work(more, run) {
        const worker = await Worker.create({ service: engine, taskQueue: "q", logger: silentLogger, ...more });
        return await worker.runUntil(() => run(worker));
      },
    });
  } finally {
    await engine.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** A test on each kind of store. */
export function onBothStores(name: string, body: (setting: Setting) => Promise<void>): void {
  for (const kind of STORES) test(`${name} (${kind})`, () => withEngine(kind, {}, body));
}

/** Asks until the answer is yes; fails after ten seconds. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 10_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`this did not happen within ten seconds: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
