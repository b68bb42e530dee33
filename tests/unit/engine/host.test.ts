// The host around the core: calls, batches, the service's own methods, the end. On the memory store
// unless the file matters.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { delay } from "@std/async/delay";
import {
  EmbeddedEngine,
  MemoryStore,
  StoreError,
  StoreFencedError,
  StoreLockedError,
  VirtualClock,
} from "../../../ts/engine/mod.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { inFolder } from "./support/stores.ts";
import { decodePayloads, payloads, Script, seen } from "./support/script_worker.ts";
import { ProbeStore } from "./support/probe_store.ts";

const matchesError = (code: Code, message: RegExp, reason?: string) => (e: unknown) => {
  assert.ok(e instanceof ServiceError, String(e));
  assert.equal(e.code, code, e.message);
  assert.match(e.message, message);
  if (reason !== undefined) assert.equal(e.reason, reason);
  return true;
};

async function withEngine(
  body: (
    engine: EmbeddedEngine,
    script: Script,
    store: ProbeStore,
    errors: Error[],
  ) => Promise<void>,
) {
  const store = new ProbeStore(new MemoryStore());
  const errors: Error[] = [];
  const engine = await EmbeddedEngine.open({ store, onError: (e) => errors.push(e) });
  const script = new Script(engine);
  try {
    await body(engine, script, store, errors);
  } finally {
    await script.stopWorker();
    await engine.close();
  }
}

test("an engine without a store or a path is rejected, also without any options", async () => {
  await assert.rejects(EmbeddedEngine.open(), /an engine needs either the path .* or a store/);
  await assert.rejects(EmbeddedEngine.open({}), /an engine needs either the path .* or a store/);
});

test("a workflow runs to its end with activities, timers, a signal and an update", () =>
  withEngine(async (_, script) => {
    await script.start("wf", { steps: 5, timers: true, signals: 1 });
    script.startWorker();
    assert.equal(await script.update("wf", "u-1"), "updated u-1");
    await script.signal("wf", "hello");
    assert.deepEqual(await script.result("wf"), { steps: [1, 2, 3, 4, 5], signals: ["hello"] });
    const state = seen(await script.history("wf"));
    assert.deepEqual([state.scheduled, state.timersFired, state.accepted, state.closed], [5, 1, [
      "u-1",
    ], true]);
  }));

test("a call is acknowledged only after its commit", () =>
  withEngine(async (engine, script, store) => {
    let committing = false;
    store.onCommit = () => committing = true;
    store.onCommitted = () => committing = false;
    let acknowledged = 0;
    const stored = (workflowId: string) => {
      assert.equal(committing, false);
      acknowledged++;
      const row = store.inner.load(workflowId)?.row;
      assert.ok(row, `${workflowId} was acknowledged and is not there`);
      return store.inner.historyRange(workflowId, row.runId, 1, row.historyLength);
    };
    script.startWorker(2);
    await Promise.all(Array.from({ length: 20 }, async (_, i) => {
      const id = `wf-${i}`;
      await script.start(id, { steps: 2, signals: 1 });
      stored(id);
      await script.signal(id, `signal ${i}`);
      assert.ok(stored(id).some((part) => new TextDecoder().decode(part).includes(`signal ${i}`)));
      await script.result(id);
      assert.equal(store.inner.load(id)?.row?.status, 2);
    }));
    assert.equal(acknowledged, 40);
    assert.equal(engine.stats().openRuns, 0);
  }));

test("calls in the same turn share a commit; a single call has a separate commit", () =>
  withEngine(async (_, script, store) => {
    await Promise.all(Array.from({ length: 100 }, (_, i) => script.start(`wf-${i}`, { steps: 0 })));
    assert.equal(store.commits, 1);
    assert.deepEqual(store.sizes, [100]);
    await script.start("lone", { steps: 0 });
    assert.equal(store.commits, 2);
    await Promise.all(
      Array.from({ length: 600 }, (_, i) => script.start(`many-${i}`, { steps: 0 })),
    );
    assert.ok(store.sizes.slice(2).every((size) => size <= 256), String(store.sizes));
    assert.ok(store.commits <= 6, String(store.sizes));
  }));

test("a call without a change does not commit", () =>
  withEngine(async (_, script, store) => {
    await script.start("wf", { steps: 0 });
    await script.history("wf");
    await script.service.describeWorkflowExecution({
      namespace: "default",
      execution: { workflowId: "wf" },
    });
    assert.equal(store.commits, 1);
  }));

