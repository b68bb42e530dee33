// What only a cluster's client can do, on a real Temporal dev server: update-with-start, reset,
// delete, lists over pages, counts in groups, search attributes of every type, activities completed
// from outside.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  Client,
  defineSearchAttributeKey,
  ServiceError,
  silentLogger,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateRejectedError,
} from "../../../ts/client/mod.ts";
import { activityInfo, completeAsync } from "../../../ts/activity/mod.ts";
import { nativePrograms } from "../../../ts/executor/run/native_program.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import {
  activities,
  continueAsNew,
  noreply,
  on,
  receive,
  reply,
  shield,
  signal,
  sleep,
  stop,
  update,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";
import { inlineRealm } from "./support/realm.ts";

const add = update<[number], number>("add");
const note = signal<[string]>("note");
const finish = signal("finish");
const sums: number[] = [];

/** Adds up what it is sent. */
const ledger = workflow("Ledger", async (first: number) => {
  const { sum, notes } = await receive({ sum: first, notes: [] as string[] }, [
    on(add, ([n], now) => reply(now.sum + n, { ...now, sum: now.sum + n }), {
      validate: ([n]) => {
        if (n < 0) throw new Error("only more");
      },
    }),
    on(note, ([text], now) => noreply({ ...now, notes: [...now.notes, text] })),
    on(finish, (_, now) => stop(now)),
  ]);
  sums.push(sum);
  return { sum, notes };
});

interface Acts {
  rate(): Promise<number>;
  outside(): Promise<string>;
}
const acts = activities<Acts>({
  startToClose: "20s",
  retry: { initialInterval: 20 },
  cancellationType: "waitCancellationCompleted",
});
let rate = 1;
const rated = workflow("Rated", async () => {
  const found = await acts.rate();
  await sleep(1);
  return found * 10;
});
const going = workflow("Going", async (left: number) => {
  await sleep(1);
  if (left > 0) return continueAsNew(left - 1);
  return "arrived";
});
const patient = workflow("Patient", async () => await acts.outside());
const waits = workflow("Waits", async () => (await waitForSignal(note))[0]);

const text = defineSearchAttributeKey("Words", "TEXT");
const customer = defineSearchAttributeKey("Customer", "KEYWORD");
const items = defineSearchAttributeKey("Items", "INT");
const amount = defineSearchAttributeKey("Amount", "DOUBLE");
const paid = defineSearchAttributeKey("Paid", "BOOL");
const due = defineSearchAttributeKey("Due", "DATETIME");
const tags = defineSearchAttributeKey("Tags", "KEYWORD_LIST");
const REGISTERED =
  "Words=Text Customer=Keyword Items=Int Amount=Double Paid=Bool Due=Datetime Tags=KeywordList"
    .split(" ");
const chain = workflow("Chain", async () => {
  await shield(() => waitForSignal(note));
  return continueAsNew();
});
const seen = workflow("Seen", async () => {
  const { typedSearchAttributes: own } = workflowInfo();
  return [own.get(customer), own.get(items), own.get(due)?.toISOString(), own.get(tags)];
});

const outside: { token: Uint8Array; activityId: string }[] = [];
let server: DevServer, service: GrpcService, client: Client, worker: Worker, working: Promise<void>;
const temporal = (...words: string[]) =>
  execFileSync(temporalCli()!, [...words, "--address", server.address], { encoding: "utf8" });

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, taskQueue: "client", logger: silentLogger });
  const table = nativePrograms([ledger, rated, going, patient, waits, seen, chain]);
  worker = await Worker.create({
    service,
    taskQueue: "client",
    realm: await inlineRealm(service, table.get),
    cachedWorkflows: 0,
    logger: silentLogger,
    activities: {
      rate: () => Promise.resolve(rate),
      outside: () => {
        const { taskToken, activityId } = activityInfo();
        outside.push({ token: taskToken, activityId });
        return completeAsync();
      },
    },
  });
  working = worker.run();
  const names = REGISTERED.flatMap((pair) => ["--name", pair.split("=")[0]!]);
  const types = REGISTERED.flatMap((pair) => ["--type", pair.split("=")[1]!]);
  temporal("operator", "search-attribute", "create", ...names, ...types);
});

after(async () => {
  await worker?.shutdown();
  await working;
  service?.close();
  await server?.stop();
});

