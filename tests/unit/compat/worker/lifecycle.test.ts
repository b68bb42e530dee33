// The life of a worker of `temporalex/compat/worker`: states, statuses, what it runs for, plugins,
// its connection.
// takes: 14 s
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import process from "node:process";
import { after, test } from "node:test";
import { cancelled, Context, heartbeat } from "../../../../ts/compat/activity/mod.ts";
import {
  CombinedWorkerRunError,
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  PromiseCompletionTimeoutError,
  Runtime,
  Worker,
  type WorkerPlugin,
} from "../../../../ts/compat/worker/mod.ts";
import { until } from "../../../support/until.ts";
import { lines, modulePath, setting } from "./support.ts";

const { client, worker, close, connection } = await setting();
after(close);
let count = 0;
const queue = () => `life-${++count}`;
const workflowsPath = modulePath("calls");

const states = (taskQueue: string) =>
  lines.filter(({ message, meta }) =>
    message === "Worker state changed" && meta?.["taskQueue"] === taskQueue
  )
    .map(({ meta }) => meta?.["state"]);

test("worker states change and are logged like those of the official worker", async () => {
  const taskQueue = queue();
  const made = await worker(taskQueue, { workflowsPath });
  assert.equal(made.getState(), "INITIALIZED");
  assert.throws(() => made.shutdown(), /Not running\. Current state: INITIALIZED/);
  const running = made.run();
  assert.equal(made.getState(), "RUNNING");
  await assert.rejects(made.run(), /Poller was already started/);
  made.shutdown();
  assert.equal(made.getState(), "DRAINING");
  await running;
  assert.deepEqual(states(taskQueue), ["RUNNING", "STOPPING", "DRAINING", "DRAINED", "STOPPED"]);
});

test("the runtime shuts down with its last worker and connection, and another one can be installed", async () => {
  const shared = Runtime._instance;
  Runtime._instance = undefined;
  try {
    for (let file = 0; file < 2; file++) {
      const { logger } = shared!;
      const runtime = Runtime.install({ logger });
      const own = await NativeConnection.connect({ address: connection.options.address! });
      const made = await Worker.create({ connection: own, taskQueue: queue(), workflowsPath });
      await made.runUntil(async () => {});
      assert.equal(Runtime._instance, runtime);
      await assert.rejects(
        Worker.create({
          connection: own,
          taskQueue: queue(),
          workflowsPath: modulePath("missing"),
        }),
      );
      assert.equal(Runtime._instance, runtime);
      await own.close();
      assert.equal(Runtime._instance, undefined);
    }
    await assert.rejects(
      Worker.create({
        taskQueue: queue(),
        workflowsPath: "none",
        connection,
        namespace: "no-such-namespace",
      }),
    );
    assert.equal(Runtime._instance, undefined);
  } finally {
    Runtime._instance = shared;
  }
});

test("getStatus reports the work of a worker", async () => {
  const taskQueue = queue();
  let end!: () => void;
  const ended = new Promise<void>((resolve) => end = resolve);
  const made = await worker(taskQueue, {
    workflowsPath,
    activities: {
      async wait() {
        heartbeat();
        await ended;
      },
    },
  });
  await made.runUntil(async () => {
    const handle = await client.start("call", { id: taskQueue, taskQueue, args: ["wait"] });
    await until("the activity beats", () => made.getStatus().numHeartbeatingActivities === 1);
    const {
      runState,
      numInFlightActivities,
      numInFlightLocalActivities,
      numCachedWorkflows,
      workflowPollerState,
    } = made
      .getStatus();
    assert.deepEqual(
      {
        runState,
        numInFlightActivities,
        numInFlightLocalActivities,
        numCachedWorkflows,
        workflowPollerState,
      },
      {
        ...{
          runState: "RUNNING",
          numInFlightActivities: 1,
          numInFlightLocalActivities: 0,
          numCachedWorkflows: 1,
        },
        workflowPollerState: "POLLING",
      },
    );
    end();
    await handle.result();
  });
  assert.equal(made.getStatus().workflowPollerState, "SHUTDOWN");
  assert.throws(() => made.numInFlightActivities$, /is an Observable of rxjs, .*getStatus/);
});

test("runUntil returns the value, rejects with the error, and waits for a late promise", async () => {
  assert.equal(await (await worker(queue(), { workflowsPath })).runUntil(Promise.resolve(5)), 5);
  const failing = await worker(queue(), { workflowsPath });
  await assert.rejects(
    failing.runUntil(() => Promise.reject(new Error("inner"))),
    /^Error: inner$/,
  );
  const late = await worker(queue(), { workflowsPath });
  const never = late.runUntil(new Promise(() => {}), { promiseCompletionTimeout: 10 });
  late.shutdown();
  await assert.rejects(never, PromiseCompletionTimeoutError);
});

test("a shutdown that exceeds its limit fails with the state FAILED", async () => {
  const taskQueue = queue();
  let end!: () => void;
  const made = await worker(taskQueue, {
    workflowsPath,
    activities: { stuck: () => new Promise<void>((resolve) => end = resolve) },
    shutdownForceTime: 200,
  });
  const running = made.runUntil(async () => {
    await client.start("call", { id: taskQueue, taskQueue, args: ["stuck"] });
    await until("the activity runs", () => made.getStatus().numInFlightActivities === 1);
    throw new Error("inner");
  });
  await assert.rejects(running, (error: Error) => {
    assert.ok(error instanceof CombinedWorkerRunError);
    assert.ok(error.cause.workerError instanceof GracefulShutdownPeriodExpiredError);
    assert.equal((error.cause.innerError as Error).message, "inner");
    return true;
  });
  assert.equal(made.getState(), "FAILED");
  end();
});

