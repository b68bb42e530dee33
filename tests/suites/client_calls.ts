// Starts, signals, queries, results and ends, as a client sees them on any service.
import assert from "node:assert/strict";
import { fromBinary, fromJson, toBinary } from "@bufbuild/protobuf";
import {
  DeadlineExceededError,
  QueryFailedError,
  ServiceError,
  WorkflowContinuedAsNewError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from "../../ts/client/mod.ts";
import {
  ApplicationFailure,
  CancelledFailure,
  TerminatedFailure,
  TimeoutFailure,
} from "../../ts/converter/mod.ts";
import { FailureSchema } from "../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import { HistorySchema } from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { continueAsNew, waitForSignal, workflow } from "../../ts/workflow/mod.ts";
import { until } from "../support/until.ts";
import type { Suite } from "../support/services.ts";
import {
  broken,
  chain,
  counter,
  failing,
  finish,
  named,
  noActivities,
  patient,
  value,
  workflows,
} from "./client_programs.ts";

export const callsTests: Suite = {
  "a cancel request that comes with the event which makes run continue as new is not lost: no worker is there":
    async (t) => {
      let ran = 0;
      const loop = workflow("Loop", async (n: number): Promise<unknown> => {
        ran++;
        await waitForSignal(finish);
        return continueAsNew(n + 1);
      });
      const handle = await t.client.start(loop, { id: t.id("loop"), args: [0] });
      await t.work({ workflows: [loop] }, () => until("it waits", () => ran > 0));
      await handle.signal(finish);
      await handle.cancel("enough");
      await t.work({ workflows: [loop] }, async () => {
        await assert.rejects(
          handle.result(),
          (error) =>
            error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure,
        );
      });
      const { status } = await t.client.getHandle(undefined, handle.workflowId).describe();
      assert.equal(status, "CANCELED");
    },

  "a cancel request that comes while the task runs which continues as new is not lost": async (
    t,
  ) => {
    let inTask = () => {};
    const loop = workflow("Loop", async (n: number): Promise<unknown> => {
      await waitForSignal(finish);
      if (n === 0) inTask();
      return continueAsNew(n + 1);
    });
    await t.work({ workflows: [loop] }, async () => {
      const handle = await t.client.start(loop, { id: t.id("loop"), args: [0] });
      let sent: Promise<void> | undefined;
      inTask = () => sent ??= handle.cancel("enough");
      await handle.signal(finish);
      await assert.rejects(
        handle.result(),
        (error) => error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure,
      );
      await sent;
    });
  },

  "queries: unknown, failing, and before a worker is there": async (t) => {
    const handle = await t.client.start(counter, { id: t.id("c"), args: [2] });
    await assert.rejects(handle.with({ timeout: 40 }).query(value), DeadlineExceededError);
    await t.work({ workflows, activities: noActivities }, async () => {
      await assert.rejects(
        handle.query("other"),
        (error) => error instanceof QueryFailedError && /other/.test(error.message),
      );
      await assert.rejects(
        handle.query(broken),
        (error) => {
          assert.ok(error instanceof QueryFailedError && /no such thing/.test(error.message));
          // What the handler threw comes with it, as a Failure.
          assert.ok(error.cause instanceof ServiceError && error.cause.failure !== undefined);
          assert.match(fromBinary(FailureSchema, error.cause.failure).message, /no such thing/);
          return true;
        },
      );
      assert.equal(await handle.query(value), 2);
      await assert.rejects(
        t.client.getHandle(undefined, "absent").query(value),
        WorkflowNotFoundError,
      );
    });
  },

  "ids: already started, use existing, terminate existing, reuse policies": (t) =>
    t.work({ workflows, activities: noActivities }, async () => {
      const first = await t.client.start(counter, { id: t.id("c"), args: [1] });
      await assert.rejects(t.client.start(counter, { id: t.id("c"), args: [1] }), (error) => {
        assert.ok(error instanceof WorkflowExecutionAlreadyStartedError);
        assert.equal(error.runId, first.runId);
        return true;
      });
      const joined = await t.client.start(counter, {
        id: t.id("c"),
        args: [9],
        idConflictPolicy: "USE_EXISTING",
      });
      assert.equal(joined.runId, first.runId);
      const replaced = await t.client.start(counter, {
        id: t.id("c"),
        args: [9],
        idConflictPolicy: "TERMINATE_EXISTING",
      });
      assert.notEqual(replaced.runId, first.runId);
      await assert.rejects(
        t.client.getHandle(counter, t.id("c"), first.runId).result(),
        (error) => error instanceof WorkflowFailedError && error.cause instanceof TerminatedFailure,
      );
      await replaced.signal(finish);
      assert.equal(await replaced.result(), 9);
      await assert.rejects(
        t.client.start(counter, { id: t.id("c"), args: [1], idReusePolicy: "REJECT_DUPLICATE" }),
        WorkflowExecutionAlreadyStartedError,
      );
      await assert.rejects(
        t.client.start(counter, {
          id: t.id("c"),
          args: [1],
          idReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY",
        }),
        WorkflowExecutionAlreadyStartedError,
      );
      const again = await t.client.start(counter, { id: t.id("c"), args: [5] });
      await again.terminate("enough", { by: "test" });
      await t.client.start(counter, {
        id: t.id("c"),
        args: [6],
        idReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY",
      });
      const same = { id: t.id("request"), args: [1] as [number], requestId: "the same" };
      const [one, two] = [await t.client.start(counter, same), await t.client.start(counter, same)];
      assert.equal(one.runId, two.runId, "one request id is one start");
    }),

  "results: continue-as-new, failure, cancellation, termination, timeout": (t) =>
    t.work({ workflows, activities: noActivities }, async () => {
      const started = await t.client.start(chain, { id: t.id("chain"), args: [3, 0] });
      assert.equal(await started.result(), 6);
      await assert.rejects(started.result({ followRuns: false }), WorkflowContinuedAsNewError);
      const last = await started.describe();
      assert.notEqual(last.runId, started.runId);
      assert.equal(last.firstRunId, started.runId);

      await assert.rejects(t.client.execute(failing, { id: t.id("failing") }), (error) => {
        assert.ok(
          error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure,
        );
        assert.equal(error.cause.type, "OutOfOrder");
        assert.deepEqual(error.cause.details, [{ at: 3 }]);
        return true;
      });

      const cancelled = await t.client.start(patient, { id: t.id("cancelled") });
      await cancelled.cancel("not needed");
      await assert.rejects(
        cancelled.result(),
        (error) => error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure,
      );
      assert.equal((await cancelled.describe()).status, "CANCELED");

      const terminated = await t.client.start(patient, { id: t.id("terminated") });
      await terminated.terminate("by hand");
      await assert.rejects(terminated.result(), (error) => {
        assert.ok(error instanceof WorkflowFailedError && error.cause instanceof TerminatedFailure);
        assert.match(error.message, /was terminated: by hand/);
        return true;
      });

      const timedOut = await t.client.start(patient, { id: t.id("late"), runTimeout: 30 });
      await assert.rejects(
        timedOut.result(),
        (error) => error instanceof WorkflowFailedError && error.cause instanceof TimeoutFailure,
      );

      const retried = t.client.execute(failing, {
        id: t.id("retried"),
        retry: { maximumAttempts: 2, initialInterval: 1 },
      });
      await assert.rejects(retried, WorkflowFailedError);

      const slow = await t.client.start(patient, { id: t.id("slow") });
      await assert.rejects(slow.result({ timeout: 30 }), DeadlineExceededError);
      await slow.terminate();
      await assert.rejects(t.client.getHandle(patient, "absent").result(), WorkflowNotFoundError);
    }),

  "signalWithStart starts once and signals each time": (t) =>
    t.work({ workflows, activities: noActivities }, async () => {
      const first = await t.client.signalWithStart(named, {
        id: t.id("n"),
        signal: finish,
        signalArgs: ["ada"],
      });
      assert.deepEqual(await first.result(), { by: "ada", id: t.id("n") });
      const waiting = await t.client.start(counter, { id: t.id("c"), args: [1] });
      const joined = await t.client.signalWithStart(counter, {
        id: t.id("c"),
        args: [2],
        signal: finish,
      });
      assert.equal(joined.runId, waiting.runId);
      assert.equal(await joined.result(), 1);
    }),

  "a signal sent before any worker runs is received": async (t) => {
    const handle = await t.client.start(named, { id: t.id("n") });
    await handle.signal(finish, "early");
    await t.work({ workflows, activities: noActivities }, async () => {
      assert.equal((await handle.result()).by, "early");
    });
  },

  "list pages through what a query selects, count counts it": (t) =>
    t.work({ workflows, activities: noActivities }, async () => {
      const handles = [];
      for (let i = 0; i < 7; i++) {
        handles.push(await t.client.start(counter, { id: t.id(`c${i}`), args: [i] }));
      }
      await handles[0]!.signal(finish);
      await handles[0]!.result();
      await t.client.execute(chain, { id: t.id("other"), args: [0, 0] });
      const mine = `TaskQueue = "${t.taskQueue}"`;
      const ids = async (query: string) => {
        const found = [];
        for await (const run of t.client.list(query, { pageSize: 2 })) found.push(run.workflowId);
        return found.sort();
      };
      const counters = handles.map((handle) => handle.workflowId);
      // The index of a cluster runs behind by a moment.
      await until(
        "the index knows all",
        async () =>
          (await ids(mine)).length === 8 &&
          (await ids(`${mine} AND ExecutionStatus = "Completed"`)).length === 2,
      );
      assert.deepEqual(await ids(`${mine} AND WorkflowType = "Counter"`), counters);
      assert.deepEqual(
        await ids(`${mine} AND WorkflowType = "Counter" AND ExecutionStatus = "Completed"`),
        counters.slice(0, 1),
      );
      assert.equal((await ids(mine)).length, 8);
      assert.equal(await t.client.count(`${mine} AND ExecutionStatus = "Running"`), 6);
      await assert.rejects(
        t.client.count("WorkflowType ="),
        (error) => error instanceof ServiceError && error.code === 3,
      );
    }),

  "history: events, following a run, JSON and bytes that load again": (t) =>
    t.work({ workflows, activities: noActivities }, async () => {
      const handle = await t.client.start(named, { id: t.id("n") });
      const followed: string[] = [];
      const following = (async () => {
        for await (const event of handle.history({ follow: true })) {
          followed.push(String(event.attributes.case));
        }
      })();
      await until("the first events", () => followed.length >= 3);
      await handle.signal(finish, "ada");
      await following;
      assert.equal(followed[0], "workflowExecutionStartedEventAttributes");
      assert.equal(followed.at(-1), "workflowExecutionCompletedEventAttributes");
      const history = await handle.fetchHistory();
      assert.deepEqual(
        history.events.map((event) => Number(event.eventId)),
        history.events.map((_, i) => i + 1),
      );
      assert.deepEqual(history.events.map((event) => String(event.attributes.case)), followed);
      const bytes = await handle.historyBytes();
      assert.deepEqual(toBinary(HistorySchema, fromBinary(HistorySchema, bytes)), bytes);
      assert.deepEqual(
        toBinary(HistorySchema, fromJson(HistorySchema, JSON.parse(await handle.historyJson()))),
        bytes,
      );
      const paged = await handle.fetchHistory({ pageSize: 2 });
      assert.equal(paged.events.length, history.events.length);
    }),
};