test("update-with-start starts a workflow, uses a running one, and is idempotent by its ids", {
  skip: noServer,
}, async () => {
  const options = { id: "uws", args: [10] as [number], update: add };
  assert.equal(await client.executeUpdateWithStart(ledger, { ...options, updateArgs: [1] }), 11);
  assert.equal(
    await client.executeUpdateWithStart(ledger, { ...options, updateArgs: [2], updateId: "two" }),
    13,
  );
  assert.equal(
    await client.executeUpdateWithStart(ledger, { ...options, updateArgs: [2], updateId: "two" }),
    13,
    "the same update",
  );
  const { workflow, update } = await client.startUpdateWithStart(ledger, {
    ...options,
    updateArgs: [4],
    waitFor: "accepted",
  });
  assert.equal(await update.result(), 17);
  await workflow.signal(finish);
  assert.deepEqual(await workflow.result(), { sum: 17, notes: [] });
  const again = await client.startUpdateWithStart(ledger, {
    ...options,
    updateArgs: [1],
    waitFor: "completed",
  });
  assert.notEqual(again.workflow.runId, workflow.runId, "a closed one is started again");
  assert.equal(await again.update.result(), 11);
  await again.workflow.terminate();
});

test("update-with-start: rejections throw their specific errors", { skip: noServer }, async () => {
  const running = await client.start(waits, { id: "uws-taken" });
  const asked = client.executeUpdateWithStart(ledger, {
    id: "uws-taken",
    args: [1],
    update: add,
    updateArgs: [1],
    idConflictPolicy: "FAIL",
  });
  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof WorkflowExecutionAlreadyStartedError, String(error));
    assert.equal(error.runId, running.runId);
    return true;
  });
  await running.terminate();
  const rejected = await client.startUpdateWithStart(ledger, {
    id: "uws-rejected",
    args: [1],
    update: add,
    updateArgs: [-1],
    waitFor: "accepted",
  });
  await assert.rejects(rejected.update.result(), (error) => {
    assert.ok(error instanceof WorkflowUpdateRejectedError, String(error));
    assert.match(error.message, /only more/);
    return true;
  });
  assert.equal(
    (await rejected.workflow.describe()).status,
    "RUNNING",
    "the workflow was started and lives",
  );
  await rejected.workflow.terminate();
  const odd = client.executeUpdateWithStart("Ledger", {
    id: "odd".repeat(2_000),
    update: "add",
    args: [1],
    updateArgs: [1],
  });
  await assert.rejects(odd, (error) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.match(
      error.message,
      /WorkflowId/i,
      "the start's own error, not «operation was aborted»",
    );
    return true;
  });
});

test(
  "update-with-start: a start with the same request id uses the run that it started, also with FAIL",
  { skip: noServer },
  async () => {
    const options = {
      id: "uws-same",
      args: [0] as [number],
      update: add,
      idConflictPolicy: "FAIL",
      requestId: "once",
    } as const;
    assert.equal(
      await client.executeUpdateWithStart(ledger, { ...options, updateArgs: [1], updateId: "a" }),
      1,
    );
    assert.equal(
      await client.executeUpdateWithStart(ledger, { ...options, updateArgs: [1], updateId: "a" }),
      1,
    );
    assert.equal(
      await client.executeUpdateWithStart(ledger, { ...options, updateArgs: [1], updateId: "b" }),
      2,
    );
    await client.getHandle(ledger, "uws-same").terminate();
  },
);

test(
  "a handle of a start that used a running workflow addresses it, whichever run of its chain that is",
  { skip: noServer },
  async () => {
    const open = await client.start(chain, { id: "joined" });
    await open.signal(note, "on");
    await until(
      "it has continued",
      async () => (await client.getHandle(chain, "joined").describe()).runId !== open.runId,
    );
    const joined = await client.start(chain, { id: "joined", idConflictPolicy: "USE_EXISTING" });
    assert.notEqual(joined.runId, open.runId);
    await joined.cancel();
    await joined.terminate("done");
    await assert.rejects(joined.result(), (error) => error instanceof WorkflowFailedError);
  },
);

test(
  "reset: to the first workflow task, the last one, an event; signals are reapplied unless excluded",
  { skip: noServer },
  async () => {
    rate = 1;
    const handle = await client.start(rated, { id: "reset" });
    assert.equal(await handle.result(), 10);
    rate = 2;
    const over = await handle.reset({ type: "FIRST_WORKFLOW_TASK", reason: "another rate" });
    assert.notEqual(over.runId, handle.runId);
    assert.equal(await over.result(), 20, "the activity ran again");
    rate = 3;
    const last = await over.reset({ type: "LAST_WORKFLOW_TASK", reason: "the last task again" });
    assert.equal(await last.result(), 20, "what was done before the point stays");
    const described = JSON.parse(temporal("workflow", "describe", "-w", "reset", "-o", "json"));
    assert.equal(described.workflowExecutionInfo.execution.runId, last.runId);

    const sum = await client.start(ledger, { id: "reset-signals", args: [0] });
    await until("it receives", async () => (await sum.fetchHistory()).events.length === 4);
    await sum.signal(note, "one");
    await sum.signal(note, "two");
    const pinned = client.getHandle(ledger, "reset-signals", sum.runId!);
    const reapplied = await pinned.reset({ eventId: 4, reason: "signals come again" });
    await reapplied.signal(finish);
    assert.deepEqual(await reapplied.result(), { sum: 0, notes: ["one", "two"] });
    const bare = await pinned.reset({ eventId: 4, reason: "without", reapplyExclude: ["SIGNAL"] });
    await bare.signal(finish);
    assert.deepEqual(await bare.result(), { sum: 0, notes: [] });
  },
);

