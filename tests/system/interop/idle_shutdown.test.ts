// How a worker stops on a Temporal server that does not end polls when a worker shuts down (up to
// 1.29): at once where no task is expected, and without losing one where tasks arrive all the time.
// STOPS=300 measures 300 stops under load.
// takes: 20 s
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Client, type WorkflowHandle } from "../../../ts/client/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import {
  DefaultLogger,
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  Runtime,
  Worker as CompatWorker,
} from "../../../ts/compat/worker/mod.ts";
import { Client as CompatClient } from "../../../ts/compat/client/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { activities as proxies, workflow } from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { root } from "./support/official.ts";

const skip = noServer;
const workflowsPath = join(root, "tests/unit/compat/worker/modules/calls.ts");
const STOPS = Number(process.env["STOPS"] ?? 0);
/**
 * A machine whose responses are late by a tenth of a second may lose a task, so the load is a
 * measurement.
 */
const noLoad = skip !== false ? skip : STOPS === 0 ? "a measurement (set STOPS=300)" : false;
/** Polls that end by their own deadline take four seconds from the start of a worker. */
const SOON_MS = 2400;

const { work } = proxies<{ work(n: number): Promise<number> }>({
  startToClose: "20s",
  retry: { maximumAttempts: 1 },
});
const called = workflow("Called", async (n: number) => await work(n));

let server: DevServer, service: GrpcService, connection: NativeConnection;

before(async () => {
  if (skip !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  Runtime.install({ logger: new DefaultLogger("ERROR") });
  connection = await NativeConnection.connect({ address: server.address });
});

after(async () => {
  service?.close();
  await connection?.close();
  await server?.stop();
  await Runtime._instance?.shutdown();
});

const started = (taskQueue: string, identity = "steady") => {
  const activities = { work: (n: number) => Promise.resolve(n) };
  return Worker.create({
    service,
    taskQueue,
    identity,
    logger: silentLogger,
    workflows: [called],
    activities,
  });
};

/** Milliseconds that a call takes. */
async function timed(call: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await call();
  return performance.now() - from;
}

/** Writes a figure, where more than the usual number of stops is asked for. */
function report(figure: string): void {
  if (process.env["STOPS"] !== undefined) console.log(figure);
}

test("an idle worker stops at once and loses no later task", { skip }, async () => {
  const client = new Client({ service, taskQueue: "idle", logger: silentLogger });
  for (let i = 0; i < 3; i++) {
    const worker = await started("idle");
    const running = worker.run();
    const handle = await client.start(called, { id: `idle-${i}`, args: [i] });
    assert.equal(await handle.result(), i);
    // Longer than the longest time without a task that a worker waits for.
    await delay(2600);
    const ms = await timed(() => worker.shutdown());
    await running;
    report(`idle worker stopped after ${ms.toFixed(0)} ms`);
    assert.ok(ms < SOON_MS, `${ms} ms`);
  }
});

test("shutdownForceTime counts the time of tasks, not of polls", { skip }, async () => {
  const { workflow } = new CompatClient({ connection });
  const idle = { a: () => Promise.resolve() };
  const quick = await CompatWorker.create({
    connection,
    taskQueue: "forced",
    activities: idle,
    shutdownForceTime: 1,
  });
  assert.ok(await timed(() => quick.runUntil(() => delay(100))) < SOON_MS);
  let isRunning = false;
  let end = () => {};
  const greet = () => {
    isRunning = true;
    return new Promise<void>((resolve) => end = resolve);
  };
  const options = { connection, taskQueue: "stuck", workflowsPath, activities: { greet } };
  const stuck = await CompatWorker.create({ ...options, shutdownForceTime: 50 });
  await assert.rejects(
    stuck.runUntil(async () => {
      await workflow.start("call", {
        taskQueue: "stuck",
        workflowId: "stuck",
        args: ["greet", "Ann"],
      });
      await until("the activity runs", () => isRunning);
    }),
    GracefulShutdownPeriodExpiredError,
  );
  end();
});

interface Lost {
  readonly task: string;
  /** Of the worker that the task was given to. */
  readonly identity: string;
  readonly startedAtMs: number;
}

/**
 * Tasks that timed out: those that a worker had been given, and the number of those of sticky
 * queues.
 */
async function timeouts(
  handles: Iterable<WorkflowHandle<typeof called>>,
): Promise<{ lost: Lost[]; moved: number }> {
  const lost: Lost[] = [];
  let moved = 0;
  for (const handle of handles) {
    const { events } = await handle.fetchHistory();
    for (const { attributes } of events) {
      if (
        attributes.case !== "workflowTaskTimedOutEventAttributes" &&
        attributes.case !== "activityTaskTimedOutEventAttributes"
      ) {
        continue;
      }
      const started = events[Number(attributes.value.startedEventId) - 1];
      // A task of the sticky queue of a worker that has stopped goes to the queue of all workers
      // after some seconds.
      if (started === undefined) moved++;
      else {
        const { identity } = started.attributes.value as { readonly identity: string };
        const { seconds, nanos } = started.eventTime!;
        lost.push({
          task: attributes.case,
          identity,
          startedAtMs: Number(seconds) * 1000 + nanos / 1e6,
        });
      }
    }
  }
  return { lost, moved };
}

test(`no task is lost with ${STOPS} stops under load`, { skip: noLoad }, async () => {
  const client = new Client({ service, taskQueue: "load", logger: silentLogger });
  const steady = await started("load");
  const handles = new Map<number, WorkflowHandle<typeof called>>();
  /** A server under load refuses some starts. */
  const refused: unknown[] = [];
  let isLoading = true;
  const load = async () => {
    for (let n = 0; isLoading; n++) {
      try {
        handles.set(n, await client.start(called, { id: `load-${n}`, args: [n] }));
      } catch (error) {
        refused.push(error);
      }
      // From bursts to gaps of half a second.
      await delay(n % 40 < 30 ? 10 + (n % 7) * 10 : 500 * Math.random());
    }
  };
  const times: number[] = [], failed: number[] = [];
  const stopping = new Map<string, number>();
  await steady.runUntil(async () => {
    const loading = load();
    for (let i = 0; i < STOPS; i++) {
      const other = await started("load", `stopped-${i}`);
      const running = other.run();
      await delay(200 + (i % 10) * 50);
      stopping.set(`stopped-${i}`, Date.now());
      times.push(await timed(() => other.shutdown()));
      await running;
    }
    isLoading = false;
    await loading;
    for (const [n, handle] of handles) {
      await handle.result().then((result) => assert.equal(result, n), () => failed.push(n));
    }
  });
  const { lost, moved } = await timeouts(handles.values());
  for (const { task, identity, startedAtMs } of lost) {
    report(
      `lost ${task} of ${identity}: given ${
        startedAtMs - (stopping.get(identity) ?? 0)
      } ms after the stop began`,
    );
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))]!.toFixed(0);
  report(
    `${STOPS} stops, ${handles.size} runs, ${refused.length} starts refused, ${lost.length} tasks lost, ${moved} moved`,
  );
  report(`ms: median ${at(0.5)}, 90 % ${at(0.9)}, most ${at(1)}`);
  assert.ok(handles.size > refused.length, String(refused[0]));
  assert.deepEqual([lost, failed], [[], []]);
});
