// The measurements of a ready worker in the cluster bench: each puts its load on the worker's queue
// and returns samples by name. The client is this process, the same for every worker.
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../../ts/client/mod.ts";
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { WorkerProcess } from "./variants.ts";

export interface Bench {
  readonly client: Client;
  readonly worker: WorkerProcess;
  readonly taskQueue: string;
  /** CPU seconds of the server so far. */
  readonly serverCpu: () => number;
  /** How long a measure of throughput takes. */
  readonly seconds: number;
  /** Workflows in flight for throughput. */
  readonly inFlight: number;
  /** Signals and updates at low load, one after the other. */
  readonly messages: number;
}

export type Samples = { [name: string]: number[] };

let made = 0;
export const id = (what: string): string => `${what}-${process.pid}-${made++}`;

const PATIENCE_MS = 60_000;

/**
 * Lanes that do one thing after the other for a time: what was done per second, and the CPU that
 * one of them took.
 */
async function throughput(
  { worker, serverCpu, seconds, inFlight }: Bench,
  one: () => Promise<void>,
) {
  let done = 0;
  let over = false;
  const lanes = Array.from({ length: inFlight }, async () => {
    while (!over) {
      await one();
      done++;
    }
  });
  const all = Promise.all(lanes);
  try {
    // The first ones fill the lanes, caches and polls: a fresh server may think for seconds about
    // the very first one.
    await Promise.race([delay(Math.min(800, seconds * 200)), all]);
    for (
      const until = performance.now() + PATIENCE_MS;
      done < inFlight && performance.now() < until;
    ) {
      await Promise.race([delay(50), all]);
    }
    const from = { at: performance.now(), done, worker: worker.cpu(), server: serverCpu() };
    await Promise.race([delay(seconds * 1000), all]);
    // On a machine that is busy with other things a short window may see nothing: it is as long as
    // it takes to see something.
    while (done === from.done && performance.now() - from.at < PATIENCE_MS) {
      await Promise.race([delay(50), all]);
    }
    const took = (performance.now() - from.at) / 1000;
    const count = done - from.done;
    if (count === 0) {
      throw new Error(
        `the worker "${worker.variant}" finished nothing within ${took.toFixed(1)} s`,
      );
    }
    return {
      perSecond: count / took,
      worker: (worker.cpu() - from.worker) / count * 1000,
      server: (serverCpu() - from.server) / count * 1000,
    };
  } finally {
    over = true;
    await all;
  }
}

async function expect(
  bench: Bench,
  workflow: string,
  args: unknown[],
  result: unknown,
): Promise<void> {
  const got = await bench.client.execute(workflow, {
    id: id(workflow),
    taskQueue: bench.taskQueue,
    args,
  });
  if (got !== result) {
    throw new Error(
      `${workflow} returned ${JSON.stringify(got)} instead of ${JSON.stringify(result)}`,
    );
  }
}

async function hello(bench: Bench): Promise<Samples> {
  const { perSecond, worker, server } = await throughput(
    bench,
    () => expect(bench, "hello", ["world"], "hello, world"),
  );
  return {
    "hello: workflows/s": [perSecond],
    "hello: worker's CPU s per 1,000": [worker],
    "hello: server's CPU s per 1,000": [server],
  };
}

async function timers(bench: Bench): Promise<Samples> {
  const { perSecond, worker } = await throughput(bench, async () => {
    const handle = await bench.client.start("timerAndSignal", {
      id: id("timer"),
      taskQueue: bench.taskQueue,
      args: [],
    });
    await handle.signal("go");
    await handle.result();
  });
  return {
    "timer and signal: workflows/s": [perSecond],
    "timer and signal: worker's CPU s per 1,000": [worker],
  };
}

/**
 * Activities of a workflow: few where many workflows run, because only those count that have ended.
 */
const FEW = 5;
const STEPS = 10;

