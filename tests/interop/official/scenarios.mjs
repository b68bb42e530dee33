// Temporal's own TypeScript SDK, worker and client, against the server at an address: runs the scenarios below and writes what came of them
// as one JSON document. Run against two servers, the documents are to be equal, so nothing in them may differ by chance.
//   node scenarios.mjs --address 127.0.0.1:7233 --out results.json [--bundle file] [--cache 0] [--pollers n] [--all] [scenario...]
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Client, Connection, WithStartWorkflowOperation } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import * as activities from "./activities.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    address: { type: "string" },
    out: { type: "string" },
    bundle: { type: "string" },
    cache: { type: "string" },
    all: { type: "boolean" },
    pollers: { type: "string" },
  },
});
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** An error and its causes, without what differs from run to run. */
function told(error) {
  const { name, message, cause, type, retryState, details, code } = error;
  return {
    name,
    message: message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>"),
    ...(type && { type }),
    ...(retryState !== undefined && { retryState }),
    ...(Array.isArray(details) && details.length > 0 && { details }),
    ...(code !== undefined && typeof code === "number" && { code }),
    ...(cause instanceof Error && { cause: told(cause) }),
  };
}
const outcome = (promise) => promise.then((value) => ({ value }), (error) => ({ error: told(error) }));

Runtime.install({ logger: new DefaultLogger("ERROR", () => {}), shutdownSignals: [] });
const nativeConnection = await NativeConnection.connect({ address: options.address });
const connection = await Connection.connect({ address: options.address });
const client = new Client({ connection });
const { workflow } = client;
const workflowBundle = options.bundle === undefined
  ? await bundleWorkflowCode({ workflowsPath: join(here, "workflows.mjs"), logger: new DefaultLogger("ERROR") })
  : { code: readFileSync(options.bundle, "utf8") };

const taskQueue = "official";
const results = {};
const handles = new Map();

/** Starts a workflow of the scenario; its history is kept, and compared where `exact` says that chance has no part in it. */
async function start(type, { id = type, args = [], exact = true, ...more } = {}) {
  const handle = await workflow.start(type, { workflowId: id, taskQueue, args, ...more });
  handles.set(id, { handle, exact });
  return handle;
}

/** Keeps what was started by a workflow. */
const keep = (id, exact) => handles.set(id, { handle: workflow.getHandle(id), exact });

const run = async (type, startOptions) => outcome((await start(type, startOptions)).result());

/** Waits until something holds, for at most a minute. */
async function until(what, holds) {
  for (let i = 0; i < 1200; i++) {
    const found = await holds();
    if (found) return found;
    await sleep(50);
  }
  throw new Error(`not within a minute: ${what}`);
}

