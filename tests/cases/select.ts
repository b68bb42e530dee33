// select (docs/dev/semantics/scopes.md#select): who wins, and what becomes of the losers.
import {
  ApplicationFailure,
  executeChild,
  isCancellation,
  noreply,
  on,
  parallel,
  receive,
  select,
  shield,
  sleep,
  startChild,
  stop,
  timer,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { type Drive, drive } from "./driver.ts";
import {
  a,
  acts,
  b,
  describeError,
  end,
  led,
  refreshing,
  task,
  timersStarted,
  waiting,
} from "./select_support.ts";

/** 60 seconds for all stacks together: the timer is a handle. */
const fixed = workflow("Fixed", async () => {
  let stacks = 1;
  const expired = timer("expire", "60s");
  for (let on_ = true; on_;) {
    on_ = await select([
      on(expired, () => false),
      on(a, ([n]) => {
        stacks += n;
        return true;
      }),
    ]);
  }
  return stacks;
});

/** receive where it may not stand. */
function updateBadly(): Promise<unknown> {
  return receive(0, [on(end, (_, s) => stop(s))]);
}

export const cases: Case[] = [
  {
    name: "P9: the earliest event wins however tasks are grouped",
    async run() {
      const w = workflow("W", () =>
        select([
          timer("1m", () => "timer"),
          on(() => acts.work(1), (x) => `activity ${x}`),
          on(a, ([n]) => `a${n}`),
          on(b, ([n]) => `b${n}`),
        ]));
      const events: { [won: string]: (d: Drive) => void } = {
        "timer": (d) => d.server.fireTimer("1"),
        "activity 5": (d) => d.server.completeActivity("1", 5),
        "a1": (d) => d.server.signal("a", 1),
        "b2": (d) => d.server.signal("b", 2),
      };
      for (const first of Object.keys(events)) {
        for (const second of Object.keys(events)) {
          if (second === first) continue;
          equal(
            await led(w, [(d) => (events[first]!(d), events[second]!(d))]),
            first,
            `${first}, ${second} in one task`,
          );
        }
        equal(await led(w, [events[first]!]), first);
        // A worker that was down sees all of it at once.
        const all = [first, ...Object.keys(events).filter((name) => name !== first)];
        equal(
          await led(w, [(d) => all.forEach((name) => events[name]!(d))], { cached: false }),
          first,
        );
      }
    },
  },
  {
    name: "of several ready arms at entry the first in source order wins",
    async run() {
      const w = workflow("W", async () => {
        const done = acts.work(1);
        const failed = Promise.reject(new Error("not looked at"));
        failed.catch(() => {});
        await acts.work(2);
        const arms = [
          on(b, ([n]) => `b${n}`),
          on(a, ([n]) => `a${n}`),
          on(done, (x) => `done ${x}`),
          timer(0, () => "nothing"),
          on(failed, () => "failed"),
        ];
        const seen: unknown[] = [];
        for (let i = 0; i < 5; i++) seen.push(await select(arms));
        seen.push(await select([timer(0, () => "first"), ...arms]));
        seen.push(await select(arms.slice(3)));
        return seen;
      });
      const d = await drive(w);
      await task(d);
      d.server.signal("a", 1);
      d.server.signal("a", 2);
      d.server.signal("b", 3);
      d.server.completeActivity("1", 4);
      d.server.completeActivity("2");
      deepEqual(await task(d), ["COMPLETE_WORKFLOW"]);
      deepEqual(await d.finish(), ["b3", "a1", "a2", "done 4", "done 4", "first", "nothing"]);
    },
  },
  {
    name: "if an arm is ready, functions are not called and no timer is started",
    async run() {
      let calls = 0;
      const w = workflow("W", async () => {
        await sleep(1);
        return await select([
          on(() => {
            calls++;
            return acts.work(1);
          }, () => "activity"),
          timer("1h", () => "timer"),
          on(a, ([n]) => n),
        ]);
      });
      const d = await drive(w);
      await task(d);
      d.server.signal("a", 7);
      d.server.fireTimer("1");
      deepEqual(await task(d), ["COMPLETE_WORKFLOW"]);
      equal(await d.finish(), 7);
      equal(calls, 0);
    },
  },
  {
    name: "signals that came with the start are ready",
    async run() {
      const d = await drive(
        workflow("W", () => select([on(b, ([n]) => `b${n}`), on(a, ([n]) => `a${n}`)])),
      );
      d.server.signal("a", 1);
      d.server.signal("b", 2);
      await task(d);
      equal(await d.finish(), "b2");
    },
  },
  {
    name: "a losing signal is not consumed",
    async run() {
      const w = workflow("W", async () => {
        const first = await select([on(a, ([n]) => n), on(b, ([n]) => n), timer("1h", () => -1)]);
        await sleep(1);
        const rest = await receive([] as number[], [
          on(a, ([n], s) => noreply([...s, n])),
          on(b, ([n], s) => noreply([...s, n])),
        ], { timeout: 0 });
        return [
          first,
          ...rest.state,
          await select([timer("1m", () => "then"), on(b, () => "never")]),
          await waitForSignal(b),
        ];
      });
      const d = await drive(w);
      await task(d);
      for (const [name, n] of [["b", 1], ["a", 2], ["a", 3], ["b", 4]] as const) {
        d.server.signal(name, n);
      }
      deepEqual(await task(d), ["CANCEL START_TIMER 1", "START_TIMER 2"]);
      d.server.fireTimer("2");
      deepEqual(await task(d), ["START_TIMER 3"]);
      d.server.fireTimer("3");
      d.server.signal("b", 5);
      await task(d);
      deepEqual(await d.finish(), [1, 2, 3, 4, "then", 5]);
    },
  },
  {
    name:
      "what its functions and timers have started is canceled when another arm wins; promises that it got continue",
    async run() {
      const w = workflow("W", async () => {
        const handed = acts.work(1);
        const deadline = timer("deadline", "1h");
        const won = await select([
          on(handed, () => "handed"),
          on(deadline, () => "deadline"),
          on(() => acts.work(2), () => "activity"),
          on(() => sleep("2h"), () => "sleep"),
          timer("3h", () => "timer"),
          on(() => executeChild("Child", { id: "made" }), () => "child"),
          on(() => parallel([() => acts.work(3), () => sleep("4h")]), () => "branches"),
          on(() => waitForSignal("other"), () => "other"),
          on(a, ([n]) => n),
        ]);
        return [
          won,
          await select([on(deadline, () => "deadline"), on(handed, (x) => x)]),
          await waitForSignal("other"),
        ];
      });
      const d = await drive(w);
      await task(d);
      d.server.others.start("made");
      d.server.signal("a", 9);
      d.server.signal("other", "kept");
      deepEqual(
        await task(d),
        [
          "CANCEL SCHEDULE_ACTIVITY 2",
          "CANCEL START_TIMER 3",
          "CANCEL START_TIMER 2",
          "CANCEL_CHILD_WORKFLOW",
          "CANCEL SCHEDULE_ACTIVITY 3",
          "CANCEL START_TIMER 4",
        ],
      );
      deepEqual([...d.server.timers.keys()], ["1"]);
      deepEqual([...d.server.activities.values()].map((each) => each.cancelRequested), [
        false,
        true,
        true,
      ]);
      equal(d.server.others.children.get("made")?.cancelRequested !== undefined, true);
      deepEqual(d.logs, [], "a losing arm logs no warning");
      d.server.completeActivity("1", 11);
      await task(d);
      deepEqual(await d.finish(), [9, 11, "kept"]);
    },
  },
  {
    name: "of a child that a function has started and holds by its handle, only the wait ends",
    async run() {
      const w = workflow("W", async () => {
        const won = await select([
          on(async () => await (await startChild("Child", { id: "held" })).result(), () => "child"),
          on(end, () => "end"),
        ]);
        await sleep(1);
        return won;
      });
      const d = await drive(w);
      await task(d);
      d.server.others.start("held");
      await task(d);
      d.server.signal("end");
      deepEqual(await task(d), ["START_TIMER 1"]);
      equal(d.server.others.children.get("held")?.cancelRequested, undefined);
      d.server.fireTimer("1");
      await task(d);
      equal(await d.finish(), "end");
    },
  },
  {
    name: "a timer made inside of a loop starts again, a handle made before it does not",
    async run() {
      const d = await drive(refreshing);
      deepEqual(await task(d), ["START_TIMER 1"]);
      d.server.signal("a", 2);
      deepEqual(await task(d), ["CANCEL START_TIMER 1", "START_TIMER 2"]);
      d.server.signal("a", 3);
      d.server.signal("a", 4);
      // The one between the two signals started and was cancelled within the task: nothing of it is
      // in the history.
      await task(d);
      deepEqual([...d.server.timers.keys()], ["4"]);
      equal(timersStarted(d), 3);
      d.server.fireTimer("4");
      await task(d);
      equal(await d.finish(), 10);

      const f = await drive(fixed);
      deepEqual(await task(f), ["START_TIMER 1"]);
      for (const n of [2, 3]) {
        f.server.signal("a", n);
        deepEqual(await task(f), []);
      }
      f.server.signal("a", 4);
      f.server.fireTimer("1");
      f.server.signal("a", 100);
      deepEqual(await task(f), ["COMPLETE_WORKFLOW"]);
      equal(await f.finish(), 10);
    },
  },
  {
    name: "a body runs after the losers were canceled, may wait, and its value is the value",
    async run() {
      const w = workflow("W", async () => {
        const order: string[] = [];
        const value = await select([
          on(async () => {
            try {
              await acts.work(1);
            } catch (e) {
              order.push(
                `loser: ${(e as Error).name}, ${isCancellation(e)}, ${(e as Error).cause}`,
              );
              // Its scope has ended: nothing starts in it any more but a clean-up.
              order.push(await sleep(1).then(() => "slept", describeError));
              await shield(() => acts.undo());
              order.push("undone");
            }
          }, () => "never"),
          on(a, async ([n]) => {
            order.push("body");
            const twice = await acts.work(n);
            order.push("body continued");
            return { twice };
          }),
        ]);
        return { value, order };
      });
      const d = await drive(w);
      deepEqual(await task(d), ["SCHEDULE_ACTIVITY 1"]);
      d.server.signal("a", 4);
      deepEqual((await task(d))[0], "CANCEL SCHEDULE_ACTIVITY 1");
      const types = () => [...d.server.activities.values()].filter((each) => !each.cancelRequested);
      deepEqual(types().map((each) => each.type).sort(), ["undo", "work"]);
      d.server.completeActivity(types().find((each) => each.type === "undo")!.id);
      d.server.completeActivity(types().find((each) => each.type === "work")!.id, 8);
      await task(d);
      deepEqual(await d.finish(), {
        value: { twice: 8 },
        order: [
          'loser: ActivityFailure, true, CancelledFailure: activity "work" was cancelled: signal "a" came first in select',
          'CancelledFailure: sleep was called after its scope (arm 1 of select in run of workflow "W") had ended',
          "body",
          "undone",
          "body continued",
        ],
      });
    },
  },
  {
    name: "a losing activity that waits for its confirmation is asked and not waited for",
    async run() {
      const w = workflow("W", async () => {
        const won = await select([
          on(() => waiting.work(1), () => "activity"),
          timer("10s", () => "too late"),
        ]);
        await sleep(5);
        return won;
      });
      const d = await drive(w);
      await task(d);
      d.server.fireTimer("1");
      deepEqual(await task(d), ["CANCEL SCHEDULE_ACTIVITY 1", "START_TIMER 2"]);
      d.server.cancelActivity("1");
      d.server.fireTimer("2");
      await task(d);
      equal(await d.finish(), "too late");
    },
  },
  {
    name: "a function of several steps is one arm; the first that ends wins",
    async run() {
      const w = workflow("W", () =>
        select([
          on(async () => {
            const x = await acts.work(1);
            return x + await acts.work(x);
          }, (sum) => `two ${sum}`),
          on(async () => {
            await sleep(1);
            return await select([on(a, ([n]) => n), timer("1h", () => -1)]);
          }, (n) => `inner ${n}`),
          on(() => "at once", (text) => text),
        ].slice(0, 2)));
      equal(
        await led(w, [
          (d) => d.server.completeActivity("1", 2),
          (d) => d.server.fireTimer("1"),
          (d) => d.server.completeActivity("2", 3),
        ]),
        "two 5",
      );
      equal(
        await led(w, [
          (d) => d.server.completeActivity("1", 2),
          (
            d,
          ) => (d.server.fireTimer("1"),
            d.server.signal("a", 6),
            d.server.completeActivity("2", 3)),
        ]),
        "inner 6",
      );
      // What needs no event is there before any event is.
      const quick = workflow("Q", async () => {
        await sleep(1);
        return await select([
          on(() => acts.work(1), () => "slow"),
          on(() => "value", (text) => text),
          on(a, () => "signal"),
        ]);
      });
      equal(await led(quick, [(d) => (d.server.fireTimer("1"), d.server.signal("b", 1))]), "value");
    },
  },
  {
    name: "the failure of a function, a promise and a body is thrown, and the losers are cancelled",
    async run() {
      const fail = () => {
        throw new ApplicationFailure("broken", { type: "Broken" });
      };
      const w = workflow("W", async () => {
        const seen: unknown[] = [];
        const attempt = async (call: () => Promise<unknown>) =>
          seen.push(
            await call().catch((
              e,
            ) => [(e as Error).name, ((e as Error).cause as Error ?? e).message]),
          );
        await attempt(() =>
          select([on(() => acts.work(1), () => "ok"), timer("1h", () => "late")])
        );
        const handed = acts.work(2);
        await attempt(() => select([on(handed, () => "ok"), timer("1h", () => "late")]));
        await attempt(() => select([on(a, fail), timer("1h", () => "late")]));
        await attempt(() => select([on(fail, () => "ok"), timer("1h", () => "late")]));
        await attempt(() => select([on(() => acts.work(3).catch(() => "fixed"), (text) => text)]));
        return seen;
      });
      const bad = () => new ApplicationFailure("no");
      deepEqual(
        await led(w, [
          (d) => d.server.failActivity("1", bad()),
          (d) => d.server.failActivity("2", bad()),
          (d) => d.server.signal("a", 1),
          (d) => d.server.failActivity("3", bad()),
        ]),
        [["ActivityFailure", "no"], ["ActivityFailure", "no"], ["ApplicationFailure", "broken"], [
          "ApplicationFailure",
          "broken",
        ], "fixed"],
      );
      // A bug is a bug: it fails the task, and names the line.
      const d = await drive(
        workflow("Bug", () => select([on(a, () => (undefined as unknown as { x: number }).x)])),
      );
      await task(d);
      d.server.signal("a", 1);
      await d.task();
      match(d.server.taskFailure?.failure.message ?? "", /undefined/);
      // So is one of a loser that misuses something while it is being canceled.
      const e = await drive(
        workflow("Loser", () =>
          select([
            on(a, () => 1),
            on(() => acts.work(1).catch(() => updateBadly()), () => 2),
          ]).then(() => sleep(1))),
      );
      await task(e);
      e.server.signal("a", 1);
      await e.task();
      match(
        e.server.taskFailure?.failure.message ?? "no failure",
        /receive cannot be used in an arm of select \(arm 2 of select/,
      );
    },
  },
];
