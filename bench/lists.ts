// What lists and counts cost in a store with many runs, and the writes that fill it: `npm run bench
// -- lists [--runs=110000] [--stores=memory,libsql,...]`. CPU milliseconds of this thread, the best
// of several calls. Prints JSON.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import {
  CountWorkflowExecutionsRequestSchema,
  ListWorkflowExecutionsRequestSchema,
  ListWorkflowExecutionsResponseSchema,
} from "../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { EmbeddedEngine, MemoryStore, SqliteStore, type Store } from "../ts/engine/mod.ts";
import { hostMethods } from "../ts/engine/host_methods.ts";
import { builtins } from "../ts/engine/sqlite/builtins.ts";
import type { DriverName } from "../ts/engine/sqlite/driver.ts";
import { DRIVER_NAMES, loadLibrary } from "../ts/engine/sqlite/libraries.ts";
import type { RunWrite } from "../ts/engine/store.ts";

const option = (name: string, otherwise: string) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise;
if (process.argv.includes("--help")) {
  console.log(
    `usage: npm run bench -- lists [options]

Measures lists and counts in a store with many runs, and the writes that fill it. Prints JSON: CPU
milliseconds, the best of several calls.

--runs=N       runs in each store (default 110000)
--calls=N      calls of each query (default 5)
--stores=LIST  stores, separated by commas (default memory,${DRIVER_NAMES.join(",")})

Example: npm run bench -- lists --runs=10000 --stores=memory
Exit code: 0 measured; 1 a store or query failed.`,
  );
  process.exit(0);
}
const runs = Number(option("runs", "110000"));
const calls = Number(option("calls", "5"));
const stores = option("stores", ["memory", ...DRIVER_NAMES].join(",")).split(",");

const QUERIES = [
  "",
  "ExecutionStatus = 'Running'",
  "ExecutionStatus = 'Completed'",
  "ExecutionStatus = 'Failed'",
  "ExecutionStatus != 'Running'",
  "ExecutionStatus IN ('Failed', 'Completed')",
  "WorkflowType = 'Order'",
  "WorkflowType = 'Rare'",
  "WorkflowType = 'Order' AND ExecutionStatus = 'Completed'",
  "WorkflowType = 'Order' AND ExecutionStatus = 'Terminated'",
  "WorkflowType IN ('Order', 'Rare')",
  "CloseTime IS NULL",
  "CloseTime IS NOT NULL",
  "CloseTime > '2025-07-20T09:00:00Z'",
  "CloseTime BETWEEN '2025-07-20T08:40:00Z' AND '2025-07-20T08:41:00Z'",
  "ExecutionStatus = 'Completed' AND CloseTime < '2025-07-20T08:30:00Z'",
  "WorkflowId = 'order-77' AND ExecutionStatus = 'Completed'",
  "WorkflowId STARTS_WITH 'order-777' AND ExecutionStatus = 'Completed'",
  "WorkflowType = 'Order' AND StartTime > '2025-07-20T09:00:00Z'",
  "ExecutionStatus = 'Completed' AND StartTime > '2025-07-20T09:00:00Z'",
];
const NONE = new Uint8Array(0);
// One field that no reader knows.
const HEAD = Uint8Array.from([
  0xa2,
  0x3e,
  0xac,
  0x02,
  ...Uint8Array.from({ length: 300 }, (_, i) => (i * 31) % 251),
]);
const EVENTS = Uint8Array.from([
  0x0a,
  0xc8,
  0x01,
  ...Uint8Array.from({ length: 200 }, (_, i) => i % 251),
]);
const START = 1_753_000_000_000;

