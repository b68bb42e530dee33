// The embedded engine against the real server: the same lives of the same workflows, and the
// histories that both write, field by field.
// takes: 70 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  activityInfo,
  completeAsync,
  heartbeat,
  sleep as activitySleep,
} from "../../../ts/activity/mod.ts";
import {
  activities as exampleActivities,
  scenarios as examples,
  workflows as exampleModules,
} from "../../../examples/scenarios.ts";
import { Client, silentLogger, type WorkflowHandle } from "../../../ts/client/mod.ts";
import type { App } from "../../../ts/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import {
  activities,
  ApplicationFailure,
  continueAsNew,
  continueAsNewWith,
  noreply,
  on,
  parallel,
  patched,
  receive,
  reply,
  select,
  sideEffect,
  signal,
  sleep,
  stop,
  timer,
  update,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../../ts/workflow/mod.ts";
import { type Setting, settingOf } from "../../support/services.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { type Difference, differences, fieldsOf } from "./support/same_history.ts";

// deno-lint-ignore no-explicit-any
type Handle = WorkflowHandle<any>;
type Life = (t: Setting, world: World) => Promise<Handle>;

// What is to time out has seconds, so that everything else is over by then on a busy machine, too:
// order is compared.
const acts = activities<typeof code>({
  startToClose: "60s",
  retry: { initialInterval: 10, maximumAttempts: 3 },
});
const once = activities<typeof code>({
  startToClose: "4s",
  heartbeat: "3s",
  retry: { maximumAttempts: 1 },
});
const beating = activities<typeof code>({
  startToClose: "60s",
  heartbeat: "30s",
  cancellationType: "waitCancellationCompleted",
});
/** What differs between the two services while their lives are led side by side. */
class World {
  readonly tokens: Uint8Array[] = [];
  broken = true;
  /** Attempt of the last workflow task that failed. */
  failed = 0;
}
const code = {
  work: (input: string) => `${input} done`,
  flaky: () => {
    if (activityInfo().attempt < 2) {
      throw ApplicationFailure.retryable("not yet", { type: "Early", details: [1] });
    }
    return "late";
  },
  early: (): string => {
    throw ApplicationFailure.retryable("again", { type: "Again" });
  },
  fails: (): string => {
    throw ApplicationFailure.nonRetryable("never", { type: "Never" });
  },
  // Until its worker stops: a server may notice a timeout a second late, and more on a busy
  // machine.
  hangs: () => activitySleep(60_000),
  beats: async () => {
    for (;;) {
      heartbeat("alive");
      await activitySleep(20);
    }
  },
  elsewhere: (): string => completeAsync(),
};

const add = update<[number], number>("add");
const note = signal<[string]>("note");
const end = signal("end");
const patient = workflow("Patient", async () => await waitForSignal(note));
const ledger = workflow("Ledger", async (start: number) =>
  await receive(start, [
    on(add, async ([n], s) => {
      if (n === 13) throw ApplicationFailure.nonRetryable("unlucky", { type: "Unlucky" });
      if (n === 7) await acts.work("seven");
      return reply(s + n, s + n);
    }, {
      validate: ([n]) => {
        if (n < 0) throw new ApplicationFailure("only upwards", { type: "Negative" });
      },
    }),
    on(note, (_, s) => noreply(s)),
    on(end, (_, s) => stop(s)),
  ]));
