// `client.activity` on the embedded engine: starts, results, failures, changes, lists. A test plays
// the worker, in virtual time.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ActivityAlreadyStartedError,
  ActivityFailedError,
  ActivityNotFoundError,
  Client,
  type ClientInterceptor,
  type ClientOptions,
  defineSearchAttributeKey,
  silentLogger,
} from "../../../ts/client/mod.ts";
import { defaultPayloadConverter } from "../../../ts/converter/mod.ts";
import { MemoryStore } from "../../../ts/engine/mod.ts";
import { ActivityEngine, START_MS, valuesIn } from "../engine/activities/support.ts";

interface Opened {
  readonly engine: ActivityEngine;
  readonly client: Client;
}

const during = (
  body: (opened: Opened) => Promise<void>,
  options: Partial<ClientOptions> = {},
) =>
() =>
  ActivityEngine.during(new MemoryStore(), (engine) => {
    const common = { service: engine.engine, taskQueue: "q", logger: silentLogger };
    return body({ engine, client: new Client({ ...common, ...options }) });
  });

const charge = (customer: string, cents: number): string => `${customer} ${cents}`;

test(
  "an activity is started with arguments and options, and its handle has the result",
  during(async ({ engine, client }) => {
    const task = engine.poll();
    const handle = await client.activity.start<typeof charge>("charge", {
      id: "charge-17",
      args: ["ada", 1200],
      retry: { maximumAttempts: 3 },
      priority: { priorityKey: 2 },
      summary: "one charge",
    });
    const got = await task;
    assert.deepEqual(valuesIn(got.input), ["ada", 1200]);
    assert.equal(got.activityType.name, "charge");
    assert.equal(got.startToCloseTimeout, "30s");
    assert.equal(got.priority.priorityKey, 2);
    const described = await handle.describe();
    assert.deepEqual(
      [described.id, described.runId, described.type, described.status, described.state],
      ["charge-17", handle.runId, "charge", "RUNNING", "STARTED"],
    );
    assert.deepEqual([described.args, described.summary], [["ada", 1200], "one charge"]);
    assert.deepEqual([described.attempt, described.startTime], [1, new Date(START_MS)]);
    const result: Promise<string> = handle.result();
    await engine.complete(got.taskToken, "paid");
    assert.equal(await result, "paid");
    const latest = client.activity.getHandle<typeof charge>("charge-17");
    assert.equal(await latest.result(), "paid");
    const closed = JSON.parse(JSON.stringify(await latest.describe()));
    assert.deepEqual([closed.status, closed.taskQueue, closed.raw], ["COMPLETED", "q", undefined]);
  }),
);

test(
  "a result waits through retries; a failure has its cause",
  during(async ({ engine, client }) => {
    const running = client.activity.execute("work", { id: "a", retry: { maximumAttempts: 2 } });
    const failed = assert.rejects(running, (error: ActivityFailedError) => {
      assert.ok(error instanceof ActivityFailedError);
      assert.deepEqual([error.message, error.id], ["activity a failed: no", "a"]);
      assert.match(error.runId!, /^[0-9a-f-]{36}$/);
      assert.equal((error.cause as { type?: string }).type, "No");
      return true;
    });
    await engine.fail((await engine.poll()).taskToken);
    const waiting = await client.activity.getHandle("a").describe();
    assert.deepEqual([waiting.attempt, waiting.lastFailure?.message], [2, "no"]);
    const second = engine.poll();
    engine.advance(1000);
    await engine.fail((await second).taskToken);
    await failed;
  }),
);