test("a canceled call rejects, and its poll takes no task", () =>
  withEngine(async (engine, script) => {
    const gone = new AbortController();
    const poll = script.service.pollWorkflowTaskQueue({
      namespace: "default",
      taskQueue: { name: "q" },
    }, {
      signal: gone.signal,
    });
    const aborted = assert.rejects(poll, matchesError(Code.CANCELLED, /canceled by the caller/));
    await delay(5);
    gone.abort();
    await aborted;
    assert.equal(engine.stats().waitingCalls, 0);
    await assert.rejects(
      script.service.pollWorkflowTaskQueue({ namespace: "default", taskQueue: { name: "q" } }, {
        signal: gone.signal,
      }),
      matchesError(Code.CANCELLED, /canceled/),
    );
    // The task is found in the batch that cancels its poll.
    const late = new AbortController();
    const losing = script.service.pollWorkflowTaskQueue({
      namespace: "default",
      taskQueue: { name: "q" },
    }, {
      signal: late.signal,
    });
    const lost = assert.rejects(losing, matchesError(Code.CANCELLED, /canceled/));
    await delay(5);
    const started = script.start("wf", { steps: 0 });
    late.abort();
    await lost;
    await started;
    const task = await script.pollWorkflow();
    assert.equal(task?.workflowExecution?.workflowId, "wf");
    assert.equal(task?.attempt, 1);
  }));

test("a deadline ends the call, and an update's error names the update", () =>
  withEngine(async (engine, script) => {
    await script.start("wf", { steps: 0, signals: 1 });
    const began = performance.now();
    await assert.rejects(
      script.service.pollActivityTaskQueue({ namespace: "default", taskQueue: { name: "q" } }, {
        timeoutMs: 30,
      }),
      matchesError(Code.DEADLINE_EXCEEDED, /pollActivityTaskQueue timed out after 30 ms/),
    );
    assert.ok(performance.now() - began >= 29);
    await assert.rejects(script.update("wf", "my-update", 30), (e: unknown) => {
      matchesError(Code.DEADLINE_EXCEEDED, /update "my-update" of workflow "wf" continues/)(e);
      assert.deepEqual((e as ServiceError).metadata, { updateId: "my-update", workflowId: "wf" });
      return true;
    });
    assert.equal(engine.stats().waitingCalls, 0);
    // The update does continue.
    script.startWorker();
    assert.equal(await script.update("wf", "my-update"), "updated my-update");
  }));

