// What users' workflows do on a real server, with workflow code in worker realms; and every history
// that this makes is read elsewhere.
// takes: 70 s
//
// What is shown on a real server, and where:
//   the seven examples ........................................ here
//   updates: accepted, rejected by a validator, failed ........ suites/client_suite; outside of
//   receive, while busy, async: here;
// with start: client.test; at continue-as-new: suites/client_suite
//   signals during completion (UNHANDLED_COMMAND) ............. here
//   queries live and after close .............................. suites/client_suite; on a cache
//   miss: here ("8,000 events") cancellation ..............................................
//   suites; with clean-up in a shield: here continue-as-new, side effects
//   ............................. suites/client_suite, here (examples) patches across a deploy
//   ................................... here; code replaced in a running worker: replacement.test
//   activities: retry, heartbeat, cancel, async completion .... suites/worker_suite; paused, reset,
//   throttled: operated_activities.test worker SIGKILL, server SIGKILL and restart ................
//   crash.test sticky caches of 0, 1 and 1,000 ........................... suites/worker_suite
//   8,000 events by pages .................................... here a poisoned workflow and its
//   neighbors .................... here (spins, throws, astray, diverges), suites/worker_suite;
//                                                               huge payloads: worker_rules.test
//   payload codecs ............................................ codec.test; programs of the
//   official SDK: compat.test
import { fromBinary } from "@bufbuild/protobuf";
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { scenarios as examples, workflows as exampleModules } from "../../../examples/scenarios.ts";
import { activities as exampleActivities } from "../../../examples/scenarios.ts";
import type { App } from "../../../ts/mod.ts";
import {
  Client,
  silentLogger,
  WorkflowFailedError,
  WorkflowUpdateRejectedError,
} from "../../../ts/client/mod.ts";
import { type RawService, ServiceError } from "../../../ts/service/raw.ts";
import { CommandType } from "../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { WorkflowTaskFailedCause } from "../../../ts/messages/generated/temporal/api/enums/v1/failed_cause_pb.ts";
import { RespondWorkflowTaskCompletedRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker, type WorkerOptions } from "../../../ts/worker/mod.ts";
import {
  activities,
  isCancellation,
  on,
  receive,
  stop,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";
import * as flowActivities from "./flows/activities.ts";
import * as flows from "./flows/workflows.ts";
import { Collected, readElsewhere } from "./support/collected.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

const flowModule = new URL("./flows/workflows.ts", import.meta.url);
let server: DevServer, service: GrpcService, client: Client, collected: Collected;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, taskQueue: "flows", logger: silentLogger });
  collected = new Collected(() => server.address);
});
after(async () => {
  service?.close();
  await server?.stop();
});

async function work<T>(
  body: (worker: Worker) => Promise<T>,
  options: Partial<WorkerOptions> = {},
): Promise<T> {
  const worker = await Worker.create({
    service,
    taskQueue: "flows",
    workflows: flowModule,
    activities: { ...flowActivities },
    logger: silentLogger,
    ...options,
  });
  return await worker.runUntil(() => body(worker));
}

const kinds = async (
  handle: { fetchHistory(): Promise<{ events: { attributes: { case?: string | undefined } }[] }> },
) =>
  (await handle.fetchHistory()).events.map(({ attributes }) =>
    attributes.case?.replace(/EventAttributes$/, "") ?? ""
  );

test("the seven examples", { skip: noServer }, async () => {
  const own = new Client({ service, taskQueue: "examples", logger: silentLogger });
  const settings = {
    taskQueue: "examples",
    workflows: exampleModules,
    activities: { ...exampleActivities },
  };
  await work(async () => {
    const results = await Promise.all(
      Object.entries(examples).map(async ([name, run]) =>
        [name, await run({ client: own } as App, () => {})] as const
      ),
    );
    const { order_processing: order, shopping_cart: cart, ...others } = Object.fromEntries(
      results,
    ) as {
      [name: string]: unknown;
    };
    assert.ok((order as { orderNumber: number }).orderNumber >= 0);
    assert.ok(cart !== undefined && Object.values(others).every((result) => result !== undefined));
    // A cluster's index is late by a moment.
    const mine = 'TaskQueue = "examples"';
    const ended = `${mine} AND ExecutionStatus != "Running"`;
    await until(
      "all are listed",
      async () => await own.count(mine) >= 8 && await own.count(ended) === await own.count(mine),
    );
    for await (const { workflowId, runId, type } of own.list(mine)) {
      await collected.keep(
        `example-${workflowId}-${runId.slice(-4)}`,
        own.getHandle(type, workflowId, runId),
      );
    }
  }, settings);
  assert.ok(collected.count >= 7);
});

