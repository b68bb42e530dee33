// A store has one writer at a time. The command line and other short-lived programs open it briefly
// (a visit) while no process holds it; an engine that opens it meanwhile waits for their end.
import { hop } from "../platform/hop.ts";
import type { EmbeddedEngineOptions } from "./options.ts";
import type { SqliteOptions } from "./sqlite/open.ts";
import { SqliteStore } from "./sqlite/store.ts";
import type { Store } from "./store.ts";
import { isMomentary, StoreLockedError } from "./store_errors.ts";

/** Longest wait for a visit, which usually takes milliseconds. */
const PATIENCE_MS = 10_000;
/** The same for a holder without a name: it is opening or closing, or its note was removed. */
const NAMELESS_PATIENCE_MS = 2_000;
const PAUSE_MS = 10;
/** Milliseconds that one attempt blocks the thread while another process writes. */
const BUSY_MS = 20;

/** Returns the caller's store, or opens that of the path. */
export function storeOf(
  { store, path, synchronous, driver, visit }: EmbeddedEngineOptions,
): Store | Promise<Store> {
  return store ?? openStore(path!, {
    ...(synchronous !== undefined && { synchronous }),
    ...(driver !== undefined && { driver }),
    ...(visit !== undefined && { visit }),
  });
}

/** Opens a store file, waiting for visits to end. Throws like `SqliteStore.open`. */
export async function openStore(path: string, options: SqliteOptions = {}): Promise<SqliteStore> {
  const began = performance.now();
  for (;;) {
    try {
      return SqliteStore.open(path, { busyMs: BUSY_MS, ...options });
    } catch (e) {
      const patience = e instanceof StoreLockedError && e.holder === undefined
        ? NAMELESS_PATIENCE_MS
        : PATIENCE_MS;
      if (!isMomentary(e) || performance.now() - began > patience) throw e;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS + Math.random() * PAUSE_MS));
    await hop();
  }
}
