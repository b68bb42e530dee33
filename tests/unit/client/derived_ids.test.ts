// Workflow ids that definitions derive from the arguments of a start.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type App, open, silentLogger } from "../../../ts/mod.ts";
import { until } from "../../support/until.ts";
import { WorkflowExecutionAlreadyStartedError } from "../../../ts/client/mod.ts";
import {
  carry,
  executeChild,
  isFailure,
  signal,
  spawn,
  startChild,
  waitForSignal,
  workflow,
  WorkflowExecutionAlreadyStartedError as ChildIdInUse,
  workflowInfo,
} from "../../../ts/workflow/mod.ts";

const go = signal<[n: number]>("go");

const order = workflow("order", {
  id: (item: string, _count?: number) => `order-${item}`,
  run: async (item: string, count = 1) => {
    return [workflowInfo().workflowId, item, count, await waitForSignal(go)] as const;
  },
});
const quick = workflow("quick", {
  id: ({ key }: { key: string }) => `quick-${key}`,
  run: ({ key }: { key: string }) => Promise.resolve([key, workflowInfo().workflowId]),
});
const rounds = workflow("rounds", {
  id: (key: string) => `rounds-${key}`,
  carry: (_key: string) => 0,
  round: async (n: number, _key: string) =>
    await (n < 2 ? carry(n + 1) : workflowInfo().workflowId),
});
const parent = workflow("parent", async () => {
  const spawned = await spawn(quick, { key: "spawned" });
  const named = await executeChild(quick, { id: "explicit", args: [{ key: "named" }] });
  const first = await startChild(order, { args: ["child"] });
  const second = await startChild(order, { args: ["child"] }).catch((error) =>
    isFailure(error, ChildIdInUse)
  );
  return [spawned, named, await spawn(rounds, "r"), first.workflowId, second];
});
const wrong = workflow("wrong", {
  id: (kind: string) => (kind === "empty" ? "" : undefined) as string,
  run: (_kind: string) => Promise.resolve(),
});

async function withApp(body: (app: App) => Promise<void>): Promise<void> {
  const app = await open({
    workflows: { order, quick, rounds, parent, wrong },
    logger: silentLogger,
  });
  try {
    await body(app);
  } finally {
    await app.close();
  }
}

test("a start without an id gets that of the definition, and a duplicate attaches to the open run", () =>
  withApp(async ({ client }) => {
    const first = await client.start(order, { args: ["book", 2] });
    const again = await client.start(order, { args: ["book", 5] });
    assert.equal(first.workflowId, "order-book");
    assert.equal(again.runId, first.runId);
    await first.signal(go, 7);
    // The arguments are those of the run that was started.
    assert.deepEqual(await again.result(), ["order-book", "book", 2, 7]);
    const next = await client.start(order, { args: ["book"] });
    assert.notEqual(next.runId, first.runId, "the run before is closed");
    await next.signal(go, 8);
    assert.deepEqual(await client.execute(quick, { args: [{ key: "a" }] }), ["a", "quick-a"]);
    assert.equal(await client.execute(rounds, { args: ["b"] }), "rounds-b");
  }));

test("an id and a conflict policy of the call take precedence", () =>
  withApp(async ({ client }) => {
    const explicit = await client.start(order, { id: "mine", args: ["book"] });
    assert.equal(explicit.workflowId, "mine");
    const inUse = (error: unknown) => error instanceof WorkflowExecutionAlreadyStartedError;
    await assert.rejects(client.start(order, { id: "mine", args: ["book"] }), inUse);
    const derived = await client.start(order, { args: ["pen"] });
    await assert.rejects(client.start(order, { args: ["pen"], idConflictPolicy: "FAIL" }), inUse);
    const replaced = await client.start(order, {
      args: ["pen"],
      idReusePolicy: "TERMINATE_IF_RUNNING",
    });
    assert.notEqual(replaced.runId, derived.runId);
    // A name has no definition to derive from.
    await assert.rejects(client.start("order", { args: ["x"] } as never), /needs an id/);
  }));

test("a signal with start derives the id, and reaches the open run", () =>
  withApp(async ({ client }) => {
    const options = { args: ["cup"] as [string], signal: go, signalArgs: [3] as [number] };
    const started = await client.signalWithStart(order, options);
    assert.equal(started.workflowId, "order-cup");
    assert.deepEqual(await started.result(), ["order-cup", "cup", 1, 3]);
    const waiting = await client.start(order, { args: ["jar"] });
    const signaled = await client.signalWithStart(order, { ...options, args: ["jar"] });
    assert.equal(signaled.runId, waiting.runId);
    assert.deepEqual(await waiting.result(), ["order-jar", "jar", 1, 3]);
  }));

test("children derive their ids; one with the id of an open run is rejected", () =>
  withApp(async ({ client }) => {
    assert.deepEqual(await client.execute(parent, { id: "p", args: [] }), [
      ["spawned", "quick-spawned"],
      ["named", "explicit"],
      "rounds-r",
      "order-child",
      true,
    ]);
  }));

test("a derived id that is not a text is rejected with the workflow's name", () =>
  withApp(async ({ client }) => {
    const message = /^TypeError: id of workflow "wrong" must return a non-empty string, not/;
    await assert.rejects(client.start(wrong, { args: ["empty"] }), message);
    await assert.rejects(client.start(wrong, { args: ["other"] }), message);
    assert.throws(
      () => workflow("W", { id: "fixed" as never, run: () => Promise.resolve() }),
      /^TypeError: id of workflow "W" must be a function/,
    );
  }));

test("a schedule starts workflows with the derived id and the time; a given id wins, an invalid one is rejected", async () => {
  await withApp(async ({ client }) => {
    const spec = { intervals: [{ every: "1h" }] } as const;
    const startWorkflow = "startWorkflow";
    const idsOf = async (scheduleId: string, workflowId?: string) => {
      const handle = await client.schedule.create({
        scheduleId,
        spec,
        action: {
          type: startWorkflow,
          workflowType: quick,
          args: [{ key: scheduleId }],
          ...(workflowId !== undefined && { workflowId }),
        },
      });
      await handle.trigger();
      const started = await until(`schedule ${scheduleId} started its workflow`, async () => {
        const [taken] = (await handle.describe()).info.recentActions;
        return taken?.workflow?.workflowId;
      });
      const { action } = await handle.describe();
      return [action.workflowId, started.replace(/-\d{4}-\d\d-\d\dT[\d:]+Z$/, " and a time")];
    };
    assert.deepEqual(await idsOf("a"), ["quick-a", "quick-a and a time"]);
    assert.deepEqual(await idsOf("b", "explicit"), ["explicit", "explicit and a time"]);
    await assert.rejects(
      client.schedule.create({
        scheduleId: "c",
        spec,
        action: { type: startWorkflow, workflowType: wrong, args: ["empty"] },
      }),
      { name: "TypeError", message: /id of workflow "wrong" must return a non-empty string/ },
    );
  });
});