test(
  "updates: outside receive, while a handler is busy, concurrent, rejected by a validator",
  { skip: noServer },
  async () => {
    await work(async () => {
      const phases = await client.start(flows.phases, { id: "phases" });
      await until("the first phase is on", () => flowActivities.ran.includes("held:phase"));
      await assert.rejects(phases.update(flows.add, 1), (error) => {
        assert.ok(error instanceof WorkflowUpdateRejectedError, String(error));
        assert.match(
          error.message,
          /"add" is not accepted: at this point the workflow accepts no updates/,
        );
        return true;
      });
      flowActivities.released.add("phase");
      await until("it receives", () => phases.update(flows.add, 2).then(() => true, () => false));
      assert.equal(await phases.update(flows.add, 3), 5);
      await phases.signal(flows.end);
      assert.equal(await phases.result(), 5);
      await collected.keep("phases", phases);

      const busy = await client.start(flows.busy, { id: "busy" });
      const slow = busy.update(flows.slowly, "a");
      await until("it is busy", () => flowActivities.ran.includes("held:a"));
      // Accepted while the handler runs and run after it; rejected at once; concurrent with the
      // loop.
      const [concurrently, queued] = [
        busy.update(flows.concurrently, "b"),
        busy.update(flows.add, 7),
      ];
      await assert.rejects(busy.update(flows.add, -1), WorkflowUpdateRejectedError);
      assert.equal(
        (await kinds(busy)).includes("activityTaskCompleted"),
        false,
        "the refusal did not wait for the handler",
      );
      flowActivities.released.add("a");
      assert.equal(await slow, "a done");
      assert.equal(await queued, 1);
      assert.match(await concurrently, /^concurrently \d$/);
      await busy.signal(flows.end);
      assert.deepEqual([...await busy.result() as string[]].sort(), [
        "add 7",
        "concurrently b",
        "slowly a",
      ]);
      await collected.keep("busy", busy);
    });
  },
);

/** Does something when a worker reports the task that ends its run, before the report is sent. */
function atCompletion(inner: RawService, act: () => Promise<void>): RawService {
  let done = false;
  return {
    losesCancelledPolls: inner.losesCancelledPolls === true,
    async call(method, request, options) {
      const closes = method === "respondWorkflowTaskCompleted" && !done &&
        lastCommandCloses(request);
      if (closes) {
        done = true;
        await act();
      }
      return await inner.call(method, request, options);
    },
  };
}

/**
 * The task that ends `LastWords` follows its `end`; its report is recognized by the kind of its
 * only command.
 */
function lastCommandCloses(request: Uint8Array): boolean {
  const command = fromBinary(RespondWorkflowTaskCompletedRequestSchema, request).commands.at(-1);
  return command?.commandType === CommandType.COMPLETE_WORKFLOW_EXECUTION ||
    command?.commandType === CommandType.CONTINUE_AS_NEW_WORKFLOW_EXECUTION;
}

test("a signal that arrives while the closing task is running is never lost (P4)", {
  skip: noServer,
}, async () => {
  for (const again of [true, false]) {
    const id = again ? "last-words-continued" : "last-words";
    const handle = await client.start(flows.lastWords, { id, args: [again, ["first"]] });
    const late = atCompletion(service, () => handle.signal(flows.note, "late"));
    await work(async () => {
      await handle.signal(flows.end);
      if (again) {
        await until("it continued", async () => (await handle.describe()).runId !== handle.runId);
        await until(
          "the next run has it",
          async () => (await kinds(handle)).includes("workflowTaskCompleted"),
        );
        await handle.signal(flows.end);
      }
      // Behind the end of its receive it is late: the run that completes says so in its log, the
      // one that continues hands it on.
      assert.deepEqual(await handle.result(), again ? ["first", "late"] : ["first"]);
    }, { service: late });
    const first = client.getHandle(flows.lastWords, id, handle.runId);
    const events = (await first.fetchHistory()).events;
    const failed = events.find(({ attributes }) =>
      attributes.case === "workflowTaskFailedEventAttributes"
    );
    assert.equal(
      failed?.attributes.case,
      "workflowTaskFailedEventAttributes",
      "the server refused the first report",
    );
    if (failed?.attributes.case === "workflowTaskFailedEventAttributes") {
      assert.equal(failed.attributes.value.cause, WorkflowTaskFailedCause.UNHANDLED_COMMAND);
    }
    await collected.keep(id, first);
    if (again) await collected.keep(`${id}-2`, handle);
  }
});

test("a cancelled workflow cleans up in a shield", { skip: noServer }, async () => {
  await work(async () => {
    const handle = await client.start(flows.tidy, { id: "tidy" });
    await until(
      "the activity beats",
      async () => (await handle.describe()).pendingActivities[0]?.heartbeatDetails === "alive",
    );
    await handle.cancel("enough");
    await assert.rejects(
      handle.result(),
      (error) => error instanceof WorkflowFailedError && isCancellation(error.cause),
    );
    assert.equal((await handle.describe()).status, "CANCELED");
    assert.deepEqual(flowActivities.ran.filter((step) => step.includes("cleanup")), [
      "step:cleanup one",
      "step:cleanup two",
    ]);
    assert.ok((await kinds(handle)).includes("activityTaskCanceled"));
    await collected.keep("tidy", handle);
  }, { heartbeatThrottle: { maximumMs: 100 } });
});

