// runtime: node (rules of the server; other files cover the runtime)
// Activities that an operator pauses, resets and unpauses, heartbeats that are throttled,
// cancellation, and a queue's rate limit: on a real Temporal dev server, by the calls that its
// command line makes.
// takes: 25 s
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { delay } from "@std/async/delay";
import {
  activityContext,
  activityInfo,
  type CancelReason,
  withContext,
} from "../../../ts/activity/mod.ts";
import { Client, WorkflowFailedError } from "../../../ts/client/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { type TypedService, typedService } from "../../../ts/service/typed.ts";
import { PendingActivityState } from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { activities, isCancellation, parallel, workflow } from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

interface Acts {
  work(): Promise<string>;
}
const retry = { initialInterval: 50, maximumInterval: 100 };
const cancellationType = "waitCancellationCompleted";
const beating = activities<Acts>({ startToClose: "2m", heartbeat: "1m", retry, cancellationType });
const works = workflow("Works", async () => await beating.work());
const fading = activities<Acts>({ startToClose: "2m", heartbeat: "5s", retry, cancellationType });
const fades = workflow("Fades", async () => await fading.work());
const quiet = activities<Acts>({ startToClose: "1m", retry });
const fans = workflow(
  "Fans",
  async (n: number) => void await parallel(Array.from({ length: n }, () => () => quiet.work())),
);

const module = new URL("../../unit/worker/modules/computing.ts", import.meta.url);
const waitsInThread = workflow("WaitsInThread", async () => {
  const own = activities<{ patient(): Promise<string> }>({
    startToClose: "1m",
    heartbeat: "10s",
    retry,
  });
  return await own.patient();
});

let server: DevServer, service: GrpcService, typed: TypedService, client: Client, worker: Worker;
/** What the activity does, by workflow id. */
const behaviors = new Map<string, () => unknown>();
let heartbeats = 0;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  typed = typedService(service);
  const counting: RawService = {
    losesCancelledPolls: true,
    call(method, request, options) {
      if (method === "recordActivityTaskHeartbeat") heartbeats++;
      return service.call(method, request, options);
    },
  };
  client = new Client({ service, taskQueue: "operated", logger: silentLogger });
  worker = await Worker.create({
    service: counting,
    taskQueue: "operated",
    workflows: [works, fades, fans, waitsInThread],
    activities: { work: () => behaviors.get(activityInfo().workflowId)!() },
    activityThreads: { module, size: 1 },
    heartbeatThrottle: { maximumMs: 100 },
    logger: silentLogger,
  });
  worker.run().catch(() => {});
});

after(async () => {
  await worker?.shutdown();
  service?.close();
  await server?.stop();
});

/** A run whose activity does this. */
function begin(id: string, work: () => unknown, as = works) {
  behaviors.set(id, work);
  return client.start(as, { id });
}

const named = (handle: { workflowId: string }) => ({
  namespace: "default",
  execution: { workflowId: handle.workflowId },
  identity: "operator",
  activity: { case: "type" as const, value: "work" },
});

const beats = async (
  handle: { describe(): Promise<{ pendingActivities: readonly { heartbeatDetails?: unknown }[] }> },
) => (await handle.describe()).pendingActivities[0]?.heartbeatDetails !== undefined;

/**
 * An activity that sends heartbeats until it is canceled, or until `finish`; what each attempt saw.
 */
function attempts() {
  const seen: { attempt: number; details: unknown; told?: CancelReason; last?: unknown }[] = [];
  const state = { finish: false };
  const work = withContext(async (context) => {
    const one: typeof seen[number] = {
      attempt: context.info.attempt,
      details: context.info.heartbeatDetails,
    };
    seen.push(one);
    try {
      for (let i = 1; !state.finish; i++) {
        one.last = { attempt: context.info.attempt, i };
        context.heartbeat(one.last);
        await context.sleep(20);
      }
      return `done in attempt ${context.info.attempt}`;
    } catch (error) {
      one.told = context.cancelReason!;
      throw error;
    }
  });
  return { seen, state, work };
}

test("a pause cancels the running attempt and delays the next one until unpause", {
  skip: noServer,
}, async () => {
  const { seen, state, work } = attempts();
  const handle = await begin("paused", work);
  await until("it beats", () => beats(handle));
  await typed.pauseActivity({ ...named(handle), reason: "maintenance" });
  await until("the attempt was canceled", () => seen[0]?.told !== undefined);
  assert.equal(seen[0]!.told, "PAUSED");
  const pending = async () =>
    (await typed.describeWorkflowExecution(named(handle))).pendingActivities[0]!;
  await until("its failure is known", async () => (await pending()).lastFailure !== undefined);
  const { lastFailure, paused } = await pending();
  assert.equal(paused, true);
  assert.match(lastFailure!.message, /the activity was paused/);
  await delay(500);
  assert.equal(seen.length, 1, "no attempt begins while it is paused");
  state.finish = true;
  await typed.unpauseActivity(named(handle));
  assert.equal(await handle.result(), "done in attempt 2");
  assert.equal(seen[1]!.attempt, 2);
  assert.deepEqual(seen[1]!.details, seen[0]!.last, "the last heartbeat was not lost");
});