const failing = workflow(
  "Failing",
  () =>
    Promise.reject(ApplicationFailure.retryable("broken", { type: "Broken", details: ["x", 1] })),
);
const all = workflow("All", async (input: string) => {
  const seen: unknown[] = [await acts.work(input), sideEffect(() => 42), await acts.flaky()];
  await sleep(20);
  if (patched("extra")) seen.push(await acts.work("patched"));
  for (const one of await parallel([() => acts.fails(), () => once.hangs()])) {
    seen.push(one.ok ? one.value : (one.error as Error).name);
  }
  return seen;
});
const absent = activities<typeof code>({
  taskQueue: "unpolled",
  startToClose: "5s",
  scheduleToStart: "100ms",
  retry: { maximumAttempts: 1 },
});
const exhausted = activities<typeof code>({
  scheduleToClose: "9s",
  retry: { initialInterval: 5000, backoffCoefficient: 1 },
});
const gone = activities<typeof code>({
  startToClose: "60s",
  heartbeat: "30s",
  cancellationType: "abandon",
});
const soon = activities<typeof code>({
  startToClose: "60s",
  heartbeat: "30s",
  cancellationType: "tryCancel",
});
const timeouts = workflow("Timeouts", async () => {
  const types = [];
  for (const call of [() => absent.work("x"), () => exhausted.early()]) {
    const [one] = await parallel([call]);
    types.push(one!.ok ? "ok" : (one!.error as Error).name);
  }
  return types;
});
const leaves = workflow("Leaves", async () => {
  await parallel([() => gone.beats(), () => soon.beats(), () => sleep("1h")]);
  throw ApplicationFailure.nonRetryable("after all", { type: "Late", details: [{ deep: [1] }] });
});
const keeps = workflow("Keeps", async (left: number) => {
  // The first run lasts until its signal has come, on a busy machine too. A server delays what
  // continues a run of less than a second.
  await sleep(left > 0 ? 6000 : 1100);
  if (left > 0) {
    return continueAsNewWith({ memo: { left }, runTimeout: "20m", taskTimeout: "30s" }, left - 1);
  }
  return await waitForSignal(note);
});
const chain = workflow("Chain", async (left: number): Promise<unknown> => {
  await acts.work(String(left));
  return left === 0 ? workflowInfo().workflowId : continueAsNew(left - 1);
});
const cancels = workflow("Cancels", async () => {
  await parallel([() => beating.beats(), () => sleep("1h")]);
  await sleep("1h");
});
const outside = workflow("Outside", async () => await acts.elsewhere());
const idle = activities<typeof code>({ taskQueue: "unpolled", startToClose: "5s" });
/**
 * A timer that every signal restarts, an activity without a worker, and a timer that is handed on.
 */
const races = workflow("Races", async () => {
  const deadline = timer("deadline", "2h");
  const seen: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    seen.push(
      await select([
        on(deadline, () => "too late"),
        timer("refreshed", i < 2 ? "1h" : 20, () => "expired"),
        on(() => idle.work("never"), () => "worked"),
        on(note, ([text]) => text),
      ]),
    );
  }
  return [
    ...seen,
    await select([on(() => acts.work("x"), (text) => text), on(deadline, () => "too late")]),
  ];
});
const bugs = (world: World) =>
  workflow("Bugs", async () => {
    await sleep(1);
    if (world.broken) throw new TypeError("a bug");
    return "fixed";
  });
const workflowsOf = (
  world: World,
) => [
  patient,
  ledger,
  failing,
  all,
  timeouts,
  leaves,
  keeps,
  chain,
  cancels,
  outside,
  races,
  bugs(world),
];
const activitiesOf = (world: World) => ({
  ...code,
  elsewhere: () => {
    world.tokens.push(activityInfo().taskToken);
    return completeAsync();
  },
});

/**
 * Each leads one run, or a chain of runs, to its end, and waits at each step until nothing moves.
 */