test("the service returns lists in pages, and counts", () =>
  withEngine(async (engine, script) => {
    await Promise.all(
      Array.from({ length: 7 }, (_, i) => script.start(`wf-${i}`, { steps: 0, signals: i % 2 })),
    );
    script.startWorker();
    for (const i of [0, 2, 4, 6]) await script.result(`wf-${i}`);
    const list = (query: string, nextPageToken = new Uint8Array(0)) =>
      script.service.listWorkflowExecutions({
        namespace: "default",
        query,
        pageSize: 3,
        nextPageToken,
      });
    const found: string[] = [];
    let page = await list("WorkflowType = 'Steps'");
    for (;;) {
      assert.ok(page.executions.length <= 3);
      found.push(...page.executions.map((info) => info.execution!.workflowId));
      if (page.nextPageToken.length === 0) break;
      page = await list("WorkflowType = 'Steps'", page.nextPageToken as Uint8Array<ArrayBuffer>);
    }
    assert.deepEqual(found.sort(), Array.from({ length: 7 }, (_, i) => `wf-${i}`));
    const closed = await list("ExecutionStatus = 'Completed' ORDER BY CloseTime ASC");
    assert.equal(closed.executions.length, 3);
    const info = closed.executions[0]!;
    assert.equal(info.status, 2);
    assert.equal(info.type?.name, "Steps");
    assert.equal(info.taskQueue, "q");
    assert.ok(info.closeTime!.seconds >= info.startTime!.seconds && info.historyLength > 4n);
    const count = async (query: string) =>
      Number((await script.service.countWorkflowExecutions({ namespace: "default", query })).count);
    assert.deepEqual([
      await count(""),
      await count("ExecutionStatus = 'Running'"),
      await count("WorkflowId STARTS_WITH 'x'"),
    ], [
      7,
      3,
      0,
    ]);
    const grouped = async (query: string) => {
      const { count, groups } = await script.service.countWorkflowExecutions({
        namespace: "default",
        query,
      });
      const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
      return [
        Number(count),
        ...groups.map(({ count, groupValues: [value] }) => {
          assert.deepEqual([text(value!.metadata["encoding"]), text(value!.metadata["type"])], [
            "json/plain",
            "Keyword",
          ]);
          return `${JSON.parse(text(value!.data))} ${count}`;
        }),
      ];
    };
    assert.deepEqual(await grouped("GROUP BY ExecutionStatus"), [7, "Running 3", "Completed 4"]);
    assert.deepEqual(await grouped("ExecutionStatus != 'Running' group by `ExecutionStatus`"), [
      4,
      "Completed 4",
    ]);
    assert.deepEqual(await grouped("WorkflowId = 'absent' GROUP BY ExecutionStatus"), [0]);
    await assert.rejects(
      count("ORDER BY StartTime"),
      matchesError(Code.INVALID_ARGUMENT, /ORDER BY is not supported in a count/),
    );
    await assert.rejects(
      count("GROUP BY WorkflowType"),
      matchesError(Code.INVALID_ARGUMENT, /grouped by ExecutionStatus only/),
    );
    await assert.rejects(
      count("GROUP BY ExecutionStatus, RunId"),
      matchesError(Code.INVALID_ARGUMENT, /expected AND, OR, GROUP BY/),
    );
    await assert.rejects(
      list("ExecutionStatus = 'Completed'", closed.nextPageToken as Uint8Array<ArrayBuffer>),
      matchesError(Code.INVALID_ARGUMENT, /another query/),
    );
    await assert.rejects(
      list("", new Uint8Array([1, 2])),
      matchesError(Code.INVALID_ARGUMENT, /invalid nextPageToken/),
    );
    await assert.rejects(list("Nonsense"), matchesError(Code.INVALID_ARGUMENT, /position 9/));
    await assert.rejects(
      script.service.listWorkflowExecutions({ namespace: "other" }),
      matchesError(Code.NOT_FOUND, /Namespace other is not found/, "NamespaceNotFound"),
    );
    await assert.rejects(
      engine.call("listWorkflowExecutions", new Uint8Array([0xff])),
      matchesError(
        Code.INVALID_ARGUMENT,
        /invalid (?:temporal.api.*)?ListWorkflowExecutionsRequest/,
      ),
    );
  }));

test("it says what it is", () =>
  withEngine(async (_, script) => {
    const system = await script.service.getSystemInfo({});
    assert.match(system.serverVersion, /^\d+\.\d+\.\d+/);
    const offered = Object.entries(system.capabilities!).filter(([, value]) => value === true).map((
      [name],
    ) => name);
    assert.deepEqual(offered.sort(), [
      ...[
        "activityFailureIncludeHeartbeat",
        "countGroupByExecutionStatus",
        "eagerWorkflowStart",
        "encodedFailureAttributes",
      ],
      ...["internalErrorDifferentiation", "sdkMetadata", "signalAndQueryHeader"],
      ...["supportsSchedules", "upsertMemo"],
    ]);
    const namespace = await script.service.describeNamespace({ namespace: "default" });
    assert.deepEqual([namespace.namespaceInfo?.name, namespace.namespaceInfo?.description], [
      "default",
      "embedded engine",
    ]);
    await assert.rejects(
      script.service.describeNamespace({ namespace: "other" }),
      matchesError(Code.NOT_FOUND, /not found/, "NamespaceNotFound"),
    );
  }));

test("a failed deletion rejects with the store's error like other calls", async () => {
  const store = new MemoryStore();
  const engine = await EmbeddedEngine.open({ store, onError: () => {} });
  const script = new Script(engine);
  await script.start("wf", { steps: 1 });
  store.purge = () => {
    throw new StoreError("the disk is full");
  };
  await assert.rejects(
    script.service.deleteWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId: "wf" },
    }),
    (e: Error) =>
      e instanceof ServiceError && e.code === Code.UNAVAILABLE &&
      /the disk is full/.test(e.message),
  );
  await engine.close();
});

test("a backlog counts the tasks waiting in one queue, and is empty after close", async () => {
  let now = 1_000_000;
  const clock = { nowMs: () => now, setTimer: () => () => {} };
  const engine = await EmbeddedEngine.open({ store: new MemoryStore(), clock });
  const script = new Script(engine);
  const none = { tasks: 0, oldestMs: 0 };
  await script.start("wf", { steps: 1 });
  assert.deepEqual(engine.backlog("another"), { workflow: none, activity: none });
  assert.deepEqual([engine.stats().openRuns, engine.stats().queuedTasks], [1, 1]);
  now += 3_000;
  assert.deepEqual(engine.backlog("q"), {
    workflow: { tasks: 1, oldestMs: 3_000 },
    activity: none,
  });
  await engine.close();
  assert.deepEqual(engine.backlog("q"), { workflow: none, activity: none });
});

