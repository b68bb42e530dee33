// How a worker stops on a Temporal server that does not end polls when a worker shuts down (up to 1.29): at once where no task is expected,
// and without losing one where tasks arrive all the time. STOPS=300 measures more stops under load.
// takes: 20 s
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Client, type WorkflowHandle } from "../../ts/client/mod.ts";
import { silentLogger } from "../../ts/base/logger.ts";
import { GrpcService } from "../../ts/grpc/grpc_service.ts";
import {
  DefaultLogger,
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  Runtime,
  Worker as CompatWorker,
} from "../../ts/compat/worker/mod.ts";
import { Client as CompatClient } from "../../ts/compat/client/mod.ts";
import { Worker } from "../../ts/worker/mod.ts";
import { TimeoutType } from "../../ts/api/generated/temporal/api/enums/v1/workflow_pb.ts";
import { activities as proxies, workflow } from "../../ts/workflow/mod.ts";
import { until } from "../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { root } from "./support/official.ts";

const skip = noServer;
const workflowsPath = join(root, "tests/compat/worker/modules/calls.ts");
const STOPS = Number(process.env["STOPS"] ?? 8);
/** Polls that end by their own deadline take two and a half seconds more. */
const SOON_MS = 1500;

const { work } = proxies<{ work(n: number): Promise<number> }>({ startToClose: "20s", retry: { maximumAttempts: 1 } });
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

const started = (taskQueue: string) => {
  const activities = { work: (n: number) => Promise.resolve(n) };
  return Worker.create({ service, taskQueue, logger: silentLogger, workflows: [called], activities });
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

test("a worker that waits for tasks stops at once, and loses nothing that comes afterwards", { skip }, async () => {
  const client = new Client({ service, taskQueue: "idle", logger: silentLogger });
  for (let i = 0; i < 3; i++) {
    const worker = await started("idle");
    const running = worker.run();
    const handle = await client.start(called, { id: `idle-${i}`, args: [i] });
    assert.equal(await handle.result(), i);
    // Longer than the longest time without a task that a worker waits for.
    await delay(1100);
    const ms = await timed(() => worker.shutdown());
    await running;
    report(`idle worker stopped after ${ms.toFixed(0)} ms`);
    assert.ok(ms < SOON_MS, `${ms} ms`);
  }
});

test("shutdownForceTime counts the time of tasks, not of polls", { skip }, async () => {
  const { workflow } = new CompatClient({ connection });
  const idle = { a: () => Promise.resolve() };
  const quick = await CompatWorker.create({ connection, taskQueue: "forced", activities: idle, shutdownForceTime: 1 });
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
      await workflow.start("call", { taskQueue: "stuck", workflowId: "stuck", args: ["greet", "Ann"] });
      await until("the activity runs", () => isRunning);
    }),
    GracefulShutdownPeriodExpiredError,
  );
  end();
});

/** Tasks that timed out: those that a worker had been given, and those of a sticky queue. */
async function timeouts(handles: readonly WorkflowHandle<typeof called>[]): Promise<{ lost: string[]; moved: number }> {
  const lost: string[] = [];
  let moved = 0;
  for (const handle of handles) {
    const { events } = await handle.fetchHistory();
    for (const { attributes } of events) {
      if (!/TaskTimedOut/.test(attributes.case ?? "")) continue;
      const { timeoutType } = attributes.value as { readonly timeoutType: TimeoutType };
      // A task of the sticky queue of a worker that has stopped goes to the queue of all workers after some seconds.
      if (timeoutType === TimeoutType.SCHEDULE_TO_START) moved++;
      else lost.push(attributes.case!);
    }
  }
  return { lost, moved };
}

test(`no task is lost with ${STOPS} stops under load`, { skip }, async () => {
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
  const times: number[] = [];
  await steady.runUntil(async () => {
    const loading = load();
    for (let i = 0; i < STOPS; i++) {
      const other = await started("load");
      const running = other.run();
      await delay(200 + (i % 10) * 50);
      times.push(await timed(() => other.shutdown()));
      await running;
    }
    isLoading = false;
    await loading;
    for (const [n, handle] of handles) assert.equal(await handle.result(), n);
  });
  const { lost, moved } = await timeouts([...handles.values()]);
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))]!.toFixed(0);
  report(`${STOPS} stops, ${handles.size} runs, ${refused.length} starts refused, ${lost.length} tasks lost, ${moved} moved`);
  report(`ms: median ${at(0.5)}, 90 % ${at(0.9)}, most ${at(1)}`);
  assert.ok(handles.size > refused.length, String(refused[0]));
  assert.deepEqual(lost, []);
});