test("a pause between attempts delays the next attempt", { skip: noServer }, async () => {
  let calls = 0;
  let fails = true;
  const handle = await begin("paused-between", () => {
    calls++;
    if (fails) throw new Error("not yet");
    return `done after ${activityInfo().attempt > 1}`;
  });
  await until("it has failed twice", () => calls >= 2);
  await typed.pauseActivity(named(handle));
  // One may have been handed out before.
  await until("none is under way", async () => {
    const { pendingActivities } = await typed.describeWorkflowExecution(named(handle));
    return pendingActivities[0]!.state === PendingActivityState.PAUSED;
  });
  fails = false;
  const before = calls;
  await delay(500);
  assert.equal(calls, before);
  await typed.unpauseActivity(named(handle));
  assert.equal(await handle.result(), "done after true");
});

test("a reset cancels the running attempt, and heartbeats and attempts start again", {
  skip: noServer,
}, async () => {
  const { seen, state, work } = attempts();
  const handle = await begin("reset", work);
  await until("it beats", () => beats(handle));
  await typed.resetActivity({ ...named(handle), resetHeartbeat: true });
  await until("the attempt was canceled, and the next one started", () => seen.length === 2);
  assert.equal(seen[0]!.told, "RESET");
  // For the server the attempt that was reset is the first one.
  assert.equal(seen[1]!.attempt, 2);
  assert.equal(seen[1]!.details, undefined);
  state.finish = true;
  assert.equal(await handle.result(), "done in attempt 2");
});

test(
  "after a reset of a later attempt the server does not accept it and times it out as the first one",
  { skip: noServer },
  async () => {
    const { seen, state, work } = attempts();
    let failures = 2;
    const handle = await begin("reset-later", () => {
      if (failures-- > 0) throw new Error("not yet");
      return work();
    }, fades);
    await until("it beats", () => beats(handle));
    assert.equal(seen[0]!.attempt, 3);
    await typed.resetActivity(named(handle));
    await until("the attempt was canceled", () => seen[0]!.told !== undefined);
    // The task token names the attempt, and the server counts from one again at once.
    assert.equal(seen[0]!.told, "NOT_FOUND");
    state.finish = true;
    assert.equal(await handle.result(), "done in attempt 2");
  },
);

test("a pause also cancels an activity in a separate thread", { skip: noServer }, async () => {
  const handle = await client.start(waitsInThread, { id: "paused-thread" });
  await until("it beats", () => beats(handle));
  await typed.pauseActivity({ ...named(handle), activity: { case: "type", value: "patient" } });
  await until("its failure is known", async () => {
    const { pendingActivities } = await typed.describeWorkflowExecution(named(handle));
    return /paused/.test(pendingActivities[0]!.lastFailure?.message ?? "");
  });
  await handle.terminate();
});

test(
  "heartbeats are throttled; the last one before a failure arrives",
  { skip: noServer },
  async () => {
    const seen: unknown[] = [];
    const [before, since] = [heartbeats, performance.now()];
    const handle = await begin("throttled", async () => {
      const { info, heartbeat } = activityContext();
      seen.push(info.heartbeatDetails);
      if (info.attempt === 2) return "done";
      for (let i = 1; i <= 300; i++) {
        heartbeat(i);
        await delay(1);
      }
      throw new Error("again");
    });
    assert.equal(await handle.result(), "done");
    assert.deepEqual(seen, [undefined, 300]);
    // One in 100 ms, the last one, and perhaps some of the test before.
    const [calls, ms] = [heartbeats - before, performance.now() - since];
    assert.ok(calls >= 2 && calls < ms / 90 + 5, `${calls} calls for 300 heartbeats in ${ms} ms`);
  },
);

test(
  "canceling a workflow cancels its activity, which reports it",
  { skip: noServer },
  async () => {
    const { seen, work } = attempts();
    const handle = await begin("cancelled", work);
    await until("it beats", () => beats(handle));
    await handle.cancel();
    await assert.rejects(
      handle.result(),
      (error) => error instanceof WorkflowFailedError && isCancellation(error.cause),
    );
    assert.equal(seen[0]!.told, "CANCELLED");
    const kinds = (await handle.fetchHistory()).events.map((event) => event.attributes.case);
    assert.ok(kinds.includes("activityTaskCanceledEventAttributes"));
  },
);

test(
  "the queue's limit of activities per second holds on the server",
  { skip: noServer },
  async () => {
    const at: number[] = [];
    const taskQueue = "limited";
    const limited = await Worker.create({
      service,
      taskQueue,
      workflows: [fans],
      activities: { work: () => void at.push(performance.now()) },
      maxTaskQueueActivitiesPerSecond: 4,
      logger: silentLogger,
    });
    await limited.runUntil(() => client.execute(fans, { id: "limited", taskQueue, args: [12] }));
    assert.equal(at.length, 12);
    // A burst of about one second's worth is let through, and the rest at four per second.
    assert.ok(
      at.at(-1)! - at[0]! > 1000,
      `${at.at(-1)! - at[0]!} ms for 12 activities at 4 per second`,
    );
  },
);