test("activities get the grace period before they are canceled", async () => {
  const taskQueue = queue();
  let told = false;
  const made = await worker(taskQueue, {
    workflowsPath,
    shutdownGraceTime: "1 minute",
    activities: {
      async short() {
        Context.current().cancelled.catch(() => told = true);
        void cancelled().catch(() => {});
        await until("the shutdown begins", () => made.getState() === "DRAINING");
        return "done";
      },
    },
  });
  const running = made.run();
  const handle = await client.start("call", { id: taskQueue, taskQueue, args: ["short"] });
  await until("the activity runs", () => made.getStatus().numInFlightActivities === 1);
  made.shutdown();
  await running;
  assert.equal(told, false);
  const next = await worker(taskQueue, { workflowsPath });
  assert.equal(await next.runUntil(handle.result()), "done");
});

test("process signals stop workers, also workers that are created but not running", async () => {
  const shared = Runtime._instance!;
  const own = async (work: () => Promise<void>) => {
    Runtime._instance = undefined;
    Runtime.install({ logger: shared.logger });
    try {
      await work();
    } finally {
      Runtime._instance = shared;
    }
  };
  // The runner of tests may listen, too.
  const others = process.listenerCount("SIGUSR2");
  const listeners = () => process.listenerCount("SIGUSR2") - others;
  const signal = async () => {
    process.kill(process.pid, "SIGUSR2");
    await until("the signal has come", () => listeners() === 0);
  };
  await own(async () => {
    const made = await worker(queue(), { workflowsPath });
    const running = made.run();
    await signal();
    await running;
    assert.equal(made.getState(), "STOPPED");
  });
  await own(async () => {
    const first = await worker(queue(), { workflowsPath });
    const second = await worker(queue(), { workflowsPath });
    assert.equal(listeners(), 1);
    await signal();
    assert.equal(first.getState(), "INITIALIZED");
    await Promise.all([first.run(), second.run()]);
    assert.deepEqual([first.getState(), second.getState()], ["STOPPED", "STOPPED"]);
  });
  await own(async () => {
    // While it stops, the next signal does what it does by default.
    let end!: () => void;
    const taskQueue = queue();
    const activities = { stuck: () => new Promise<void>((resolve) => end = resolve) };
    const made = await worker(taskQueue, { workflowsPath, activities });
    const running = made.run();
    await client.start("call", { id: taskQueue, taskQueue, args: ["stuck"] });
    await until("the activity runs", () => made.getStatus().numInFlightActivities === 1);
    await signal();
    assert.equal(made.getState(), "DRAINING");
    end();
    await running;
  });
  await own(async () => {
    // Without workers as well.
    const made = await worker(queue(), { workflowsPath });
    await made.runUntil(async () => assert.equal(listeners(), 1));
    assert.equal(listeners(), 0);
    await assert.rejects(worker(queue(), { workflowsPath: modulePath("missing") }));
    assert.equal(listeners(), 0);
  });
});

test("plugins change options and wrap the run", async () => {
  const order: string[] = [];
  const taskQueue = queue();
  const plugin = (name: string): WorkerPlugin => ({
    name,
    configureWorker: (options) => ({ ...options, identity: `${options.identity ?? ""}${name}` }),
    async runWorker(made, next) {
      order.push(`${name} begins`);
      await next(made);
      order.push(`${name} ends`);
    },
  });
  const made = await worker(taskQueue, { workflowsPath, plugins: [plugin("a"), plugin("b")] });
  assert.equal(made.options.identity, "ab");
  await made.runUntil(Promise.resolve());
  assert.deepEqual(order, ["a begins", "b begins", "b ends", "a ends"]);
});

test("a connection cannot be closed while a worker uses it, and can be replaced", async () => {
  const address = connection.options.address!;
  const first = await NativeConnection.connect({ address });
  const second = await NativeConnection.connect({ address });
  const taskQueue = queue();
  const made = await Worker.create({
    connection: first,
    taskQueue,
    workflowsPath,
    activities: { hello: () => "hello" },
  });
  await assert.rejects(
    first.close(),
    /Cannot close connection while Workers hold a reference to it/,
  );
  await made.runUntil(async () => {
    made.connection = second;
    assert.equal(made.connection, second);
    assert.equal(
      await client.execute("call", { id: taskQueue, taskQueue, args: ["hello"] }),
      "hello",
    );
  });
  await first.close();
  await second.close();
  await assert.rejects(second.close(), /Client already closed/);
});

test("Worker.create rejects without a server, a namespace or a queue", async () => {
  await assert.rejects(worker("q", { workflowsPath, namespace: "none-of-that-name" }), {
    name: "TransportError",
    message: /Namespace none-of-that-name was not found or otherwise could not be described/,
  });
  await assert.rejects(worker("", { workflowsPath }), /Task queue name is required/);
  await assert.rejects(
    worker("__temporal_q", { workflowsPath }),
    /task queue name: '__temporal_q', with reserved prefix/,
  );
  const activities = { __temporal_a: () => 1 };
  await assert.rejects(
    worker("q", { workflowsPath, activities }),
    /activity name: '__temporal_a', with reserved prefix/,
  );
});