test("reset: into the run before continue-as-new; rejections; one request id, one reset", {
  skip: noServer,
}, async () => {
  const handle = await client.start(going, { id: "reset-can", args: [1] });
  assert.equal(await handle.result(), "arrived");
  const again = await client.getHandle(going, "reset-can").reset({
    type: "LAST_CONTINUED_AS_NEW",
    reason: "again",
  });
  assert.equal(await again.result(), "arrived");
  const open = await client.start(waits, { id: "reset-once" });
  const fixed = { type: "LAST_WORKFLOW_TASK", reason: "x", requestId: "one-reset" } as const;
  await until("it waits", async () => (await open.fetchHistory()).events.length === 4);
  const pinned = client.getHandle(waits, "reset-once", open.runId!);
  const { runId } = await pinned.reset(fixed);
  assert.equal((await pinned.reset(fixed)).runId, runId);
  await assert.rejects(
    client.getHandle(going, "absent").reset({ eventId: 4, reason: "" }),
    (error) => error instanceof WorkflowNotFoundError,
  );
  await assert.rejects(
    pinned.reset({ eventId: 5000, reason: "" }),
    (error: Error) => /event/i.test(error.message),
  );
  await client.getHandle(waits, "reset-once").terminate();
});

test("delete removes a run, and ends an open one first", { skip: noServer }, async () => {
  const handle = await client.start(waits, { id: "deleted" });
  await handle.delete();
  await until(
    "it is gone",
    () => handle.describe().then(() => false, (error) => error instanceof WorkflowNotFoundError),
  );
  await assert.rejects(handle.delete(), (error) => error instanceof WorkflowNotFoundError);
});

test("lists are paged, and counts are grouped", { skip: noServer }, async () => {
  const ids = Array.from({ length: 23 }, (_, i) => `page-${i}`);
  await Promise.all(
    ids.map((id, i) =>
      client.start(i < 20 ? going : waits, { id, args: i < 20 ? [0] : [] } as never)
    ),
  );
  const query = 'WorkflowId STARTS_WITH "page-"';
  const groups = async () => await client.countByStatus(query);
  await until("all are listed", async () => {
    const now = await groups();
    return now.COMPLETED === 20 && now.RUNNING === 3;
  });
  let pages = 0;
  const paged = new Client({
    service,
    interceptors: [{ list: (input, next) => (pages++, next(input)) }],
    logger: silentLogger,
  });
  const listed: string[] = [];
  for await (const { workflowId } of paged.list(query, { pageSize: 5 })) listed.push(workflowId);
  assert.deepEqual(listed.sort(), [...ids].sort());
  assert.ok(pages >= 5, `${pages} pages`);
  assert.equal(await client.count(query), 23);
  const byStatus = await client.countGroups(`${query} GROUP BY ExecutionStatus`);
  assert.deepEqual(byStatus.groups.map(({ count }) => count).sort(), [20, 3]);
  assert.deepEqual(byStatus.groups.map(({ values }) => values[0]).sort(), ["Completed", "Running"]);
  await assert.rejects(
    client.count("Nonsense = 1"),
    (error: Error) => /Nonsense/.test(error.message),
  );
  for (const id of ids.slice(20)) await client.getHandle(waits, id).terminate();
});

test("search attributes of every type are stored, queryable, and returned with their types", {
  skip: noServer,
}, async () => {
  const moment = new Date("2030-01-02T03:04:05.678Z");
  const pairs = [
    { key: text, value: "some searchable words" },
    { key: customer, value: "ada" },
    { key: items, value: 7 },
    { key: amount, value: 3 },
    { key: paid, value: true },
    { key: due, value: moment },
    { key: tags, value: ["red", "round"] },
  ] as const;
  const handle = await client.start(seen, { id: "attributes", searchAttributes: pairs });
  assert.deepEqual(await handle.result(), ["ada", 7, moment.toISOString(), ["red", "round"]]);
  const { typedSearchAttributes: described, searchAttributes } = await handle.describe();
  for (const { key, value } of pairs) assert.deepEqual(described.get(key), value, key.name);
  assert.equal(searchAttributes["Customer"], "ada");
  const query =
    `Customer = "ada" AND Items > 6 AND Amount = 3.0 AND Paid = true AND Due > "2029-01-01T00:00:00Z" AND Tags = "red"`;
  await until("it is listed", async () => (await client.count(query)) === 1);
  for await (const run of client.list(query)) {
    assert.equal(run.workflowId, "attributes");
    for (const { key, value } of pairs) {
      assert.deepEqual(run.typedSearchAttributes.get(key), value, key.name);
    }
    assert.throws(
      () => run.typedSearchAttributes.get(defineSearchAttributeKey("Items", "KEYWORD")),
      /is of type INT/,
    );
  }
  const copied = await client.start(seen, { id: "attributes-2", searchAttributes: described });
  assert.deepEqual(await copied.result(), ["ada", 7, moment.toISOString(), ["red", "round"]]);
  await assert.rejects(
    client.start(seen, { id: "attributes-3", searchAttributes: { Unregistered: 1 } }),
    (error: Error) => /Unregistered/.test(error.message),
  );
});