async function parallelSteps(bench: Bench): Promise<Samples> {
  const { perSecond, worker } = await throughput(
    bench,
    () => expect(bench, "steps", [FEW], FEW * (FEW - 1) / 2),
  );
  return {
    "many workflows: activities/s": [perSecond * FEW],
    "many workflows: worker's CPU s per 1,000 activities": [worker / FEW],
  };
}

async function oneByOne(bench: Bench): Promise<Samples> {
  const rates: number[] = [];
  const until = performance.now() + bench.seconds * 1000;
  do {
    const from = performance.now();
    await expect(bench, "steps", [STEPS], STEPS * (STEPS - 1) / 2);
    rates.push(STEPS / ((performance.now() - from) / 1000));
  } while (performance.now() < until);
  return { "one workflow: activities/s": [median(rates)] };
}

/**
 * Signals to a workflow that waits: from the signal's event to the end of the task that took it, by
 * the server's own clock.
 */
async function signals(bench: Bench): Promise<Samples> {
  const { client, taskQueue, messages } = bench;
  const handle = await client.start("listener", { id: id("signals"), taskQueue, args: [] });
  await handle.update("add", 1);
  for (let i = 0; i < messages; i++) {
    await handle.signal("bump", 1);
    await delay(15);
  }
  await handle.signal("finish");
  const total = await handle.result();
  if (total !== messages + 1) {
    throw new Error(`the listener has counted to ${total} instead of ${messages + 1}`);
  }
  const times: number[] = [];
  const open: number[] = [];
  for (const event of (await handle.fetchHistory()).events) {
    const at = Number(event.eventTime?.seconds ?? 0) * 1000 + (event.eventTime?.nanos ?? 0) / 1e6;
    if (event.eventType === EventType.WORKFLOW_EXECUTION_SIGNALED) open.push(at);
    if (event.eventType === EventType.WORKFLOW_TASK_COMPLETED) {
      times.push(...open.splice(0).map((from) => at - from));
    }
  }
  return {
    "signal to its activation's end: p50 ms": [quantile(times, 0.5)],
    "signal to its activation's end: p99 ms": [quantile(times, 0.99)],
  };
}

/** Updates to a workflow that waits: from the client's call to its result. */
async function updates(bench: Bench): Promise<Samples> {
  const { client, taskQueue, messages } = bench;
  const handle = await client.start("listener", { id: id("updates"), taskQueue, args: [] });
  const times: number[] = [];
  await handle.update("add", 0);
  for (let i = 0; i < messages; i++) {
    const from = performance.now();
    const total = await handle.update("add", 1);
    times.push(performance.now() - from);
    if (total !== i + 1) throw new Error(`update ${i + 1} returned ${total}`);
    await delay(10);
  }
  await handle.signal("finish");
  await handle.result();
  return {
    "update round trip: p50 ms": [quantile(times, 0.5)],
    "update round trip: p99 ms": [quantile(times, 0.99)],
  };
}

/**
 * From a fresh process to the end of a workflow that waited for it, and the CPU seconds until then.
 */
export async function start(
  client: Client,
  taskQueue: string,
  spawn: () => WorkerProcess,
): Promise<Samples> {
  const handle = await client.start("nothing", { id: id("start"), taskQueue, args: [] });
  const result = handle.result({ timeout: "1 minute" });
  const from = performance.now();
  const worker = spawn();
  try {
    await Promise.race([result, worker.ready().then(() => result)]);
    return {
      "start to first task: ms": [performance.now() - from],
      "start to first task: CPU s": [worker.cpu()],
    };
  } finally {
    await worker.stop();
  }
}

/** Brings a fresh worker to the speed that it keeps. */
export async function warmUp(bench: Bench): Promise<void> {
  const until = performance.now() + Math.min(3000, bench.seconds * 750);
  const lane = async () => {
    do {
      await expect(bench, "hello", ["world"], "hello, world");
      await expect(bench, "steps", [1], 0);
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: bench.inFlight }, lane));
}

export const MEASURES: { readonly [name: string]: (bench: Bench) => Promise<Samples> } = {
  hello,
  timers,
  parallel: parallelSteps,
  sequential: oneByOne,
  signals,
  updates,
};

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