test(
  "patches: runs of the old code continue under the new code, and new runs take the new path",
  { skip: noServer },
  async () => {
    const old = await client.start("Deployed", { id: "deployed-1" });
    await work(
      () =>
        until(
          "the old code has run",
          async () => (await kinds(old)).includes("activityTaskCompleted"),
        ),
      { workflows: [flows.olderVersions.v1] },
    );
    await work(async () => {
      const fresh = await client.start("Deployed", { id: "deployed-2" });
      await until(
        "the new code waits",
        async () =>
          (await kinds(fresh)).filter((kind) => kind === "activityTaskCompleted").length === 2,
      );
      for (const handle of [old, fresh]) await handle.signal(flows.end);
      assert.deepEqual(await old.result(), ["old done", "new last done"]);
      assert.deepEqual(await fresh.result(), ["new first done", "old done", "new last done"]);
      await collected.keep("deployed-1", old);
      await collected.keep("deployed-2", fresh);
    });
  },
);

// Deno would spend minutes of CPU on what Node does.
const inNode = "Deno" in globalThis ? () => {} : test;

inNode(
  "a history of 8,000 events is fetched in pages without a cache",
  { skip: noServer },
  async () => {
    const handle = await client.start(flows.long, {
      id: "long",
      args: [5, 1600],
      // Time for a busy machine to replay the whole history.
      taskTimeout: "20s",
    });
    const sum = 5 * 1599 * 1600 / 2;
    await work(async () => {
      for (const events of [4000, 8000]) {
        await until(
          `${events} events`,
          async () => (await handle.describe()).historyLength > events,
        );
      }
      await until("it waits", async () => await handle.query(flows.size) === sum);
    });
    // A server counts pages in what was written at once, which for a signal is one event.
    for (let i = 0; i < 12; i++) {
      await Promise.all(
        Array.from({ length: 50 }, () => handle.signal(flows.note, "one more")),
      );
    }
    let pages = 0;
    const counting: RawService = {
      losesCancelledPolls: true,
      call(method, request, options) {
        if (method === "getWorkflowExecutionHistory") pages++;
        return service.call(method, request, options);
      },
    };
    await work(async () => {
      // If a server (1.29) does not read such a history within a second, it loses the task and
      // redelivers it after the task's timeout: on a busy machine more than once. An update waits
      // for that, or is rejected while the server counts attempts; a query after it is a separate
      // task.
      let updated: number | undefined;
      await until("the update is accepted", async () => {
        updated = await handle.update(flows.add, 1).catch((error) => {
          if (error instanceof ServiceError && error.reason === "WorkflowNotReady") {
            return undefined;
          }
          throw error;
        });
        return updated !== undefined;
      }, { withinMs: 400_000 });
      assert.equal(updated, sum + 601);
      const before = pages;
      assert.equal(await handle.query(flows.size), sum);
      assert.ok(pages > before + 1, `${pages - before} pages for a query`);
      await handle.signal(flows.end);
      assert.equal(await handle.result(), sum + 601);
    }, { service: counting, cachedWorkflows: 0 });
    assert.ok((await handle.describe()).historyLength > 8000);
    await collected.keep("long", handle);
  },
);

test(
  "failing workflows do not affect other workflows in the same realm",
  { skip: noServer },
  async () => {
    const failures = new Map<string, string>();
    const events = {
      workflowTaskFailed: ({ workflowId, message }: { workflowId: string; message: string }) =>
        void failures.set(workflowId, failures.get(workflowId) ?? message),
    };
    const sick = ["spins", "throws", "astray"];
    // This one began with other code.
    const diverges = await client.start("Poison", { id: "diverges", args: ["well"] });
    const other = workflow("Poison", async () => {
      await activities<typeof flowActivities>({ startToClose: "10s" }).step("other code");
      await receive(0, [on(flows.end, (_, s) => stop(s))]);
    });
    await work(() => until("it began", () => flowActivities.ran.includes("step:other code")), {
      workflows: [other],
    });
    await work(async () => {
      const poisoned = await Promise.all(
        sick.map((kind) =>
          client.start(flows.poison, { id: `poison-${kind}`, args: [kind], taskTimeout: "5s" })
        ),
      );
      await diverges.signal(flows.end);
      const healthy = Array.from(
        { length: 20 },
        (_, i) => client.execute(flows.neighbor, { id: `neighbor-${i}`, args: [i] }),
      );
      assert.deepEqual(
        await Promise.all(healthy),
        Array.from({ length: 20 }, (_, i) => [`n${i} done`, 3]),
      );
      const each = [...sick.map((kind) => `poison-${kind}`), "diverges"];
      await until("each has failed by name", () => each.every((id) => failures.has(id)));
      assert.match(failures.get("poison-spins")!, /ran for 2 s without yielding/);
      assert.match(failures.get("poison-throws")!, /a bug/);
      assert.match(failures.get("poison-astray")!, /DEADLOCK/);
      assert.match(failures.get("diverges")!, /ActivityTaskScheduled/);
      for (const handle of [...poisoned, diverges]) {
        assert.equal(
          (await handle.describe()).status,
          "RUNNING",
          "a corrected version can still save it",
        );
        await handle.terminate("the test is over");
      }
      await collected.keep("neighbor", client.getHandle(flows.neighbor, "neighbor-0"));
    }, { events });
  },
);

readElsewhere(() => collected);