test(
  "entities and correlations are rejected until they are registered, then found and canceled",
  { skip: noServer },
  async () => {
    const register = "temporal operator search-attribute create --namespace default --name";
    const refused = (name: string) => (error: Error) =>
      error instanceof ServiceError &&
      new RegExp(`${register} ${name} --type Keyword$`).test(error.message);
    const belonging = { entityId: "42", correlationId: "spell-1" };
    await assert.rejects(
      client.start(patient, { id: "belongs-1", ...belonging }),
      refused("Workflow\\w+"),
    );
    await assert.rejects(client.workflows({ entityId: "42" }).count(), refused("WorkflowEntityId"));
    await assert.rejects(
      client.workflows({ correlationId: "spell-1" }).cancel(),
      refused("WorkflowCorrelationId"),
    );
    for (const name of ["WorkflowEntityId", "WorkflowCorrelationId"]) {
      temporal(
        "operator",
        "search-attribute",
        "create",
        "--namespace",
        "default",
        "--name",
        name,
        "--type",
        "Keyword",
      );
    }
    // A server looks at what is registered every few seconds.
    const started = async (id: string) => {
      try {
        return await client.start(patient, { id, ...belonging });
      } catch (error) {
        if (!refused("Workflow\\w+")(error as Error)) throw error;
      }
    };
    await until("a start is taken", async () => await started("belongs-1") !== undefined);
    await client.start(patient, { id: "belongs-2", entityId: "43", correlationId: "spell-1" });
    const spell = client.workflows({ correlationId: "spell-1" });
    await until("both are listed", async () => await spell.count() === 2);
    assert.equal(await client.workflows({ entityId: "42" }).count(), 1);
    assert.equal(await spell.terminate("dispelled"), 2);
    assert.equal((await client.getHandle(patient, "belongs-2").describe()).status, "TERMINATED");
  },
);

test("activities are completed, failed and canceled from outside, by token and by id; once", {
  skip: noServer,
}, async () => {
  const begin = async (id: string) => {
    const before = outside.length;
    const handle = await client.start(patient, { id });
    await until("the activity waits", () => outside.length > before);
    return { handle, ...outside[outside.length - 1]! };
  };
  const byToken = await begin("outside-token");
  await client.heartbeatActivity(byToken.token, { done: 1 });
  await client.completeActivity(byToken.token, "by token");
  await assert.rejects(
    client.completeActivity(byToken.token, "twice"),
    (error) => error instanceof ActivityNotFoundError,
  );
  assert.equal(await byToken.handle.result(), "by token");

  const byId = await begin("outside-id");
  const address = { workflowId: "outside-id", activityId: byId.activityId };
  await client.heartbeatActivity(address, { done: 2 });
  assert.deepEqual((await byId.handle.describe()).pendingActivities[0]?.heartbeatDetails, {
    done: 2,
  });
  await client.completeActivity(address, "by id");
  assert.equal(await byId.handle.result(), "by id");
  await assert.rejects(
    client.completeActivity(address, "late"),
    (error) => error instanceof ActivityNotFoundError,
  );

  const failing = await begin("outside-failed");
  await client.failActivity(failing.token, new Error("not this time"));
  await until(
    "it is tried again",
    () => outside.length > 0 && outside[outside.length - 1]!.token !== failing.token,
  );
  await client.completeActivity(
    { workflowId: "outside-failed", activityId: failing.activityId },
    "at last",
  );
  assert.equal(await failing.handle.result(), "at last");

  const cancelled = await begin("outside-cancelled");
  await cancelled.handle.cancel("enough");
  await until(
    "the loss is reported",
    () =>
      client.heartbeatActivity(cancelled.token).then(
        () => false,
        (error) => error instanceof ActivityCancelledError,
      ),
  );
  await client.reportCancellation(cancelled.token, "stopped");
  await assert.rejects(cancelled.handle.result(), (error) => error instanceof WorkflowFailedError);
});
