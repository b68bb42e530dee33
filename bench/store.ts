// Commits per second of every store, alone: `npm run bench -- store [--seconds=1] [--batches=1,64]
// [--stores=memory,libsql,...]`. A write is what one step of a workflow costs the store: its row
// and head, one batch of two events, one item put and one removed. Prints JSON.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { MemoryStore, SqliteStore, type Store, type Synchronous } from "../ts/engine/mod.ts";
import type { RunRow, RunWrite } from "../ts/engine/store.ts";
import { builtins } from "../ts/engine/sqlite/builtins.ts";
import type { DriverName } from "../ts/engine/sqlite/driver.ts";
import { DRIVER_NAMES, loadLibrary } from "../ts/engine/sqlite/libraries.ts";

const option = (name: string, otherwise: string) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise;
if (process.argv.includes("--help")) {
  console.log(
    `usage: npm run bench -- store [--seconds=1] [--batches=1,64] [--stores=memory,${
      DRIVER_NAMES.join(",")
    }] [--runs=64]`,
  );
  process.exit(0);
}
const seconds = Number(option("seconds", "1"));
const batches = option("batches", "1,64").split(",").map(Number);
const stores = option("stores", ["memory", ...DRIVER_NAMES].join(",")).split(",");
const runs = Number(option("runs", "64"));

const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 31) % 251);
const HEAD = bytes(300);
const ITEM = bytes(150);
// One entry of field 1 that fills the batch, twice: two events as far as the store can see.
const EVENTS = Uint8Array.from([
  ...[0x0a, 0xc8, 0x01],
  ...bytes(200),
  ...[0x0a, 0xc8, 0x01],
  ...bytes(200),
]);
const NONE = new Uint8Array(0);

function row(run: number, historyLength: number): RunRow {
  return {
    workflowId: `order-${run}`,
    runId: `0197e0a4-0000-7000-8000-${String(run).padStart(12, "0")}`,
    workflowType: "Order",
    taskQueue: "orders",
    status: 1,
    startTimeMs: 1_753_000_000_000 + run,
    closeTimeMs: 0,
    historyLength,
    historySizeBytes: historyLength * 200,
    wakeAtMs: 1_753_000_060_000 + historyLength,
    ready: true,
    firstRunId: `0197e0a4-0000-7000-8000-${String(run).padStart(12, "0")}`,
    nextRunId: "",
    memo: NONE,
    searchAttributes: NONE,
  };
}

/** The next step of a run. */
function step(run: number, length: number): RunWrite {
  const [first, last] = [length + 1, length + 2];
  return {
    row: row(run, last),
    head: HEAD,
    append: [{ firstEventId: first, lastEventId: last, events: EVENTS }],
    put: [{ kind: 1, id: String(last), value: ITEM }],
    remove: length === 0 ? [] : [{ kind: 1, id: String(length), value: NONE }],
    create: length === 0,
  };
}

function measure(
  store: Store,
  batch: number,
): { commitsPerSecond: number; writesPerSecond: number; microsPerWrite: number } {
  const lengths = new Array<number>(runs).fill(0);
  let next = 0;
  const commit = (size: number) => {
    const writes: RunWrite[] = [];
    for (let i = 0; i < size; i++) {
      const run = next++ % runs;
      writes.push(step(run, lengths[run]!));
      lengths[run]! += 2;
    }
    store.commit(writes);
  };
  commit(runs);
  for (let i = 0; i < 50; i++) commit(batch);
  const began = performance.now();
  let commits = 0;
  do {
    commit(batch);
    commits++;
  } while (performance.now() - began < seconds * 1000);
  const ms = performance.now() - began;
  const writes = commits * batch;
  return {
    commitsPerSecond: Math.round((commits / ms) * 1000),
    writesPerSecond: Math.round((writes / ms) * 1000),
    microsPerWrite: Math.round((ms / writes) * 10_000) / 10,
  };
}

const results: object[] = [];
for (const name of stores) {
  const driver = name === "memory" ? undefined : name as DriverName;
  try {
    if (driver !== undefined) loadLibrary(builtins()!, driver);
  } catch (e) {
    results.push({ store: name, skipped: (e as Error).message });
    continue;
  }
  for (
    const synchronous of (driver === undefined ? ["NORMAL"] : ["FULL", "NORMAL"]) as Synchronous[]
  ) {
    for (const batch of batches) {
      const folder = mkdtempSync(join(tmpdir(), "temporalex-bench-"));
      const store = driver === undefined
        ? new MemoryStore()
        : SqliteStore.open(join(folder, "store.db"), { driver, synchronous });
      try {
        results.push({
          store: name,
          ...(driver !== undefined && { synchronous }),
          batch,
          ...measure(store, batch),
        });
      } finally {
        store.close();
        rmSync(folder, { recursive: true, force: true });
      }
    }
  }
}
const runtime = "Deno" in globalThis
  ? `deno ${(globalThis as unknown as { Deno: { version: { deno: string } } }).Deno.version.deno}`
  : `node ${process.versions.node}`;
console.log(JSON.stringify({ bench: "store", runtime, runs, seconds, results }, undefined, 2));
