// Every store that this runtime can open, for tests that must hold on all of them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { EmbeddedEngine } from "../../../../ts/engine/embedded_engine.ts";
import { MemoryStore } from "../../../../ts/engine/memory_store.ts";
import type { EmbeddedEngineOptions } from "../../../../ts/engine/options.ts";
import { builtins } from "../../../../ts/engine/sqlite/builtins.ts";
import type { DriverName } from "../../../../ts/engine/sqlite/driver.ts";
import { DRIVER_NAMES, loadLibrary } from "../../../../ts/engine/sqlite/libraries.ts";
import { SqliteStore } from "../../../../ts/engine/sqlite/store.ts";
import type { Store } from "../../../../ts/engine/store.ts";

export interface StoreKind {
  readonly name: string;
  /** Undefined for the memory store. */
  readonly driver?: DriverName;
  /** Why it cannot be tested here; false when it can. */
  readonly skip: string | false;
  open(path: string): Store;
}

/**
 * Node before 22.5 will never have node:sqlite: Deno and newer versions of Node test that driver,
 * so its absence is not a gap here.
 */
const applicable = DRIVER_NAMES.filter((driver) => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return driver !== "node:sqlite" || "deno" in process.versions || major > 22 ||
    (major === 22 && minor >= 5);
});

export const storeKinds: StoreKind[] = [
  { name: "memory", skip: false, open: () => new MemoryStore() },
  ...applicable.map((driver) => ({
    name: driver,
    driver,
    skip: absent(driver),
    open: (path: string) => SqliteStore.open(path, { driver }),
  })),
];

export const sqliteDrivers = applicable.map((driver) => ({ driver, skip: absent(driver) }));

function absent(driver: DriverName): string | false {
  try {
    loadLibrary(builtins()!, driver);
    return false;
  } catch {
    return `${driver} is not available in this runtime`;
  }
}

/** Runs a test in a separate folder. */
export async function inFolder(test: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-store-"));
  try {
    await test(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Opens an engine for the time of `body`. */
export async function whileOpen<T>(
  options: EmbeddedEngineOptions,
  body: (engine: EmbeddedEngine) => Promise<T>,
): Promise<T> {
  const engine = await EmbeddedEngine.open(options);
  try {
    return await body(engine);
  } finally {
    await engine.close();
  }
}