test("lists show and filter by the fields of the engine's state", () =>
  withEngine(async (_, script) => {
    await script.service.startWorkflowExecution({
      ...{ namespace: "default", workflowId: "later", workflowType: { name: "Steps" } },
      ...{ taskQueue: { name: "q" }, requestId: "later", workflowStartDelay: { seconds: 3600n } },
    });
    const list = async (query: string) =>
      (await script.service.listWorkflowExecutions({ namespace: "default", query })).executions;
    const [run] = await list("RootWorkflowId = 'later' AND ParentWorkflowId IS NULL");
    const { executionTime, startTime, stateTransitionCount } = run!;
    assert.equal(executionTime!.seconds - startTime!.seconds, 3600n);
    assert.equal(stateTransitionCount, 1n);
    assert.equal((await list("ExecutionTime > '2000-01-01T00:00:00Z'")).length, 1);
    assert.equal((await list("HistoryLength > 0")).length, 0, "of closed workflows only");
    await script.service.terminateWorkflowExecution({
      ...{ namespace: "default", workflowExecution: { workflowId: "later" } },
    });
    assert.equal((await list("HistoryLength = 2 AND StateTransitionCount > 1")).length, 1);
    const [closed] = await list("ExecutionDuration <= '1h' AND HistorySizeBytes > 10");
    assert.equal(closed!.executionDuration!.seconds, 0n, "it ended before its first task");
    await assert.rejects(list("ExecutionDuration > 'long'"), /must be a duration such as '1h30m'/);
    await assert.rejects(list("HistoryLength > 'x'"), /HistoryLength must be an integer/);
  }));

test("unsupported methods and invalid requests are rejected", () =>
  withEngine(async (engine) => {
    await assert.rejects(
      engine.call("respondNexusTaskCompleted", new Uint8Array(0)),
      matchesError(
        Code.UNIMPLEMENTED,
        /does not have Nexus: .*\(RespondNexusTaskCompleted\)/,
      ),
    );
    await assert.rejects(
      engine.call("startWorkflowExecution", new Uint8Array([0xff, 0xff])),
      matchesError(Code.INVALID_ARGUMENT, /./),
    );
  }));

test("limits are reported by name", async () => {
  const engine = await EmbeddedEngine.open({
    store: new MemoryStore(),
    limits: { openRuns: 2, inbox: 3 },
  });
  const script = new Script(engine);
  await script.start("a", { steps: 0 });
  await script.start("b", { steps: 0 });
  await assert.rejects(
    script.start("c", { steps: 0 }),
    matchesError(Code.RESOURCE_EXHAUSTED, /2 open runs/, "MaxOpenRuns"),
  );
  for (let i = 0; i < 3; i++) await script.signal("a", i);
  await assert.rejects(script.signal("a", 4), matchesError(Code.RESOURCE_EXHAUSTED, /./));
  await engine.close();
});

test("the limit of open runs includes runs from before the restart", async () => {
  const store = new MemoryStore();
  const first = await EmbeddedEngine.open({ store });
  await new Script(first).start("a", { steps: 0 });
  await first.close();
  const engine = await EmbeddedEngine.open({ store, limits: { openRuns: 1 } });
  await assert.rejects(
    new Script(engine).start("b", { steps: 0 }),
    matchesError(Code.RESOURCE_EXHAUSTED, /1 open runs/),
  );
  await engine.close();
});

test("close commits entered calls, rejects later ones and keeps the caller's store open", async () => {
  const store = new MemoryStore();
  const engine = await EmbeddedEngine.open({ store });
  const script = new Script(engine);
  const poll = assert.rejects(
    script.service.pollActivityTaskQueue({ namespace: "default", taskQueue: { name: "other" } }),
    matchesError(Code.UNAVAILABLE, /closed/, "EngineClosed"),
  );
  const started = script.start("wf", { steps: 0 });
  await engine.close();
  await started;
  await poll;
  await engine.close();
  await assert.rejects(
    script.start("late", { steps: 0 }),
    matchesError(Code.UNAVAILABLE, /closed/, "EngineClosed"),
  );
  assert.equal(store.count(), 1);
});