/** One run in eleven is open; most others completed. */
function write(run: number, step: "create" | "next" | "close"): RunWrite {
  const historyLength = step === "create" ? 1 : step === "next" ? 2 : 3;
  const open = step !== "close";
  const runId = `0197e0a4-0000-7000-8000-${String(run).padStart(12, "0")}`;
  const row = {
    ...{
      workflowId: `order-${run}`,
      runId,
      workflowType: run % 1000 === 7 ? "Rare" : run % 5 === 0 ? "Refund" : "Order",
    },
    ...{
      taskQueue: "orders",
      status: open ? 1 : run % 97 === 0 ? 3 : run % 1013 === 0 ? 5 : 2,
      startTimeMs: START + run * 50,
    },
    ...{
      closeTimeMs: open ? 0 : START + run * 50 + (run % 7) * 1000,
      historyLength,
      historySizeBytes: 200 * historyLength,
    },
    ...{
      // Not due when the file is opened.
      wakeAtMs: open ? START + 1e12 + run : 0,
      ready: step === "create",
      firstRunId: runId,
      nextRunId: "",
    },
    ...{ memo: NONE, searchAttributes: NONE },
  };
  const append = [{ firstEventId: historyLength, lastEventId: historyLength, events: EVENTS }];
  return { row, head: HEAD, append, put: [], remove: [], create: step === "create" };
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const round = (n: number) => Math.round(n * 100) / 100;

function timed(body: () => void): number {
  let best = Infinity;
  for (let i = 0; i < calls; i++) {
    const began = cpuMs();
    body();
    best = Math.min(best, cpuMs() - began);
  }
  return round(best);
}

/** CPU microseconds of one write in commits of 100 and of 1. */
function fill(store: Store): object {
  const spent = { create: 0, next: 0, close: 0 };
  const counted = { create: 0, next: 0, close: 0 };
  const steps = ["create", "next", "close"] as const;
  for (let from = 0; from < runs; from += 100) {
    const ids = Array.from({ length: Math.min(100, runs - from) }, (_, i) => from + i);
    for (const step of steps) {
      const writes = ids.filter((run) => step !== "close" || run % 11 !== 0).map((run) =>
        write(run, step)
      );
      const began = cpuMs();
      store.commit(writes);
      spent[step] += cpuMs() - began;
      counted[step] += writes.length;
    }
  }
  return Object.fromEntries(
    steps.map((step) => [`${step}Micros`, round((spent[step] / counted[step]) * 1000)]),
  );
}

async function measure(store: Store): Promise<object> {
  const writes = fill(store);
  const methods = hostMethods({
    ...{ store, namespace: "default", version: "bench", forget() {} },
    call: () => Promise.reject(new Error("not called")),
  });
  const list = (query: string, nextPageToken: Uint8Array) =>
    methods.listWorkflowExecutions!(
      toBinary(
        ListWorkflowExecutionsRequestSchema,
        create(ListWorkflowExecutionsRequestSchema, { query, pageSize: 100, nextPageToken }),
      ),
    ) as Uint8Array;
  const count = (query: string) =>
    methods.countWorkflowExecutions!(
      toBinary(
        CountWorkflowExecutionsRequestSchema,
        create(CountWorkflowExecutionsRequestSchema, { query }),
      ),
    );
  const queries: Record<string, object> = {};
  for (const query of QUERIES) {
    let token: Uint8Array = NONE;
    for (let page = 0; page < 3; page++) {
      token = fromBinary(ListWorkflowExecutionsResponseSchema, list(query, token)).nextPageToken;
      if (token.length === 0) break;
    }
    queries[query] = {
      listMs: timed(() => void list(query, NONE)),
      ...(token.length > 0 && { fourthPageMs: timed(() => void list(query, token)) }),
      countMs: timed(() => void count(query)),
      countByStatusMs: timed(() => void count(`${query} GROUP BY ExecutionStatus`)),
    };
  }
  return { writes, queries };
}

/** Milliseconds until an engine has opened the file, and its heap then. */
async function opened(folder: string): Promise<object> {
  const began = performance.now();
  const engine = await EmbeddedEngine.open({ store: SqliteStore.open(join(folder, "store.db")) });
  const openMs = round(performance.now() - began);
  const heapMiB = round(process.memoryUsage().heapUsed / 2 ** 20);
  await engine.close();
  return { openMs, heapMiB };
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
  const folder = mkdtempSync(join(tmpdir(), "temporalex-bench-"));
  const store = driver === undefined
    ? new MemoryStore()
    : SqliteStore.open(join(folder, "store.db"), { driver, synchronous: "NORMAL" });
  try {
    const measured = await measure(store);
    store.close();
    results.push({ store: name, ...measured, ...(driver !== undefined && await opened(folder)) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
console.log(JSON.stringify({ bench: "lists", runs, calls, results }, undefined, 2));