const lives: { [name: string]: Life } = {
  "activities, timers, side effects, patches, failures and timeouts": async ({ client }) => {
    const handle = await client.start(all, {
      id: "all",
      args: ["x"],
      memo: { why: "test" },
      executionTimeout: "1h",
      runTimeout: "30m",
      taskTimeout: "30s",
      retry: { maximumAttempts: 2, initialInterval: 10 },
    });
    await handle.result();
    return handle;
  },
  "updates and signals": async ({ client }) => {
    const handle = await client.start(ledger, { id: "ledger", args: [0] });
    await quiet(handle);
    const asks = (n: number, updateId = `u${n}`) =>
      handle.executeUpdate(add, { args: [n], updateId });
    await asks(1);
    await asks(-1).catch(() => {});
    await asks(13).catch(() => {});
    await asks(7);
    await handle.signal(note, "n");
    await quiet(handle);
    await handle.query("__stack_trace").catch(() => {});
    await handle.signal(end);
    await handle.result();
    return handle;
  },
  "signal with start": async ({ client }) => {
    const handle = await client.signalWithStart(patient, {
      id: "with-start",
      signal: note,
      signalArgs: ["first"],
    });
    await handle.result();
    return handle;
  },
  "selects": async ({ client }) => {
    const handle = await client.start(races, { id: "races" });
    for (const [i, text] of ["one", "two"].entries()) {
      await until("the select waits", async () => {
        const kinds = (await handle.fetchHistory()).events.map(({ attributes }) => attributes.case);
        const timers = kinds.filter((kind) => kind === "timerStartedEventAttributes").length;
        const last = kinds.at(-1);
        return timers === i + 2 &&
          (last === "activityTaskScheduledEventAttributes" ||
            last === "workflowTaskCompletedEventAttributes");
      });
      await handle.signal(note, text);
    }
    assert.deepEqual(await handle.result(), ["one", "two", "expired", await code.work("x")]);
    return handle;
  },
  "continue-as-new": async ({ client }) => {
    const handle = await client.start(chain, {
      id: "chain",
      args: [2],
      memo: { kept: true },
      runTimeout: "1h",
    });
    await handle.result();
    return handle;
  },
  "a failed workflow, and its retry": async ({ client }) => {
    const handle = await client.start(failing, {
      id: "failing",
      retry: { maximumAttempts: 2, initialInterval: 10 },
    });
    await handle.result().catch(() => {});
    return handle;
  },
  "cancellation of workflow, activity and timer": async ({ client }) => {
    const handle = await client.start(cancels, { id: "cancels" });
    await until(
      "the activity beats",
      async () => (await handle.describe()).pendingActivities[0]?.heartbeatDetails === "alive",
    );
    await handle.cancel("enough");
    await handle.result().catch(() => {});
    return handle;
  },
  "activities without a worker, and activities that fail until their timeout": async (
    { client },
  ) => {
    const handle = await client.start(timeouts, { id: "timeouts" });
    await handle.result();
    return handle;
  },
  "cancellation that does not wait, and a failure after it": async ({ client }) => {
    const handle = await client.start(leaves, { id: "leaves" });
    await until(
      "both beat",
      async () =>
        (await handle.describe()).pendingActivities.filter((a) => a.heartbeatDetails === "alive")
          .length === 2,
    );
    await handle.cancel("enough");
    await handle.result().catch(() => {});
    return handle;
  },
  "continue-as-new with options, and a signal that is carried over": async ({ client }) => {
    const handle = await client.start(keeps, { id: "keeps", args: [1], executionTimeout: "2h" });
    await quiet(handle);
    await handle.signal(note, "carried");
    await handle.result();
    return handle;
  },
  "cancelled before its first task": async ({ client }) => {
    const handle = await client.start(patient, { id: "stillborn", taskQueue: "unpolled" });
    await handle.cancel("never mind");
    await handle.terminate();
    return handle;
  },
  "update with start": async ({ client }) => {
    const start = {
      id: "update-with-start",
      args: [5] as [number],
      idConflictPolicy: "USE_EXISTING" as const,
    };
    const first = await client.startUpdateWithStart(ledger, {
      ...start,
      update: add,
      updateArgs: [1],
      updateId: "one",
      waitFor: "completed",
    });
    assert.equal(await first.update.result(), 6);
    const handle = first.workflow;
    await handle.signal(end);
    await handle.result();
    return handle;
  },
  "termination": async ({ client }) => {
    const handle = await client.start(patient, { id: "terminated" });
    await quiet(handle);
    await handle.terminate("by hand", { by: "test" });
    return handle;
  },
  "replaced by a start of the same id": async ({ client }) => {
    const handle = await client.start(patient, { id: "replaced" });
    await quiet(handle);
    const next = await client.start(patient, {
      id: "replaced",
      idConflictPolicy: "TERMINATE_EXISTING",
    });
    await quiet(next);
    await next.terminate();
    return handle;
  },
  "a run that times out": async ({ client }) => {
    const handle = await client.start(patient, { id: "late", runTimeout: "4s" });
    await handle.result().catch(() => {});
    return handle;
  },
  "an activity can be completed from outside": async ({ client }, { tokens }) => {
    const handle = await client.start(outside, { id: "outside" });
    await until("it was handed out", () => tokens.length === 1);
    await client.completeActivity(tokens[0]!, "from outside");
    await handle.result();
    return handle;
  },
  "a workflow task that fails, and is fixed": async ({ client }, world) => {
    const handle = await client.start("Bugs", { id: "bugs", taskTimeout: "4s" });
    // The second attempt is not in history; the worker does not report it again, so it times out.
    await until("its second attempt", () => world.failed === 2);
    world.broken = false;
    await handle.result();
    return handle;
  },
  "a start that is delayed, with a signal": async ({ client }) => {
    const handle = await client.start(patient, { id: "delayed", startDelay: "5s" });
    await handle.signal(note, "early");
    await handle.result();
    return handle;
  },
};

/** Nothing is to be done for now. */
async function quiet(handle: Handle): Promise<void> {
  await until("it is quiet", async () => {
    const { events } = await handle.fetchHistory();
    return events.at(-1)?.attributes.case === "workflowTaskCompletedEventAttributes";
  });
}