test("a store file survives a restart, and is backed up and purged through the engine", () =>
  inFolder(async (folder) => {
    const path = join(folder, "runs.db");
    const engine = await EmbeddedEngine.open({ path, synchronous: "NORMAL" });
    assert.match(engine.store.description, /runs\.db .*synchronous=NORMAL/);
    await assert.rejects(EmbeddedEngine.open({ path }), StoreLockedError);
    const script = new Script(engine);
    script.startWorker();
    await script.start("done", { steps: 3 });
    await script.result("done");
    await script.start("open", { steps: 1, signals: 1 });
    engine.backup(join(folder, "copy.db"));
    await script.stopWorker();
    await engine.close();
    const again = await EmbeddedEngine.open({ path });
    const second = new Script(again);
    assert.deepEqual(seen(await second.history("done")).completed, [1, 2, 3]);
    assert.equal(await again.purge({ closedBefore: Date.now() - 60_000 }), 0);
    assert.equal(await again.purge({ closedBefore: Date.now() + 60_000 }), 1);
    await assert.rejects(second.history("done"), matchesError(Code.NOT_FOUND, /./));
    await second.signal("open", "x");
    second.startWorker();
    assert.deepEqual(await second.result("open"), { steps: [1], signals: ["x"] });
    await second.stopWorker();
    await again.close();
    const copy = await EmbeddedEngine.open({ path: join(folder, "copy.db") });
    assert.deepEqual(seen(await new Script(copy).history("done")).completed, [1, 2, 3]);
    await copy.close();
  }));

test("an engine that lost its store stops with the reason", () =>
  inFolder(async (folder) => {
    const path = join(folder, "runs.db");
    const errors: Error[] = [];
    const engine = await EmbeddedEngine.open({ path, onError: (e) => errors.push(e) });
    const script = new Script(engine);
    await script.start("wf", { steps: 0 });
    const { rmSync } = await import("node:fs");
    rmSync(`${path}-owner`);
    await assert.rejects(
      script.start("lost", { steps: 0 }),
      matchesError(Code.UNAVAILABLE, /not recorded .*owned by another engine/, "NotRecorded"),
    );
    assert.ok(engine.failure instanceof StoreFencedError);
    assert.deepEqual(errors, [engine.failure]);
    await assert.rejects(
      script.signal("wf", 1),
      matchesError(Code.UNAVAILABLE, /has stopped: .*owned by another engine/, "StoreFencedError"),
    );
    await engine.close();
    const next = await EmbeddedEngine.open({ path });
    assert.equal(next.store.count(), 1);
    await next.close();
  }));

test("tasks in flight at the death of the process are dispatched again", async () => {
  const store = new MemoryStore();
  const clock = new VirtualClock(1_753_000_000_000);
  const first = await EmbeddedEngine.open({ store, clock });
  const script = new Script(first);
  await script.start("wf", { steps: 1 });
  await script.start("idle", { steps: 1 });
  for (let i = 0; i < 2; i++) {
    const task = (await script.pollWorkflow())!;
    if (task.workflowExecution!.workflowId === "wf") await script.completeTask(task);
  }
  const activity = await script.service.pollActivityTaskQueue({
    namespace: "default",
    taskQueue: { name: "q" },
  });
  assert.equal(activity.activityId, "step-1");
  // The first engine is left as it is: its process is gone.
  const second = await EmbeddedEngine.open({ store, clock });
  const after = new Script(second);
  const again = await after.service.pollActivityTaskQueue({
    namespace: "default",
    taskQueue: { name: "q" },
  }, { timeoutMs: 2000 })
    .catch((e) => e);
  const retried = again instanceof ServiceError
    ? (clock.advanceBy(2000),
      await after.service.pollActivityTaskQueue({ namespace: "default", taskQueue: { name: "q" } }))
    : again;
  assert.equal(retried.activityId, "step-1");
  assert.equal(decodePayloads(retried.input), 1);
  const task = (await after.pollWorkflow())!;
  assert.equal(task.workflowExecution?.workflowId, "idle");
  // The dead holder's answer is not wanted any more.
  await assert.rejects(
    after.service.respondActivityTaskCompleted({
      namespace: "default",
      taskToken: activity.taskToken,
      result: payloads("late"),
    }),
    matchesError(Code.NOT_FOUND, /./),
  );
  await second.close();
  await first.close();
});

test("an engine needs exactly one store", async () => {
  await assert.rejects(EmbeddedEngine.open({}), /either the path .* or a store/);
  await assert.rejects(
    EmbeddedEngine.open({ path: "x", store: new MemoryStore() }),
    /either the path .* or a store/,
  );
});
