// Updates of a client, from asking to answer, on any service.
import assert from "node:assert/strict";
import {
  DeadlineExceededError,
  QueryRejectedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRejectedError,
} from "../../ts/client/mod.ts";
import { ApplicationFailure } from "../../ts/converter/mod.ts";
import { on, receive, sleep, spawnAsync, stop, workflow } from "../../ts/workflow/mod.ts";
import type { Suite } from "../support/services.ts";
import {
  add,
  addSlowly,
  counter,
  fails,
  finish,
  noActivities,
  plus,
  relay,
  value,
  workflows,
} from "./client_programs.ts";

export const updatesTests: Suite = {
  "start, update, query, signal, result, describe": (t) =>
    t.work({ workflows, activities: noActivities }, async () => {
      const handle = await t.client.start(counter, {
        id: t.id("c"),
        args: [10],
        memo: { why: "test" },
        // A cluster rejects search attributes that are not registered.
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
      await assert.rejects(
        handle.with({ queryRejectCondition: "NOT_OPEN" }).query(value),
        QueryRejectedError,
      );
      await assert.rejects(handle.signal(finish), WorkflowNotFoundError);
      await assert.rejects(handle.update(add, 1), WorkflowNotFoundError);
    }),

  "updates: rejected, failed, unknown, and their stages": (t) => {
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
        assert.ok(
          error instanceof WorkflowUpdateFailedError &&
            !(error instanceof WorkflowUpdateRejectedError),
          String(error),
        );
        assert.ok(error.cause instanceof ApplicationFailure && error.cause.type === "Never");
        return true;
      });
      await assert.rejects(handle.update("subtract", 1), (error) => {
        assert.ok(error instanceof WorkflowUpdateRejectedError);
        assert.ok(
          error.cause instanceof ApplicationFailure && error.cause.type === "UnknownUpdate",
        );
        return true;
      });
      const accepted = await handle.startUpdate(addSlowly, {
        args: [4],
        waitFor: "accepted",
        updateId: "slow",
      });
      await assert.rejects(
        accepted.result({ timeout: 50 }),
        (error) => error instanceof DeadlineExceededError && error.updateId === "slow",
      );
      const waiting = accepted.result();
      open();
      assert.equal(await waiting, 5);
      assert.equal(
        await handle.getUpdateHandle("slow", addSlowly).result(),
        5,
        "the result can be asked for later",
      );
      await assert.rejects(
        handle.getUpdateHandle("never asked").result({ timeout: "30s" }),
        WorkflowNotFoundError,
      );
      const completed = await handle.startUpdate(add, { args: [1], waitFor: "completed" });
      assert.equal(await completed.result(), 6);
    });
  },

  "an update that is asked for again with its id has one effect, before and after the deadline": (
    t,
  ) => {
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
      const again = [
        handle.executeUpdate(addSlowly, asked),
        handle.executeUpdate(addSlowly, asked),
      ];
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
  },

  // A cluster that loses sight of the request while the run closes sends it to the next run by
  // itself (temporalio/temporal#6375).
  "the result of an update in the task that continues as new reaches its caller; resending it has no second effect":
    (t) => {
      const settings = { workflows: [relay], activities: noActivities };
      return t.work(settings, async () => {
        const handle = await t.client.start(relay, { id: t.id("relay"), args: [[]] });
        for (let i = 0; i < 20; i++) {
          assert.equal(await handle.executeUpdate(add, { args: [i], updateId: `u${i}` }), i);
        }
        for (const i of [19, 5, 0]) {
          assert.equal(await handle.executeUpdate(add, { args: [i], updateId: `u${i}` }), i);
        }
        await handle.signal(finish);
        assert.deepEqual(await handle.result(), Array.from({ length: 20 }, (_, i) => i));
      });
    },

  "more updates at once than a workflow may have: they wait for room": (t) => {
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
  },

  "the result of an update in the task that ends the workflow reaches its caller": (t) => {
    const ends = workflow(
      "Ends",
      (way: string) =>
        receive(0, [on(add, ([n], s) => stop(s, n))]).then((): string => {
          if (way === "failed") throw ApplicationFailure.nonRetryable("on purpose");
          return way;
        }),
    );
    return t.work({ workflows: [ends] }, async () => {
      for (const way of ["completed", "failed"]) {
        const handle = await t.client.start(ends, { id: t.id(way), args: [way] });
        assert.equal(await handle.executeUpdate(add, { args: [7], updateId: "last" }), 7);
        const ended = handle.result();
        if (way === "completed") assert.equal(await ended, way);
        else await assert.rejects(ended, /on purpose/);
        assert.equal(
          await handle.getUpdateHandle("last", add).result(),
          7,
          "and it can be asked for after the end",
        );
      }
    });
  },

  "an update waits for a worker; its deadline does not take it back": async (t) => {
    const handle = await t.client.start(counter, { id: t.id("c"), args: [0] });
    await assert.rejects(
      handle.executeUpdate(add, { args: [3], updateId: "early", timeout: 40 }),
      DeadlineExceededError,
    );
    await t.work({ workflows, activities: noActivities }, async () => {
      assert.equal(await handle.executeUpdate(add, { args: [3], updateId: "early" }), 3);
      await handle.signal(finish);
      assert.equal(await handle.result(), 3);
    });
  },
};