/** The histories of a run and of those that continue it. */
async function historiesOf(t: Setting, handle: Handle): Promise<unknown[]> {
  const all = [];
  for (let runId = handle.runId ?? handle.firstExecutionRunId; runId !== undefined;) {
    const one = JSON.parse(
      await t.client.getHandle(undefined, handle.workflowId, runId).historyJson(),
    );
    all.push(one);
    const last = Object.entries(one.events.at(-1)).find(([name]) => name.endsWith("Attributes"))
      ?.[1] as {
        newExecutionRunId?: string;
      };
    runId = last?.newExecutionRunId || undefined;
  }
  return all;
}

let server: DevServer, service: GrpcService, engine: EmbeddedEngine;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  engine = await EmbeddedEngine.open({ store: new MemoryStore() });
});
after(async () => {
  service?.close();
  await engine?.close();
  await server?.stop();
});

/** Where both may differ: field, and why. */
const ALLOWED: [path: RegExp, why: string][] = [
  [/\.taskId$/, "a cluster's position in its replication queue"],
  [
    /EXECUTION_STARTED.*firstWorkflowTaskBackoff$/,
    "a cluster delays continue-as-new of a run shorter than one second; a single machine need not",
  ],
  [/EXECUTION_STARTED.*prevAutoResetPoints/, "resets by build id are a cluster's"],
  [/EXECUTION_TERMINATED.*details\.payloads\.0\.data$/, "names the other run"],
];

test("the seven examples: events have the same fields on the embedded engine as on a server", {
  skip: noServer,
}, async () => {
  const [theirs, ours] = await Promise.all([service, engine].map(async (on) => {
    const own = new Client({ service: on, taskQueue: "examples", logger: silentLogger });
    const worker = await Worker.create({
      service: on,
      taskQueue: "examples",
      workflows: exampleModules,
      activities: { ...exampleActivities },
      logger: silentLogger,
    });
    const fields = new Set<string>();
    await worker.runUntil(async () => {
      await Promise.all(
        Object.values(examples).map((run) => run({ client: own } as App, () => {})),
      );
      // A cluster's index is late by a moment.
      const mine = 'TaskQueue = "examples"';
      const ended = `${mine} AND ExecutionStatus != "Running"`;
      await until(
        "all are listed",
        async () => await own.count(mine) >= 8 && await own.count(ended) === await own.count(mine),
      );
      for await (const { workflowId, runId } of own.list('TaskQueue = "examples"')) {
        const history = JSON.parse(await own.getHandle(undefined, workflowId, runId).historyJson());
        for (const path of fieldsOf(history)) fields.add(path);
      }
    });
    return fields;
  }));
  // Which events there are hangs on what came first, here a message or a timer.
  const events = (fields: Set<string>) => new Set([...fields].map((path) => path.split(".")[0]));
  const [there, here] = [events(theirs!), events(ours!)];
  const known = (path: string) => there.has(path.split(".")[0]) && here.has(path.split(".")[0]);
  const odd = [...theirs!, ...ours!].filter((path) =>
    theirs!.has(path) !== ours!.has(path) && known(path)
  ).filter((path) => !ALLOWED.some(([allowed]) => allowed.test(path)));
  assert.deepEqual(
    odd.map((path) => `${path}: only ${theirs!.has(path) ? "of the server" : "of the engine"}`),
    [],
  );
  assert.ok(theirs!.size > 60, `${theirs!.size} fields`);
});

for (const [name, life] of Object.entries(lives)) {
  test(
    `the same history on the embedded engine and on a server: ${name}`,
    { skip: noServer },
    async () => {
      const [theirs, ours] = await Promise.all(
        ([["server", service], ["engine", engine]] as const).map(async ([kind, on]) => {
          const t = settingOf(on, kind === "engine", "same", (id) => id);
          const world = new World();
          const worker = await Worker.create({
            service: on,
            taskQueue: "same",
            workflows: workflowsOf(world),
            activities: activitiesOf(world),
            heartbeatThrottle: { maximumMs: 100 },
            events: { workflowTaskFailed: ({ attempt }) => void (world.failed = attempt) },
            identity: "the worker",
            logger: silentLogger,
          });
          return await worker.runUntil(async () => await historiesOf(t, await life(t, world)));
        }),
      );
      assert.equal(ours!.length, theirs!.length, "runs of the chain");
      const found: Difference[] = theirs!.flatMap((one, i) => differences(one, ours![i]));
      const unknown = found.filter(({ path }) => !ALLOWED.some(([allowed]) => allowed.test(path)));
      assert.deepEqual(
        unknown.map(({ path, theirs, ours }) => `${path}: server ${theirs}, engine ${ours}`),
        [],
      );
    },
  );
}
