// The views of SQL against the API: random starts, signals, answers to procedures, cancels and terminations on a store in a file, in virtual
// time that does not move. After every slice of operations, when no task is open, each view is compared with what descriptions and lists
// say: `node dist/tools/soak/sql_views.js`. One JSON line at the end; exit code 1 at the first difference.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { silentLogger } from "../../ts/base/logger.ts";
import { Client } from "../../ts/client/mod.ts";
import { EmbeddedEngine, VirtualClock } from "../../ts/engine/mod.ts";
import { Worker } from "../../ts/worker/mod.ts";
import {
  continueAsNew,
  procedure,
  signal,
  subscribe,
  timer,
  unsubscribe,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    operations: { type: "string", default: "10000" },
    slice: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log("usage: sql_views [--operations 10000] [--slice 100] [--seed 1]\n\n--slice: operations between two comparisons.");
  process.exit(0);
}

const go = signal<[order: string]>("go");
const lives = workflow("lives", async (generation: number): Promise<unknown> => {
  for (;;) {
    const [order] = [await waitForSignal(go)].flat();
    if (order === "timer") void timer(`timer ${generation}`, "1 day");
    else if (order === "procedure") await procedure("compute", [generation, { order }]);
    else if (order === "subscribe") subscribe(go, generation);
    else if (order === "unsubscribe") unsubscribe(go);
    else if (order === "again") return continueAsNew(generation + 1);
    else return order;
  }
});

let state = Number(values.seed);
/** A whole number below `n`. */
function random(n: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (state >>> 8) % n;
}

const folder = mkdtempSync(join(tmpdir(), "temporalex-views-"));
const engine = await EmbeddedEngine.open({
  path: join(folder, "views.sqlite"),
  clock: new VirtualClock(Date.UTC(2030, 0, 1)),
  synchronous: "NORMAL",
});
const common = { service: engine, taskQueue: "views", logger: silentLogger };
const worker = await Worker.create({ ...common, workflows: [lives] });
const client = new Client(common);
const open = new Set<string>();
const ORDERS = ["timer", "timer", "procedure", "subscribe", "unsubscribe", "again", "end"];
let [started, compared, rows] = [0, 0, 0];

async function operate(): Promise<void> {
  const ids = [...open];
  const id = ids[random(Math.max(1, ids.length))];
  const what = random(10);
  if (id === undefined || (what < 2 && ids.length < 100)) {
    const made = `w${started++}`;
    const belonging = random(2) === 0 ? {} : { entityId: String(random(5)), correlationId: `c${random(3)}` };
    await client.start(lives, { id: made, args: [0], ...belonging });
    open.add(made);
    return;
  }
  const handle = client.getHandle(lives, id);
  try {
    if (what < 7) await handle.signal(go, ORDERS[random(ORDERS.length)]!);
    else if (what < 9) await client.completeProcedure({ workflow: id, name: "compute" }, 1);
    else if (random(2) === 0) await handle.cancel();
    else await handle.terminate();
  } catch (error) {
    // It has ended, or waits for no procedure.
    if (!/NotFound/.test((error as Error).name)) throw error;
  }
}

async function quiet(): Promise<void> {
  for (let still = 0; still < 5;) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    const busy = engine.busy || engine.sql("SELECT 1 FROM workflow WHERE status IN ('created', 'running') LIMIT 1").length > 0;
    still = busy ? 0 : still + 1;
  }
}

const STATUSES: { readonly [status: string]: string } = {
  RUNNING: "Suspended",
  COMPLETED: "Completed",
  CONTINUED_AS_NEW: "Completed",
  FAILED: "Failed",
  TERMINATED: "Failed",
  TIMED_OUT: "Failed",
  CANCELED: "Cancelled",
};

async function compare(): Promise<void> {
  const listed: unknown[] = [];
  const procedures: unknown[] = [];
  open.clear();
  for await (const run of client.list()) {
    const { searchAttributes: found } = run;
    const [entity, correlation] = [found["WorkflowEntityId"] ?? null, found["WorkflowCorrelationId"] ?? null];
    listed.push([run.workflowId, run.runId, run.type, STATUSES[run.status] ?? run.status, entity, correlation]);
    if (run.status !== "RUNNING") continue;
    open.add(run.workflowId);
    const described = await client.getHandle(undefined, run.workflowId, run.runId).describe();
    for (const { name } of described.pendingProcedures) procedures.push([run.workflowId, name]);
  }
  const of = (sql: string) => engine.sql(sql).map((row) => Object.values(row));
  const sorted = (list: unknown[]) => list.map((each) => JSON.stringify(each)).sort();
  const workflows = of("SELECT id, run_id, workflow_type, status, entity_id, correlation_id FROM workflow");
  assert.deepEqual(sorted(workflows), sorted(listed));
  assert.deepEqual(sorted(of("SELECT workflow_id, name FROM pending_procedure")), sorted(procedures));
  const timers = await waiting("TIMER_STARTED", ["TIMER_FIRED", "TIMER_CANCELED"]);
  assert.deepEqual(sorted(of("SELECT workflow_id, name FROM workflow_timer")), sorted(timers));
  const subscribed = await client.count(`WorkflowSubscription = 'go:' AND ExecutionStatus = 'Running'`);
  assert.equal(of("SELECT DISTINCT run_id FROM workflow_subscription").length, subscribed);
  compared++;
  rows += workflows.length + timers.length + procedures.length;
}

/** What open runs' histories say is pending, by the names in the events' summaries. */
async function waiting(from: string, to: readonly string[]): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const id of open) {
    const { events } = await client.getHandle(undefined, id).fetchHistory();
    const kind = (number: number, name: string) => number === { TIMER_STARTED: 17, TIMER_FIRED: 18, TIMER_CANCELED: 19 }[name];
    const ended = new Set(
      events.filter((event) => to.some((name) => kind(event.eventType, name)))
        .map((event) => (event.attributes.value as { startedEventId?: bigint } | undefined)?.startedEventId),
    );
    for (const event of events) {
      if (!kind(event.eventType, from) || ended.has(event.eventId)) continue;
      found.push([id, JSON.parse(new TextDecoder().decode(event.userMetadata?.summary?.data))]);
    }
  }
  return found;
}

const began = performance.now();
const operations = Number(values.operations);
await worker.runUntil(async () => {
  for (let done = 1; done <= operations; done++) {
    await operate();
    if (done % Number(values.slice) !== 0 && done !== operations) continue;
    await quiet();
    await compare();
  }
});
await engine.close();
rmSync(folder, { recursive: true, force: true });
const seconds = Math.round((performance.now() - began) / 100) / 10;
console.log(JSON.stringify({ operations, workflows: started, comparisons: compared, rows, differences: 0, seconds }));
