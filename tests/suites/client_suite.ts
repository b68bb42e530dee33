// Every call of the client, end to end: the same tests run on the embedded engine (memory and file) and on a Temporal cluster.
import assert from "node:assert/strict";
import { fromBinary, fromJson, toBinary } from "@bufbuild/protobuf";
import {
  DeadlineExceededError,
  QueryFailedError,
  QueryRejectedError,
  ServiceError,
  WorkflowContinuedAsNewError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRejectedError,
} from "../../ts/client/mod.ts";
import { ApplicationFailure, CancelledFailure, TerminatedFailure, TimeoutFailure } from "../../ts/converter/mod.ts";
import { HistorySchema } from "../../ts/api/generated/temporal/api/history/v1/message_pb.ts";
import {
  activities,
  cancelled,
  continueAsNew,
  on,
  publishState,
  query,
  receive,
  reply,
  shield,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../ts/workflow/mod.ts";
import type { OnService } from "../support/services.ts";
import { until } from "../support/until.ts";

const add = update<[n: number], number>("add");
const addSlowly = update<[n: number], number>("addSlowly");
const fails = update<[], void>("fails");
const finish = signal<[by?: string]>("finish");
const value = query<number>("value");
const plus = query<number, [n: number]>("plus");
const broken = query<number>("broken");
const gate = activities<{ gate(): Promise<void> }>({ startToClose: "30s" });

const counter = workflow("Counter", {
  messages: { value, plus, broken },
  queries: {
    value: (published: number) => published,
    plus: (published: number, n) => published + n,
    broken: () => {
      throw new Error("no such thing");
    },
  },
  async run(start: number) {
    publishState(start);
    const state = await receive({ n: start }, [
      on(add, ([n], s) => {
        publishState(s.n + n);
        return reply(s.n + n, { n: s.n + n });
      }, {
        validate: ([n]) => {
          if (n < 0) throw ApplicationFailure.nonRetryable("only upwards", { type: "Negative" });
        },
      }),
      on(addSlowly, ([n], s) =>
        spawnAsync(async (updateState) => {
          await gate.gate();
          return updateState((now) => [now.n + n, { n: now.n + n }]);
        }, s)),
      on(fails, () => {
        throw ApplicationFailure.nonRetryable("never works", { type: "Never" });
      }),
      on(finish, (_, s) => stop(s)),
    ]);
    return state.n;
  },
});

const chain = workflow("Chain", async (left: number, sum: number) => {
  if (left === 0) return sum;
  return continueAsNew<[number, number]>(left - 1, sum + left);
});
const failing = workflow("Failing", async () => {
  await sleep(1);
  throw ApplicationFailure.nonRetryable("out of order", { type: "OutOfOrder", details: [{ at: 3 }] });
});
const patient = workflow("Patient", async () => {
  try {
    await waitForSignal(finish);
    return "finished";
  } catch (error) {
    if (cancelled()) await shield(() => sleep(1));
    throw error;
  }
});
const named = workflow("Named", async () => {
  const by = await waitForSignal(finish);
  return { by, id: workflowInfo().workflowId };
});

/** Each run takes one update and continues as new; `finish` ends it. */
const relay = workflow("Relay", async (seen: number[]) => {
  const state = await receive({ seen, over: false }, [
    on(add, ([n], s) => stop({ ...s, seen: [...s.seen, n] }, s.seen.length)),
    on(finish, (_, s) => stop({ ...s, over: true })),
  ]);
  return state.over ? state.seen : continueAsNew(state.seen);
});
const workflows = [counter, chain, failing, patient, named, relay];
const noActivities = { gate: () => {} };

export function clientSuite(check: OnService): void {
  check(
    "start, update, query, signal, result, describe",
    (t) =>
      t.work({ workflows, activities: noActivities }, async () => {
        const handle = await t.client.start(counter, {
          id: t.id("c"),
          args: [10],
          memo: { why: "test" },
          // A cluster refuses search attributes that nobody registered.
          ...(t.embedded && { searchAttributes: { Level: 3 } }),
        });
        assert.equal(await handle.update(add, 5), 15);
        assert.equal(await handle.query(value), 15);
        assert.equal(await handle.query(plus, 100), 115);
        const running = await handle.describe();
        assert.equal(running.status, "RUNNING");
        assert.equal(running.type, "Counter");
        assert.equal(running.runId, handle.runId);
        assert.deepEqual(running.memo, { why: "test" });
        if (t.embedded) assert.deepEqual(running.searchAttributes, { Level: 3 });
        assert.ok(running.startTime instanceof Date);
        assert.equal(running.closeTime, undefined);
        await handle.signal(finish);
        assert.equal(await handle.result(), 15);
        const closed = await handle.describe();
        assert.equal(closed.status, "COMPLETED");
        assert.ok(closed.closeTime!.getTime() >= closed.startTime!.getTime());
        assert.ok(closed.historyLength > 5 && closed.historySizeBytes > 100);
        assert.equal(await handle.query(value), 15, "closed workflows answer queries");
        await assert.rejects(handle.with({ queryRejectCondition: "NOT_OPEN" }).query(value), QueryRejectedError);
        await assert.rejects(handle.signal(finish), WorkflowNotFoundError);
        await assert.rejects(handle.update(add, 1), WorkflowNotFoundError);
      }),
  );

  check("updates: rejected, failed, unknown, and their stages", (t) => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    return t.work({ workflows, activities: { gate: () => opened } }, async () => {
      const handle = await t.client.start(counter, { id: t.id("c"), args: [1] });
      await assert.rejects(handle.update(add, -1), (error) => {
        assert.ok(error instanceof WorkflowUpdateRejectedError);
        assert.ok(error.cause instanceof ApplicationFailure && error.cause.type === "Negative");
        return true;
      });
      await assert.rejects(handle.update(fails), (error) => {
        assert.ok(error instanceof WorkflowUpdateFailedError && !(error instanceof WorkflowUpdateRejectedError), String(error));
        assert.ok(error.cause instanceof ApplicationFailure && error.cause.type === "Never");
        return true;
      });
      await assert.rejects(handle.update("subtract", 1), (error) => {
        assert.ok(error instanceof WorkflowUpdateRejectedError);
        assert.ok(error.cause instanceof ApplicationFailure && error.cause.type === "UnknownUpdate");
        return true;
      });
      const accepted = await handle.startUpdate(addSlowly, { args: [4], waitFor: "accepted", updateId: "slow" });
      await assert.rejects(
        accepted.result({ timeout: 50 }),
        (error) => error instanceof DeadlineExceededError && error.updateId === "slow",
      );
      const waiting = accepted.result();
      open();
      assert.equal(await waiting, 5);
      assert.equal(await handle.getUpdateHandle("slow", addSlowly).result(), 5, "the result can be asked for later");
      await assert.rejects(handle.getUpdateHandle("never asked").result({ timeout: "30s" }), WorkflowNotFoundError);
      const completed = await handle.startUpdate(add, { args: [1], waitFor: "completed" });
      assert.equal(await completed.result(), 6);
    });
  });

  check("an update that is asked for again with its id has one effect, before and after the deadline", (t) => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    return t.work({ workflows, activities: { gate: () => opened } }, async () => {
      const handle = await t.client.start(counter, { id: t.id("c"), args: [0] });
      const asked = { args: [7] as [number], updateId: "once" };
      let updateId: string | undefined;
      await assert.rejects(handle.executeUpdate(addSlowly, { ...asked, timeout: 60 }), (error) => {
        assert.ok(error instanceof DeadlineExceededError);
        updateId = error.updateId;
        return true;
      });
      assert.equal(updateId, "once");
      const again = [handle.executeUpdate(addSlowly, asked), handle.executeUpdate(addSlowly, asked)];
      open();
      assert.deepEqual(await Promise.all(again), [7, 7]);
      assert.equal(await handle.executeUpdate(addSlowly, asked), 7);
      await handle.signal(finish);
      assert.equal(await handle.result(), 7);
      const history = await handle.fetchHistory();
      const accepted = history.events.filter((event) =>
        event.attributes.case === "workflowExecutionUpdateAcceptedEventAttributes"
      );
      assert.equal(accepted.length, 1);
    });
  });

  // A cluster that loses sight of the request while the run closes sends it to the next run by itself (temporalio/temporal#6375).
  check(
    "an update that is answered in the task that continues as new reaches its caller, and has one effect however often it is sent",
    (t) => {
      const settings = { workflows: [relay], activities: noActivities };
      return t.work(settings, async () => {
        const handle = await t.client.start(relay, { id: t.id("relay"), args: [[]] });
        for (let i = 0; i < 20; i++) assert.equal(await handle.executeUpdate(add, { args: [i], updateId: `u${i}` }), i);
        for (const i of [19, 5, 0]) assert.equal(await handle.executeUpdate(add, { args: [i], updateId: `u${i}` }), i);
        await handle.signal(finish);
        assert.deepEqual(await handle.result(), Array.from({ length: 20 }, (_, i) => i));
      });
    },
  );

  check(
    "a cancel request that comes with the event which makes run continue as new is not lost: no worker is there",
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
          (error) => error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure,
        );
      });
      const { status } = await t.client.getHandle(undefined, handle.workflowId).describe();
      assert.equal(status, "CANCELED");
    },
  );

  check("a cancel request that comes while the task runs which continues as new is not lost", async (t) => {
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
  });

  check("more updates at once than a workflow may have: they wait for room", (t) => {
    const later = workflow("Later", () =>
      receive(0, [
        on(add, ([n], sum) =>
          spawnAsync(async (change) => {
            await sleep(300);
            return await change((now: number) => [n, now + n]);
          }, sum)),
        on(finish, (_, sum) => stop(sum)),
      ]));
    return t.work({ workflows: [later] }, async () => {
      const handle = await t.client.start(later, { id: t.id("later") });
      const numbers = Array.from({ length: 14 }, (_, i) => i);
      assert.deepEqual(await Promise.all(numbers.map((n) => handle.update(add, n))), numbers);
      await handle.signal(finish);
      assert.equal(await handle.result(), 91);
    });
  });

  check("an update that is answered in the task that ends the workflow reaches its caller", (t) => {
    const ends = workflow("Ends", (way: string) =>
      receive(0, [on(add, ([n], s) => stop(s, n))]).then((): string => {
        if (way === "failed") throw ApplicationFailure.nonRetryable("on purpose");
        return way;
      }));
    return t.work({ workflows: [ends] }, async () => {
      for (const way of ["completed", "failed"]) {
        const handle = await t.client.start(ends, { id: t.id(way), args: [way] });
        assert.equal(await handle.executeUpdate(add, { args: [7], updateId: "last" }), 7);
        const ended = handle.result();
        if (way === "completed") assert.equal(await ended, way);
        else await assert.rejects(ended, /on purpose/);
        assert.equal(await handle.getUpdateHandle("last", add).result(), 7, "and it can be asked for after the end");
      }
    });
  });

  check("an update waits for a worker; its deadline does not take it back", async (t) => {
    const handle = await t.client.start(counter, { id: t.id("c"), args: [0] });
    await assert.rejects(handle.executeUpdate(add, { args: [3], updateId: "early", timeout: 40 }), DeadlineExceededError);
    await t.work({ workflows, activities: noActivities }, async () => {
      assert.equal(await handle.executeUpdate(add, { args: [3], updateId: "early" }), 3);
      await handle.signal(finish);
      assert.equal(await handle.result(), 3);
    });
  });

  check("queries: unknown, failing, and before a worker is there", async (t) => {
    const handle = await t.client.start(counter, { id: t.id("c"), args: [2] });
    await assert.rejects(handle.with({ timeout: 40 }).query(value), DeadlineExceededError);
    await t.work({ workflows, activities: noActivities }, async () => {
      await assert.rejects(handle.query("other"), (error) => error instanceof QueryFailedError && /other/.test(error.message));
      await assert.rejects(
        handle.query(broken),
        (error) => error instanceof QueryFailedError && /no such thing/.test(error.message),
      );
      assert.equal(await handle.query(value), 2);
      await assert.rejects(t.client.getHandle(undefined, "nobody").query(value), WorkflowNotFoundError);
    });
  });

  check(
    "ids: already started, use existing, terminate existing, reuse policies",
    (t) =>
      t.work({ workflows, activities: noActivities }, async () => {
        const first = await t.client.start(counter, { id: t.id("c"), args: [1] });
        await assert.rejects(t.client.start(counter, { id: t.id("c"), args: [1] }), (error) => {
          assert.ok(error instanceof WorkflowExecutionAlreadyStartedError);
          assert.equal(error.runId, first.runId);
          return true;
        });
        const joined = await t.client.start(counter, { id: t.id("c"), args: [9], idConflictPolicy: "USE_EXISTING" });
        assert.equal(joined.runId, first.runId);
        const replaced = await t.client.start(counter, { id: t.id("c"), args: [9], idConflictPolicy: "TERMINATE_EXISTING" });
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
          t.client.start(counter, { id: t.id("c"), args: [1], idReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY" }),
          WorkflowExecutionAlreadyStartedError,
        );
        const again = await t.client.start(counter, { id: t.id("c"), args: [5] });
        await again.terminate("enough", { by: "test" });
        await t.client.start(counter, { id: t.id("c"), args: [6], idReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY" });
        const same = { id: t.id("request"), args: [1] as [number], requestId: "the same" };
        const [one, two] = [await t.client.start(counter, same), await t.client.start(counter, same)];
        assert.equal(one.runId, two.runId, "one request id is one start");
      }),
  );

  check(
    "results: continue-as-new, failure, cancellation, termination, timeout",
    (t) =>
      t.work({ workflows, activities: noActivities }, async () => {
        const started = await t.client.start(chain, { id: t.id("chain"), args: [3, 0] });
        assert.equal(await started.result(), 6);
        await assert.rejects(started.result({ followRuns: false }), WorkflowContinuedAsNewError);
        const last = await started.describe();
        assert.notEqual(last.runId, started.runId);
        assert.equal(last.firstRunId, started.runId);

        await assert.rejects(t.client.execute(failing, { id: t.id("failing") }), (error) => {
          assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure);
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

        const retried = t.client.execute(failing, { id: t.id("retried"), retry: { maximumAttempts: 2, initialInterval: 1 } });
        await assert.rejects(retried, WorkflowFailedError);

        const slow = await t.client.start(patient, { id: t.id("slow") });
        await assert.rejects(slow.result({ timeout: 30 }), DeadlineExceededError);
        await slow.terminate();
        await assert.rejects(t.client.getHandle(patient, "nobody").result(), WorkflowNotFoundError);
      }),
  );

  check(
    "signalWithStart starts once and signals each time",
    (t) =>
      t.work({ workflows, activities: noActivities }, async () => {
        const first = await t.client.signalWithStart(named, { id: t.id("n"), signal: finish, signalArgs: ["ada"] });
        assert.deepEqual(await first.result(), { by: "ada", id: t.id("n") });
        const waiting = await t.client.start(counter, { id: t.id("c"), args: [1] });
        const joined = await t.client.signalWithStart(counter, { id: t.id("c"), args: [2], signal: finish });
        assert.equal(joined.runId, waiting.runId);
        assert.equal(await joined.result(), 1);
      }),
  );

  check("a signal sent before any worker runs is received", async (t) => {
    const handle = await t.client.start(named, { id: t.id("n") });
    await handle.signal(finish, "early");
    await t.work({ workflows, activities: noActivities }, async () => {
      assert.equal((await handle.result()).by, "early");
    });
  });

  check(
    "list pages through what a query selects, count counts it",
    (t) =>
      t.work({ workflows, activities: noActivities }, async () => {
        const handles = [];
        for (let i = 0; i < 7; i++) handles.push(await t.client.start(counter, { id: t.id(`c${i}`), args: [i] }));
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
          async () => (await ids(mine)).length === 8 && (await ids(`${mine} AND ExecutionStatus = "Completed"`)).length === 2,
        );
        assert.deepEqual(await ids(`${mine} AND WorkflowType = "Counter"`), counters);
        assert.deepEqual(
          await ids(`${mine} AND WorkflowType = "Counter" AND ExecutionStatus = "Completed"`),
          counters.slice(0, 1),
        );
        assert.equal((await ids(mine)).length, 8);
        assert.equal(await t.client.count(`${mine} AND ExecutionStatus = "Running"`), 6);
        await assert.rejects(t.client.count("WorkflowType ="), (error) => error instanceof ServiceError && error.code === 3);
      }),
  );

  check(
    "history: events, following a run, JSON and bytes that load again",
    (t) =>
      t.work({ workflows, activities: noActivities }, async () => {
        const handle = await t.client.start(named, { id: t.id("n") });
        const followed: string[] = [];
        const following = (async () => {
          for await (const event of handle.history({ follow: true })) followed.push(String(event.attributes.case));
        })();
        await until("the first events", () => followed.length >= 3);
        await handle.signal(finish, "ada");
        await following;
        assert.equal(followed[0], "workflowExecutionStartedEventAttributes");
        assert.equal(followed.at(-1), "workflowExecutionCompletedEventAttributes");
        const history = await handle.fetchHistory();
        assert.deepEqual(history.events.map((event) => Number(event.eventId)), history.events.map((_, i) => i + 1));
        assert.deepEqual(history.events.map((event) => String(event.attributes.case)), followed);
        const bytes = await handle.historyBytes();
        assert.deepEqual(toBinary(HistorySchema, fromBinary(HistorySchema, bytes)), bytes);
        assert.deepEqual(toBinary(HistorySchema, fromJson(HistorySchema, JSON.parse(await handle.historyJson()))), bytes);
        const paged = await handle.fetchHistory({ pageSize: 2 });
        assert.equal(paged.events.length, history.events.length);
      }),
  );
}