test(
  "policies decide about an id that is in use; without an id each start has a new one",
  during(async ({ client }) => {
    const { activity } = client;
    const first = await activity.start("work", { id: "a" });
    await assert.rejects(activity.start("work", { id: "a" }), (error) => {
      assert.ok(error instanceof ActivityAlreadyStartedError);
      assert.deepEqual([error.id, error.runId], ["a", first.runId]);
      assert.match(error.message, /^activity a already exists \(run .*idConflictPolicy/);
      return true;
    });
    const same = await activity.start("work", { id: "a", idConflictPolicy: "USE_EXISTING" });
    assert.equal(same.runId, first.runId);
    const ids = [(await activity.start("work", {})).id, (await activity.start("work", {})).id];
    assert.equal(new Set(ids).size, 2);
    await assert.rejects(activity.getHandle("b").describe(), (error) => {
      assert.ok(error instanceof ActivityNotFoundError);
      assert.match(error.message, /ID: b; check the id and the namespace/);
      return true;
    });
  }),
);

test(
  "an activity is paused, changed, reset, canceled, terminated and deleted through its handle",
  during(async ({ engine, client }) => {
    const handle = await client.activity.start("work", { id: "a" });
    const state = async () => {
      const { status, state } = await handle.describe();
      return [status, state];
    };
    await handle.pause("repair");
    assert.deepEqual(await state(), ["PAUSED", "PAUSED"]);
    await handle.updateOptions({ startToClose: "5m", retry: { maximumAttempts: 1 } });
    assert.equal((await handle.describe()).raw.startToCloseTimeout?.seconds, 300n);
    await handle.reset({ keepPaused: true, restoreOptions: true });
    assert.equal((await handle.describe()).raw.startToCloseTimeout?.seconds, 30n);
    await handle.unpause();
    assert.deepEqual(await state(), ["RUNNING", "SCHEDULED"]);
    const { taskToken } = await engine.poll();
    await handle.cancel("not needed");
    assert.deepEqual(await state(), ["RUNNING", "CANCEL_REQUESTED"]);
    await assert.rejects(client.heartbeatActivity(Buffer.from(taskToken, "base64")), /CANCELLED/);
    await handle.terminate("at once");
    await assert.rejects(handle.result(), { message: "activity a failed: at once" });
    await handle.delete();
    await assert.rejects(handle.describe(), ActivityNotFoundError);
    await assert.rejects(handle.updateOptions({}), /needs at least one of taskQueue, startToClose/);
  }),
);

test(
  "activities are completed by id from outside",
  during(async ({ engine, client }) => {
    const handle = await client.activity.start("work", { id: "a" });
    await engine.poll();
    await client.completeActivity({ activityId: "a" }, "from outside");
    assert.equal(await handle.result(), "from outside");
  }),
);

test(
  "lists and counts have the activities of a query, page by page",
  during(async ({ client }) => {
    const customer = defineSearchAttributeKey("Customer", "KEYWORD");
    for (const name of ["ada", "alan", "grace"]) {
      const searchAttributes = [{ key: customer, value: name }];
      await client.activity.start("work", { id: `of-${name}`, searchAttributes });
    }
    await client.activity.getHandle("of-alan").terminate();
    const found = [];
    for await (const each of client.activity.list("", { pageSize: 1 })) found.push(each);
    assert.deepEqual(found.map(({ id }) => id).sort(), ["of-ada", "of-alan", "of-grace"]);
    const open = [];
    for await (const each of client.activity.list("Customer = 'ada'")) open.push(each);
    assert.deepEqual(open.map(({ id, status }) => [id, status]), [["of-ada", "RUNNING"]]);
    assert.equal(open[0]!.typedSearchAttributes.get(customer), "ada");
    assert.equal((await client.activity.count()).count, 3);
    const { groups } = await client.activity.count("GROUP BY ExecutionStatus");
    assert.deepEqual(groups.map(({ values, count }) => `${values[0]} ${count}`).sort(), [
      "Running 2",
      "Terminated 1",
    ]);
  }),
);

const seen: string[] = [];
const interceptor: ClientInterceptor = {
  startActivity(input, next) {
    input.headers["tenant"] = defaultPayloadConverter.toPayload("acme");
    return next({ ...input, args: ["changed"], options: { ...input.options, id: "renamed" } });
  },
  any(call, next) {
    seen.push(call.operation);
    return next();
  },
};
test(
  "interceptors see each operation, and change arguments and headers of a start",
  during(async ({ engine, client }) => {
    const { activity } = client;
    const task = engine.poll();
    const handle = await activity.start("work", { id: "a", args: ["given"] });
    const { input, header } = await task;
    assert.deepEqual(valuesIn(input), ["changed"]);
    assert.deepEqual(valuesIn({ payloads: [header.fields.tenant] }), ["acme"]);
    assert.equal((await handle.describe()).id, "renamed");
    await handle.terminate();
    for await (const _ of activity.list());
    await activity.count();
    assert.deepEqual(seen, [
      "startActivity",
      "describeActivity",
      "changeActivity",
      "listActivities",
      "countActivities",
    ]);
  }, { interceptors: [interceptor] }),
);

test(
  "invalid calls are rejected before a request",
  during(async ({ engine, client }) => {
    const { activity } = client;
    const withoutQueue = new Client({ service: engine.engine, logger: silentLogger }).activity;
    for (
      const [call, message] of [
        [withoutQueue.start("work", {}), /needs a taskQueue/],
        [activity.start("", {}), /needs the name of its type/],
        [activity.start("work", { id: "" }), /the id of an activity must be a non-empty string/],
        [activity.start("work", { timeouts: 1 } as object), /has no option "timeouts"/],
        [activity.start("work", { args: "ada" as never }), /must be an array, not "ada"/],
        [
          activity.start("work", { idReusePolicy: "NEVER" as "REJECT_DUPLICATE" }),
          /invalid idReusePolicy "NEVER"; valid values: ALLOW_DUPLICATE,/,
        ],
        [activity.start("work", { priority: { priorityKey: 0 } }), /priorityKey must be/],
      ] as const
    ) await assert.rejects(call, message);
    assert.equal((await activity.count()).count, 0);
  }),
);
