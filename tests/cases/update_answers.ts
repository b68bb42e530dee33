// What the caller of an update gets: results, failures, and results that are carried to the next
// run (docs/dev/semantics/updates.md).
import {
  ApplicationFailure,
  continueAsNew,
  log,
  on,
  receive,
  reply,
  sleep,
  spawnAsync,
  stop,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import { ANSWERED_UPDATES_HEADER } from "../../ts/executor/scheduler/next_run_headers.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";
import { acts, add, end, loop, note, quick, slow } from "./update_support.ts";

export const cases: Case[] = [
  {
    name:
      "a sync update handler that throws fails the update; the state is unchanged and the loop continues",
    async run() {
      const w = workflow("W", () =>
        receive(1, [
          on(add, ([n], s) => {
            if (n < 0) throw new ApplicationFailure("negative", { type: "Negative" });
            if (n === 0) throw new TypeError("a bug");
            return reply(s + n, s + n);
          }),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      const bad = d.server.update("u1", "add", -1);
      const bug = d.server.update("u2", "add", 0);
      const good = d.server.update("u3", "add", 4);
      await d.task();
      deepEqual([bad.stage, bad.failure?.message, bug.failure?.message, good.result], [
        "completed",
        "negative",
        "a bug",
        5,
      ]);
      d.server.signal("end");
      await d.task();
      equal(await d.finish(), 5);
    },
  },
  {
    name: "an async update handler that throws fails the update",
    async run() {
      const w = workflow("W", () =>
        receive(1, [
          on(add, (_, s) =>
            spawnAsync(async () => {
              await acts.work(1);
              throw new ApplicationFailure("later");
            }, s)),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      const u = d.server.update("u1", "add", 1);
      await d.task();
      d.server.completeActivity("1");
      await d.task();
      equal(u.failure?.message, "later");
      d.server.signal("end");
      await d.task();
      equal(await d.finish(), 1);
    },
  },
  {
    name: "a response that cannot be encoded fails the update and leaves the state",
    async run() {
      const odd = update<[], unknown>("odd");
      const w = workflow(
        "W",
        () => receive(1, [on(odd, () => reply(1n, 2)), on(end, (_, s) => stop(s))]),
      );
      const d = await drive(w);
      const u = d.server.update("u1", "odd");
      await d.task();
      match(u.failure!.message, /value is a bigint, which cannot be encoded as JSON/);
      d.server.signal("end");
      await d.task();
      equal(await d.finish(), 1);
    },
  },
  {
    name:
      "an update of an unknown name is rejected as UnknownUpdate, not retryable, listing the names",
    async run() {
      const d = await drive(loop);
      const u = d.server.update("u", "nope", 1);
      await d.task();
      equal(u.stage, "rejected");
      const info = u.failure!.failureInfo;
      equal(info.case === "applicationFailureInfo" && info.value.type, "UnknownUpdate");
      equal(info.case === "applicationFailureInfo" && info.value.nonRetryable, true);
      match(
        u.failure!.message,
        /"nope" is not accepted: at this point the workflow accepts these updates: add, slow/,
      );
    },
  },
  {
    name: "an update outside a receive is rejected in its own workflow task",
    async run() {
      const w = workflow("W", async () => {
        await sleep(1);
        return await receive(0, [on(quick, (_, s) => stop(s, "late"))]);
      });
      const d = await drive(w);
      const early = d.server.update("u1", "quick");
      await d.task();
      equal(early.stage, "rejected");
      match(early.failure!.message, /accepts no updates/);
      d.server.fireTimer("1");
      const entering = d.server.update("u2", "quick");
      await d.task(); // the very task that enters the receive
      equal(entering.result, "late");
      await d.finish();
    },
  },
  {
    name:
      "the reply is the first command, then run continues: it is sent even when the workflow completes at once",
    async run() {
      const w = workflow("W", () => receive(0, [on(quick, (_, s) => stop(s, "bye"))]));
      const d = await drive(w);
      const u = d.server.update("u", "quick");
      await d.task();
      deepEqual(d.commands(), ["UPDATE_RESPONSE", "UPDATE_RESPONSE", "COMPLETE_WORKFLOW"]);
      equal(u.result, "bye");
      equal(await d.finish(), 0);
    },
  },
  {
    name:
      "a run that throws while its receive is open completes accepted updates with the failure first",
    async run() {
      const w = workflow("W", () =>
        Promise.race([
          receive(0, [
            on(slow, async ([n], s) => reply(String(await acts.work(n)), s)),
            on(quick, (_, s) => reply("ok", s)),
          ]),
          sleep("1m").then(() => {
            throw new ApplicationFailure("out of time");
          }),
        ]));
      const d = await drive(w);
      const running = d.server.update("u1", "slow", 1);
      await d.task();
      const queued = d.server.update("u2", "quick");
      await d.task();
      equal(queued.stage, "accepted");
      d.server.fireTimer("1");
      await d.task();
      deepEqual(d.commands(), [
        "CANCEL SCHEDULE_ACTIVITY 1",
        "UPDATE_RESPONSE",
        "UPDATE_RESPONSE",
        "FAIL_WORKFLOW",
      ]);
      deepEqual([running.failure?.message, queued.failure?.message], [
        "out of time",
        "out of time",
      ]);
      equal(d.server.closed?.kind, "failed");
      await d.checkReplay();
    },
  },
  {
    name:
      "a run that returns while its receive is open completes them as AcceptedUpdateCompletedWorkflow",
    async run() {
      const w = workflow(
        "W",
        () =>
          Promise.race([
            receive(0, [on(slow, async ([n], s) => reply(String(await acts.work(n)), s))]),
            sleep("1m").then(() => "timed out"),
          ]),
      );
      const d = await drive(w);
      const running = d.server.update("u1", "slow", 1);
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      const info = running.failure!.failureInfo;
      equal(
        info.case === "applicationFailureInfo" && info.value.type,
        "AcceptedUpdateCompletedWorkflow",
      );
      equal(await d.finish(), "timed out");
    },
  },
  {
    name: "handlerErrors failTask: a bug in a handler fails the task, a Temporal failure does not",
    async run() {
      const w = workflow("W", {
        handlerErrors: "failTask",
        run: () =>
          receive(0, [
            on(add, ([n]) => {
              if (n === 0) throw new ApplicationFailure("refused later");
              throw new TypeError("a bug");
            }),
            on(note, () => {
              log.info("never");
              throw new Error("signal bug");
            }),
          ]),
      });
      const d = await drive(w);
      const u = d.server.update("u1", "add", 0);
      await d.task();
      equal(u.failure?.message, "refused later");
      d.server.update("u2", "add", 1);
      await d.task();
      equal(d.server.taskFailure?.failure.message, "a bug");
    },
  },
  {
    name:
      "an update that comes again after continue-as-new gets the same result, and has no second effect (P4)",
    async run() {
      const w = workflow("W", async (generation: number): Promise<unknown> => {
        const state = await receive({ sum: 0, over: generation === 2 }, [
          on(add, ([n], s) => {
            if (n < 0) throw new ApplicationFailure("not below", { type: "Below", details: [n] });
            return n === 100
              ? stop({ ...s, sum: s.sum + n }, generation)
              : reply(s.sum + n, { ...s, sum: s.sum + n });
          }),
          on(end, (_, s) => stop({ ...s, over: true })),
        ]);
        return state.over ? [generation, state.sum] : continueAsNew(generation + 1);
      });
      const d = await drive(w, { args: [0] });
      equal(d.server.update("early", "add", -1).stage, "sent");
      d.server.update("last", "add", 100);
      await d.task();
      await d.finish();
      deepEqual(Object.keys(d.server.closed!.next!.headers), [ANSWERED_UPDATES_HEADER]);

      const second = await drive(w, { args: [1], headers: d.server.closed!.next!.headers });
      const again = second.server.update("last", "add", 100);
      await second.task();
      deepEqual([again.stage, again.result], ["completed", 0], "the result of the previous run");
      equal(second.server.closed, undefined, "and its handler did not run");
      const failed = second.server.update("early", "add", -1);
      const fresh = second.server.update("fresh", "add", 100);
      await second.task();
      deepEqual([failed.failure?.message, fresh.result], ["not below", 1]);
      await second.finish();

      // Two runs later it is known still.
      const third = await drive(w, { args: [2], headers: second.server.closed!.next!.headers });
      const late = third.server.update("last", "add", 100);
      const other = third.server.update("other", "add", 1);
      await third.task();
      deepEqual([late.result, other.result], [0, 1]);
      third.server.signal("end");
      await third.task();
      deepEqual(await third.finish(), [2, 1]);
    },
  },
  {
    name:
      "the newest results are carried over continue-as-new, by count and size; one that is too large is not",
    async run() {
      const w = workflow("W", async () => {
        await receive(0, [
          on(slow, ([n], s) => n === 0 ? stop(s, "x".repeat(40_000)) : reply("x".repeat(n), s)),
        ]);
        return continueAsNew();
      });
      const carriedOf = async (...sizes: number[]) => {
        const d = await drive(w);
        sizes.forEach((size, i) => d.server.update(`u${i}`, "slow", size));
        d.server.update("big", "slow", 0);
        await d.task();
        await d.finish();
        const header = d.server.closed!.next!.headers[ANSWERED_UPDATES_HEADER];
        return header === undefined
          ? undefined
          : (JSON.parse(new TextDecoder().decode(header.data)) as { id: string }[]).map(({ id }) =>
            id
          );
      };
      equal(await carriedOf(), undefined);
      deepEqual(await carriedOf(20_000, 20_000, 10), ["u1", "u2"]);
      equal(
        (await carriedOf(...Array.from({ length: 40 }, () => 1)))!.join(),
        Array.from({ length: 32 }, (_, i) => `u${i + 8}`).join(),
      );
    },
  },
];