const SCENARIOS = {
  hello: () => run("hello", { args: ["world"] }),
  info: () => run("info", { memo: { color: "blue" } }),
  retries: () => run("retries", { exact: false }),
  timeouts: () => run("timeouts", { exact: false }),
  heartbeats: () => run("heartbeats"),
  cancelsActivity: () => run("cancelsActivity"),
  async completedElsewhere() {
    const results = [];
    for (
      const [id, complete] of Object.entries({
        byToken: (task) => client.activity.complete(task.taskToken, "by token"),
        byId: ({ workflowId, activityId }) => client.activity.complete({ workflowId, activityId }, "by id"),
        failed: (task) => client.activity.fail(task.taskToken, ApplicationFailure.nonRetryable("elsewhere", "Elsewhere")),
        cancelled: (task) => client.activity.reportCancellation(task.taskToken).then(() => {}),
      })
    ) {
      const handle = await start("completedElsewhere", { id: `elsewhere-${id}` });
      const task = await until("handed over", () => activities.handedOver.pop());
      // The server is to have noted that the attempt goes on without its worker.
      await sleep(300);
      results.push([id, await outcome(complete(task))]);
      if (id !== "cancelled") results.push([await outcome(handle.result()), await outcome(complete(task))]);
      else await handle.terminate("seen");
    }
    return results;
  },
  async messages() {
    const handle = await start("account", { args: [10], exact: false });
    const results = [await handle.query("total")];
    await handle.signal("add", 5);
    results.push(await handle.query("total"));
    results.push(await outcome(handle.query("broken")), await outcome(handle.query("nobody")));
    results.push(await outcome(handle.executeUpdate("deposit", { args: [100] })));
    results.push(await outcome(handle.executeUpdate("deposit", { args: [-1] })));
    results.push(await outcome(handle.executeUpdate("deposit", { args: [5000] })));
    results.push(await outcome(handle.executeUpdate("nobody", { args: [] })));
    const accepted = await handle.startUpdate("deposit", { args: [1], waitForStage: "ACCEPTED", updateId: "one" });
    results.push(await outcome(accepted.result()));
    // The same id again is the same update.
    results.push(await outcome(handle.executeUpdate("deposit", { args: [77], updateId: "one" })));
    results.push(await outcome(handle.getUpdateHandle("one").result()));
    results.push(await outcome(handle.getUpdateHandle("other").result()));
    await handle.signal("close");
    results.push(await outcome(handle.result()));
    // After the end.
    results.push(await handle.query("total"), await outcome(handle.signal("add", 1)));
    results.push(await outcome(handle.executeUpdate("deposit", { args: [1] })), await outcome(handle.cancel()));
    results.push(await outcome(handle.getUpdateHandle("one").result()));
    return results;
  },
  async signalWithStart() {
    const begin = () =>
      workflow.signalWithStart("account", { workflowId: "sws", taskQueue, args: [1], signal: "add", signalArgs: [2] });
    const first = await begin();
    const second = await begin();
    handles.set("sws", { handle: first, exact: false });
    await first.signal("close");
    return [first.signaledRunId === second.signaledRunId, await outcome(first.result())];
  },
  async updateWithStart() {
    const begin = (amount, workflowId, workflowIdConflictPolicy = "USE_EXISTING") => {
      const startWorkflowOperation = new WithStartWorkflowOperation("account", {
        workflowId,
        taskQueue,
        args: [1],
        workflowIdConflictPolicy,
      });
      return workflow.executeUpdateWithStart("deposit", { args: [amount], startWorkflowOperation });
    };
    const results = [await outcome(begin(2, "uws")), await outcome(begin(3, "uws")), await outcome(begin(-3, "uws"))];
    results.push(await outcome(begin(2, "uws", "FAIL")));
    const handle = workflow.getHandle("uws");
    handles.set("uws", { handle, exact: false });
    await handle.signal("close");
    return [...results, await outcome(handle.result())];
  },
  timers: () => run("timers", { exact: false }),
  async cancelled() {
    const handle = await start("cancelled");
    await until("asleep", async () => (await handle.fetchHistory()).events.length >= 5);
    await handle.cancel();
    return [await outcome(handle.result()), (await handle.describe()).status.name];
  },
  async ends() {
    const ends = [];
    for (
      const [id, end] of Object.entries({
        cancel: (handle) => handle.cancel(),
        terminate: (handle) => handle.terminate("enough"),
        timeout: () => {},
      })
    ) {
      const handle = await start("dies", {
        id: `dies-${id}`,
        ...(id === "timeout" && { workflowExecutionTimeout: "4s" }),
      });
      await until("asleep", async () => (await handle.fetchHistory()).events.length >= 5);
      await end(handle);
      ends.push([await outcome(handle.result()), (await handle.describe()).status.name]);
    }
    return ends;
  },
  continues: () => run("continues", { args: [3], memo: { kept: 1 } }),
  locals: () => run("locals", { exact: false }),
  patches: () => run("patches"),
  async fails() {
    const results = [];
    for (const kind of ["application", "activity", "retried"]) {
      const retry = kind === "retried" ? { retry: { initialInterval: 10, maximumAttempts: 5 } } : {};
      const handle = await start("fails", { id: `fails-${kind}`, args: [kind], ...retry });
      results.push([await outcome(handle.result()), (await handle.describe()).status.name]);
    }
    return results;
  },
  async breaks() {
    const handle = await start("breaks");
    const failed = await until(
      "failed",
      async () =>
        (await handle.fetchHistory()).events.map((event) => event.workflowTaskFailedEventAttributes).find((each) => each),
    );
    await handle.terminate("seen");
    return { cause: failed.cause, message: failed.failure.message, type: failed.failure.applicationFailureInfo?.type };
  },
  async unknownType() {
    const handle = await start("nobodyWroteThis", { exact: false });
    const failed = await until(
      "failed",
      async () =>
        (await handle.fetchHistory()).events.map((event) => event.workflowTaskFailedEventAttributes).find((each) => each),
    );
    await handle.terminate();
    return failed.failure.message;
  },
  async remembers() {
    const handle = await start("remembers", { exact: false, memo: { note: "first", gone: 1, kept: [1, 2] } });
    return [await outcome(handle.result()), (await handle.describe()).memo];
  },
  async policies() {
    const first = await start("account", { id: "policies", exact: false });
    const again = (more) => outcome(workflow.start("account", { workflowId: "policies", taskQueue, args: [], ...more }));
    const same = async (promise) => {
      const { value, error } = await promise;
      return error ?? (value.firstExecutionRunId === first.firstExecutionRunId);
    };
    const results = [
      await same(again({})),
      await same(again({ workflowIdConflictPolicy: "FAIL" })),
      await same(again({ workflowIdConflictPolicy: "USE_EXISTING" })),
      await same(again({ workflowIdReusePolicy: "REJECT_DUPLICATE" })),
    ];
    const other = (await again({ workflowIdConflictPolicy: "TERMINATE_EXISTING" })).value;
    results.push((await first.describe()).status.name);
    await other.signal("close");
    await other.result();
    results.push(await same(again({ workflowIdReusePolicy: "REJECT_DUPLICATE" })));
    results.push(await same(again({ workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY" })));
    const last = (await again({ workflowIdReusePolicy: "ALLOW_DUPLICATE" })).value;
    await last.terminate();
    const after = (await again({ workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY" })).value;
    await after.terminate();
    return results;
  },
  async describes() {
    const handle = await start("account", { id: "described", memo: { m: 1 }, exact: false });
    await until("idle", async () => (await handle.fetchHistory()).events.length >= 4);
    const { type, workflowId, status, historyLength, memo, taskQueue: queue, closeTime, parentExecution } = await handle
      .describe();
    const pending = (await handle.describe()).raw.pendingActivities.length;
    await handle.terminate();
    const after = await handle.describe();
    return [
      type,
      workflowId,
      status.name,
      historyLength,
      memo,
      queue,
      closeTime,
      parentExecution,
      pending,
      after.status.name,
      after.closeTime instanceof Date,
    ];
  },
  async lists() {
    for (let i = 0; i < 5; i++) {
      await start("hello", { id: `listed-${i}`, args: [String(i)], exact: false }).then((each) => each.result());
    }
    const query = "WorkflowId STARTS_WITH 'listed-' AND ExecutionStatus = 'Completed' AND WorkflowType = 'hello'";
    await until("indexed", async () => (await workflow.count(query)).count === 5);
    const ids = [];
    for await (const each of workflow.list({ query, pageSize: 2 })) ids.push(each.workflowId);
    return [ids.sort(), (await workflow.count(`${query} GROUP BY ExecutionStatus`)).groups.map(({ count }) => count)];
  },
  async eagerStart() {
    const bound = new Client({ connection });
    const handle = await outcome(
      bound.workflow.start("hello", { workflowId: "eager", taskQueue, args: ["eager"], requestEagerStart: true }),
    );
    return handle.error ?? await outcome(handle.value.result());
  },
  async notFound() {
    const handle = workflow.getHandle("nobody");
    return [
      await outcome(handle.describe()),
      await outcome(handle.result()),
      await outcome(handle.signal("x")),
      await outcome(handle.query("x")),
      await outcome(handle.cancel()),
      await outcome(handle.terminate()),
      await outcome(handle.executeUpdate("x")),
    ];
  },
  async manyAtOnce() {
    const runs = Array.from({ length: 60 }, (_, i) => run("busy", { id: `busy-${i}`, args: [3, 4], exact: false }));
    return (await Promise.all(runs)).map(({ value }) => value);
  },
  async large() {
    const text = "x".repeat(600_000);
    const { value } = await run("hello", { id: "large", args: [text], exact: false });
    return [value.length, (await outcome(start("hello", { id: "larger", args: ["x".repeat(2_500_000)] }))).error?.name];
  },
  async child() {
    const results = [];
    for (
      const [id, how] of Object.entries({
        plain: {},
        abandoned: { parentClosePolicy: "ABANDON" },
      })
    ) {
      results.push(await run("parent", { id: `parent-${id}`, args: [how] }));
      keep(`parent-${id}-child`, true);
    }
    return results;
  },
  async children() {
    const options = {
      returns: {},
      fails: {},
      retried: { retry: { initialInterval: 1000, maximumAttempts: 2 } },
      continues: {},
      cancelled: {},
      timesOut: { args: ["waits"], workflowRunTimeout: "4s" },
      terminated: { args: ["waits"] },
      taken: { workflowId: "taken" },
    };
    await start("obeys", { id: "taken", args: ["waits"], exact: false });
    const results = await Promise.all(
      Object.entries(options).map(async ([how, more]) => {
        const parent = await start("parentOf", {
          id: `parent-${how}`,
          args: [how, more],
        });
        if (how === "terminated") {
          const child = workflow.getHandle("parent-terminated-child");
          await until("started", () => child.describe().catch(() => false));
          await sleep(1500);
          await child.terminate("told so");
        }
        const result = await outcome(parent.result());
        // The first run of a chain is another story than its last.
        if (how !== "taken" && how !== "continues" && how !== "retried") {
          keep(`parent-${how}-child`, how !== "terminated");
        }
        return [how, result];
      }),
    );
    await workflow.getHandle("taken").terminate();
    return Object.fromEntries(results);
  },
  async closePolicies() {
    const results = {};
    for (const policy of ["TERMINATE", "REQUEST_CANCEL", "ABANDON"]) {
      const handle = await start("leaves", {
        id: `leaves-${policy}`,
        args: [policy],
      });
      await handle.result();
      const child = workflow.getHandle(`leaves-${policy}-child`);
      if (policy === "ABANDON") {
        await sleep(300);
        results[policy] = (await child.describe()).status.name;
        await child.cancel();
      }
      results[`${policy} in the end`] = await outcome(child.result());
      keep(`leaves-${policy}-child`, policy !== "ABANDON");
    }
    return results;
  },
  async family() {
    const handle = await start("parentOf", {
      id: "family",
      args: ["waits", {}],
      exact: false,
    });
    const child = workflow.getHandle("family-child");
    const described = await until(
      "started",
      () => child.describe().catch(() => false),
    );
    const { raw } = await until("pending", async () => {
      const found = await handle.describe();
      return found.raw.pendingChildren?.length > 0 && found;
    });
    const [pending] = raw.pendingChildren;
    const { parentExecution, rootExecution } = described.raw.workflowExecutionInfo;
    const seen = [
      [
        parentExecution.workflowId,
        parentExecution.runId === handle.firstExecutionRunId,
      ],
      [
        rootExecution.workflowId,
        rootExecution.runId === handle.firstExecutionRunId,
      ],
      [
        pending.workflowId,
        pending.runId === described.runId,
        pending.workflowTypeName,
        String(pending.initiatedId),
        pending.parentClosePolicy,
      ],
    ];
    const listed = await until("listed", async () => {
      for await (const { raw } of workflow.list({ query: "WorkflowId = 'family-child'" })) return raw;
    });
    seen.push([listed.parentExecution.workflowId, listed.rootExecution.runId === handle.firstExecutionRunId]);
    await handle.terminate();
    return [seen, await outcome(child.result())];
  },
  talks: () => run("talks", { exact: false }),
  async externals() {
    const target = await start("account", { id: "target" });
    await until(
      "begun",
      () => target.query("total").then(() => true, () => false),
    );
    const results = [await run("signalsOther", { args: ["target"] })];
    results.push(
      await run("signalsOther", { id: "signalsNobody", args: ["nobody"] }),
    );
    results.push(
      await run("signalsOther", {
        id: "signalsItself",
        args: ["signalsItself"],
      }),
    );
    results.push(await target.query("total"));
    results.push(await run("cancelsOther", { args: ["target"] }));
    results.push(
      await run("cancelsOther", { id: "cancelsNobody", args: ["nobody"] }),
    );
    results.push(await outcome(target.result()));
    results.push(
      await run("cancelsOther", { id: "cancelsClosed", args: ["target"] }),
    );
    results.push(
      await run("signalsOther", { id: "signalsClosed", args: ["target"] }),
    );
    return results;
  },
  /** Values without types, as this SDK's older options send them: the service attaches the types. */
  async typesOfAttributes() {
    const [keyword, int, double, bool, datetime, list] = [2, 3, 4, 5, 6, 7];
    const searchAttributes = {
      AnyKeyword: keyword,
      AnyInt: int,
      AnyDouble: double,
      AnyBool: bool,
      AnyTime: datetime,
      AnyList: list,
    };
    // A server wants to know the names, and takes a moment for it; temporalex dev has no register.
    await connection.operatorService.addSearchAttributes({ namespace: "default", searchAttributes }).catch(() => {});
    const values = {
      AnyKeyword: ["k"],
      AnyInt: [4],
      AnyDouble: [1.5],
      AnyBool: [true],
      AnyTime: [new Date(1e12)],
      AnyList: ["a", "b"],
    };
    const handle = await until(
      "the names are known",
      () => start("typedAttributes", { searchAttributes: values }).catch(() => undefined),
    );
    const seen = await handle.result();
    const { searchAttributes: untyped, typedSearchAttributes } = await handle.describe();
    const { BuildIds: _, ...shown } = untyped;
    const typed = typedSearchAttributes.getAll().filter(({ key }) => key.name !== "BuildIds");
    return [seen, shown, typed.map(({ key, value }) => [key.name, key.type, value]).sort()];
  },
};

/** What only a Temporal server has; run with --all, or by name. */
const SERVER_SCENARIOS = {
  async searchAttributes() {
    const refused = await outcome(start("hello", { id: "sa", args: ["x"], searchAttributes: { NobodyKnowsThis: ["x"] } }));
    const handle = await start("attributes", { exact: false });
    const failed = await until(
      "failed",
      async () =>
        (await handle.fetchHistory()).events.map((event) => event.workflowTaskFailedEventAttributes).find((each) => each),
    );
    await handle.terminate();
    return [refused, failed.cause, failed.failure.message];
  },
};

/** What only the embedded engine says; run by name. */
const ENGINE_SCENARIOS = {
  /** Says when it has begun: the server is killed then, and comes back. */
  async longHaul() {
    const runs = Array.from({ length: 30 }, (_, i) => run("busy", { id: `haul-${i}`, args: [12, 4], exact: false }));
    setTimeout(() => console.log("begun"), 300);
    return (await Promise.all(runs)).map(({ value, error }) => value ?? error);
  },
  async anyAttributes() {
    const searchAttributes = { NobodyKnowsThis: ["x"] };
    const first = await start("info", { id: "any-attributes", searchAttributes, exact: false });
    await first.result();
    const second = await start("attributes", { id: "upserts", exact: false });
    await second.result();
    return [(await first.describe()).searchAttributes, (await second.describe()).searchAttributes];
  },
};

const worker = await Worker.create({
  connection: nativeConnection,
  taskQueue,
  workflowBundle,
  activities,
  shutdownGraceTime: 100,
  maxHeartbeatThrottleInterval: 100,
  ...(options.pollers !== undefined && {
    workflowTaskPollerBehavior: { type: "simple-maximum", maximum: Number(options.pollers) },
    activityTaskPollerBehavior: { type: "simple-maximum", maximum: Number(options.pollers) },
    maxConcurrentWorkflowTaskExecutions: 200,
    maxConcurrentActivityTaskExecutions: 200,
  }),
  ...(options.cache !== undefined && { maxCachedWorkflows: Number(options.cache) }),
});
await worker.runUntil(async () => {
  const every = { ...SCENARIOS, ...SERVER_SCENARIOS, ...ENGINE_SCENARIOS };
  const usual = Object.keys({ ...SCENARIOS, ...(options.all && SERVER_SCENARIOS) });
  for (const name of wanted.length > 0 ? wanted : usual) {
    const began = Date.now();
    try {
      results[name] = await Promise.race([every[name](), sleep(150_000).then(() => "not in time")]);
    } catch (error) {
      results[name] = { thrown: told(error) };
    }
    if (process.env.SCENARIO_TIMES) console.error(name, Date.now() - began);
  }
});
const runs = {};
for (const [id, { handle, exact }] of handles) {
  const { firstExecutionRunId, signaledRunId } = handle;
  runs[id] = { runId: firstExecutionRunId ?? signaledRunId ?? (await handle.describe()).runId, exact };
}
// Every history replays in the official worker.
async function* all() {
  for (const id of Object.keys(runs)) {
    const history = await handles.get(id).handle.fetchHistory().catch(() => undefined);
    if (history !== undefined) yield { workflowId: id, history };
  }
}
const replayed = {};
for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, all())) {
  replayed[workflowId] = error === undefined ? "ok" : told(error);
}
writeFileSync(options.out, JSON.stringify({ results, runs, replayed }, (_, value) => value === undefined ? null : value, 1));
await connection.close();
await nativeConnection.close();
process.exit(0);
