// Places to run the same tests: an embedded engine in memory, one on a SQLite file, and a Temporal
// cluster (tests/system/interop).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client, silentLogger } from "../../ts/client/mod.ts";
import { EmbeddedEngine, type EmbeddedEngineOptions, MemoryStore } from "../../ts/engine/mod.ts";
import type { RawService } from "../../ts/service/raw.ts";
import { Worker, type WorkerOptions } from "../../ts/worker/mod.ts";

export interface Setting {
  readonly service: RawService;
  readonly client: Client;
  readonly taskQueue: string;
  readonly embedded: boolean;
  /** A workflow id that no other test has. */
  id(name: string): string;
  /** Runs a worker for the time of `body`. */
  work<T>(options: Partial<WorkerOptions>, body: (worker: Worker) => Promise<T>): Promise<T>;
}

/** Tests by their names, for any service. */
export interface Suite {
  readonly [name: string]: (setting: Setting) => Promise<void>;
}

/** Declares a test on some service. */
export type OnService = (name: string, body: (setting: Setting) => Promise<void>) => void;

export const STORES = ["memory", "sqlite"] as const;
export type StoreKind = typeof STORES[number];

export function settingOf(
  service: RawService,
  embedded: boolean,
  taskQueue: string,
  id: (name: string) => string,
): Setting {
  return {
    service,
    client: new Client({ service, taskQueue, logger: silentLogger }),
    taskQueue,
    embedded,
    id,
    async work(options, body) {
      const worker = await Worker.create({ service, taskQueue, logger: silentLogger, ...options });
      return await worker.runUntil(() => body(worker));
    },
  };
}

export async function withEngine(
  kind: StoreKind,
  options: Omit<EmbeddedEngineOptions, "path" | "store">,
  body: (setting: Setting) => Promise<void>,
): Promise<void> {
  const folder = kind === "sqlite" ? mkdtempSync(join(tmpdir(), "temporalex-test-")) : undefined;
  const place = folder === undefined
    ? { store: new MemoryStore() }
    : { path: join(folder, "engine.sqlite") };
  const engine = await EmbeddedEngine.open({ ...options, ...place });
  try {
    await body(settingOf(engine, true, "q", (name) => name));
  } finally {
    await engine.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** A test on each kind of store. */
export const onBothStores: OnService = (name, body) => {
  for (const kind of STORES) test(`${name} (${kind})`, () => withEngine(kind, {}, body));
};
