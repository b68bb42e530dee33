// select and timer (core-spec 8): who wins, what becomes of the losers, where it may stand, and what it says when it is used wrongly.
import { defaultPayloadConverter } from "../../ts/converter/payload.ts";
import { EventType } from "../../ts/temporal/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  activities,
  ApplicationFailure,
  cancelled,
  continueAsNew,
  executeChild,
  isCancellation,
  noreply,
  on,
  parallel,
  receive,
  reply,
  select,
  shield,
  signal,
  sleep,
  type StandardSchemaV1,
  startChild,
  stop,
  timer,
  update,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { type Drive, drive, type DriveOptions } from "./driver.ts";

const acts = activities<{ work(x: number): number; undo(): void }>();
const waiting = activities<{ work(x: number): number }>({ cancellationType: "waitCancellationCompleted" });
const a = signal<[number]>("a");
const b = signal<[number]>("b");
const end = signal("end");
const ask = update<[number], number>("ask");
const nameOf = (e: unknown) => `${(e as Error).name}: ${(e as Error).message}`;

async function task(d: Drive): Promise<string[]> {
  await d.task();
  equal(d.server.taskFailure, undefined, d.server.taskFailure?.failure.message);
  return d.commands();
}

/** Starts the workflow, lets things happen in tasks of their own, and answers the result. */
async function led(definition: Parameters<typeof drive>[0], tasks: ((d: Drive) => void)[], options: DriveOptions = {}) {
  const d = await drive(definition, options);
  for (const happens of [() => {}, ...tasks]) {
    happens(d);
    await task(d);
  }
  return await d.finish();
}

/** What a misuse says: the message with which the first task fails. */
async function refusal(run: () => Promise<unknown>): Promise<string> {
  const d = await drive(workflow("W", async () => {
    try {
      return await run();
    } catch {
      return "swallowed";
    }
  }));
  await d.task();
  equal(d.server.closed, undefined, "nothing swallows it");
  return d.server.taskFailure?.failure.message ?? "it was not refused";
}

// ------------------------------------------------------------------------------------------------------ the two examples
/** Each stack gives 60 seconds anew: the timer is made inside. */
const refreshing = workflow("Refreshing", async () => {
  let stacks = 1;
  for (let on_ = true; on_;) {
    on_ = await select([
      timer("expire", "60s", () => false),
      on(end, () => false),
      on(a, ([n]) => {
        stacks += n;
        return true;
      }),
    ]);
  }
  return stacks;
});
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

const strict: StandardSchemaV1<unknown, number> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => typeof value === "number" ? { value } : { issues: [{ message: "no number" }] },
  },
};

export const cases: Case[] = [
  {
    name: "P9, the earliest event wins however tasks were grouped",
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
          equal(await led(w, [(d) => (events[first]!(d), events[second]!(d))]), first, `${first}, ${second} in one task`);
        }
        equal(await led(w, [events[first]!]), first);
        // A worker that was down sees all of it at once.
        const all = [first, ...Object.keys(events).filter((name) => name !== first)];
        equal(await led(w, [(d) => all.forEach((name) => events[name]!(d))], { cached: false }), first);
      }
    },
  },
  {
    name: "what is ready when it is entered wins in written order",
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
    name: "when something is ready, functions are not called and no timer is started",
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
      const d = await drive(workflow("W", () => select([on(b, ([n]) => `b${n}`), on(a, ([n]) => `a${n}`)])));
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
        return [first, ...rest.state, await select([timer("1m", () => "then"), on(b, () => "never")]), await waitForSignal(b)];
      });
      const d = await drive(w);
      await task(d);
      for (const [name, n] of [["b", 1], ["a", 2], ["a", 3], ["b", 4]] as const) d.server.signal(name, n);
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
    name: "what its functions and timers have started is cancelled when another arm wins; what it was handed goes on",
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
        return [won, await select([on(deadline, () => "deadline"), on(handed, (x) => x)]), await waitForSignal("other")];
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
      deepEqual([...d.server.activities.values()].map((each) => each.cancelRequested), [false, true, true]);
      equal(d.server.others.children.get("made")?.cancelRequested !== undefined, true);
      deepEqual(d.logs, [], "a loser is no oversight");
      d.server.completeActivity("1", 11);
      await task(d);
      deepEqual(await d.finish(), [9, 11, "kept"]);
    },
  },
  {
    name: "of a child that a function has started and holds by its handle, only the wait is given up",
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
    name: "a timer made inside of a loop starts anew, a handle made before it does not",
    async run() {
      const d = await drive(refreshing);
      deepEqual(await task(d), ["START_TIMER 1"]);
      d.server.signal("a", 2);
      deepEqual(await task(d), ["CANCEL START_TIMER 1", "START_TIMER 2"]);
      d.server.signal("a", 3);
      d.server.signal("a", 4);
      // The one between the two signals started and was cancelled within the task: nothing of it is in the history.
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
    name: "a body runs when the losers have been told, may wait, and its value is the value",
    async run() {
      const w = workflow("W", async () => {
        const order: string[] = [];
        const value = await select([
          on(async () => {
            try {
              await acts.work(1);
            } catch (e) {
              order.push(`loser: ${(e as Error).name}, ${isCancellation(e)}, ${(e as Error).cause}`);
              // Its scope has ended: nothing starts in it any more but a clean-up.
              order.push(await sleep(1).then(() => "slept", nameOf));
              await shield(() => acts.undo());
              order.push("undone");
            }
          }, () => "never"),
          on(a, async ([n]) => {
            order.push("body");
            const twice = await acts.work(n);
            order.push("body went on");
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
          "body went on",
        ],
      });
    },
  },
  {
    name: "a losing activity that waits for its confirmation is asked and not waited for",
    async run() {
      const w = workflow("W", async () => {
        const won = await select([on(() => waiting.work(1), () => "activity"), timer("10s", () => "too late")]);
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
          (d) => (d.server.fireTimer("1"), d.server.signal("a", 6), d.server.completeActivity("2", 3)),
        ]),
        "inner 6",
      );
      // What needs no event is there before any event is.
      const quick = workflow("Q", async () => {
        await sleep(1);
        return await select([on(() => acts.work(1), () => "slow"), on(() => "value", (text) => text), on(a, () => "signal")]);
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
          seen.push(await call().catch((e) => [(e as Error).name, ((e as Error).cause as Error ?? e).message]));
        await attempt(() => select([on(() => acts.work(1), () => "ok"), timer("1h", () => "late")]));
        const handed = acts.work(2);
        await attempt(() => select([on(handed, () => "ok"), timer("1h", () => "late")]));
        await attempt(() => select([on(a, fail), timer("1h", () => "late")]));
        await attempt(() => select([on(fail, () => "ok"), timer("1h", () => "late")]));
        await attempt(() => select([on(() => acts.work(3).catch(() => "mended"), (text) => text)]));
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
        ], "mended"],
      );
      // A bug is a bug: it fails the task, and names the line.
      const d = await drive(workflow("Bug", () => select([on(a, () => (undefined as unknown as { x: number }).x)])));
      await task(d);
      d.server.signal("a", 1);
      await d.task();
      match(d.server.taskFailure?.failure.message ?? "", /undefined/);
      // So is one of a loser that misuses something while it is told.
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
  {
    name: "waiters of one signal are served in the order in which they began to wait, before a receive",
    async run() {
      const w = workflow("W", async () => {
        const log: string[] = [];
        await parallel([
          async () => void log.push(`wait ${await waitForSignal(a)}`),
          async () => void await select([on(a, ([n]) => log.push(`first select ${n}`)), timer("1h", () => 0)]),
          async () => {
            await sleep(1);
            await select([on(b, () => 0), on(a, ([n]) => log.push(`second select ${n}`))]);
          },
        ]);
        return log;
      });
      const d = await drive(w);
      d.server.signal("a", 1); // buffered before anybody waits
      await task(d);
      d.server.fireTimer("1");
      await task(d);
      d.server.signal("a", 2);
      d.server.signal("a", 3);
      await task(d);
      deepEqual(await d.finish(), ["wait 1", "first select 2", "second select 3"]);
    },
  },
  {
    name: "two selects and a waitForSignal over signals that are buffered already",
    async run() {
      const w = workflow("W", async () => {
        await sleep(1);
        const log: string[] = [];
        const first = select([on(a, ([n]) => log.push(`first a${n}`)), on(b, ([n]) => log.push(`first b${n}`))]);
        const second = select([on(b, ([n]) => log.push(`second b${n}`)), on(a, ([n]) => log.push(`second a${n}`))]);
        const third = waitForSignal(a).then((n) => log.push(`third a${n}`));
        await Promise.all([first, second, third]);
        return log;
      });
      const d = await drive(w);
      await task(d);
      for (const [name, n] of [["b", 1], ["a", 2], ["a", 3], ["b", 4]] as const) d.server.signal(name, n);
      d.server.fireTimer("1");
      await task(d);
      deepEqual((await d.finish() as string[]).sort(), ["first a2", "second b1", "third a3"]);
    },
  },
  {
    name: "in handlers of a receive it takes signals before the receive does, and a handler returns what it gives",
    async run() {
      const w = workflow("W", () =>
        receive([] as string[], [
          on(a, ([n], s) => noreply([...s, `receive a${n}`])),
          on(ask, async ([x], s) =>
            await select([
              on(a, ([n]) => reply(n * x, [...s, `select a${n}`])),
              timer("1m", () => stop([...s, "late"], -1)),
            ])),
        ]));
      const d = await drive(w);
      d.server.signal("a", 1);
      await task(d);
      const u1 = d.server.update("u1", "ask", 10);
      await task(d);
      d.server.signal("a", 2);
      d.server.signal("a", 3);
      await task(d);
      equal(u1.result, 20);
      const u2 = d.server.update("u2", "ask", 10);
      await task(d);
      d.server.fireTimer("2");
      await task(d);
      equal(u2.result, -1);
      deepEqual(await d.finish(), ["receive a1", "select a2", "receive a3", "late"]);
    },
  },
  {
    name: "a body in run may receive, and run returns continueAsNew from it",
    async run() {
      const w = workflow("W", async (runs: number) => {
        const got = await select([
          on(a, async ([n]) => await receive(n, [on(a, ([m], s) => noreply(s + m)), on(end, (_, s) => stop(s))])),
          timer("1 day", () => continueAsNew(runs + 1)),
        ]);
        return got;
      });
      equal(
        await led(w, [(d) => d.server.signal("a", 1), (d) => (d.server.signal("a", 2), d.server.signal("end"))], { args: [1] }),
        3,
      );
      const d = await drive(w, { args: [1] });
      await task(d);
      d.server.fireTimer("1");
      await task(d);
      deepEqual([d.server.closed?.kind, d.server.closed?.next?.args], ["continued", [2]]);
      await d.checkReplay();
    },
  },
  {
    name: "signals whose arguments a schema refuses are dropped, buffered or not, and the wait goes on",
    async run() {
      const checked = signal<[number]>("a", { args: [strict] });
      const w = workflow("W", async () => {
        await sleep(1);
        const first = await select([on(checked, ([n]) => n), timer("1h", () => "timer")]);
        return [first, await select([on(checked, ([n]) => n), timer("1h", () => "timer")])];
      });
      const d = await drive(w);
      await task(d);
      for (const value of ["x", "y", 5]) d.server.signal("a", value);
      d.server.fireTimer("1");
      await task(d);
      d.server.signal("a", "z");
      deepEqual(await task(d), []);
      d.server.signal("a", 6);
      await task(d);
      deepEqual(await d.finish(), [5, 6]);
      equal(d.logs.filter((entry) => /signal "a" was dropped/.test(entry.message)).length, 3);
    },
  },
  {
    name: "a cancellation of the workflow is thrown; timers are cancelled, signals stay",
    async run() {
      const w = workflow("W", async () => {
        const caught = await select([timer("1h", () => "timer"), on(a, () => "signal"), on(sleep("2h"), () => "handle")])
          .catch((e) => [nameOf(e), isCancellation(e), cancelled()]);
        const again = await select([on(a, () => "signal")]).catch((e) => nameOf(e));
        return [caught, again, await shield(() => select([on(a, ([n]) => n), timer("3h", () => "timer")]))];
      });
      const d = await drive(w);
      await task(d);
      d.server.requestCancel("enough");
      d.server.signal("a", 5);
      const failure = "CancelledFailure: Workflow cancelled: enough";
      await task(d);
      deepEqual([d.server.timers.size, timersStarted(d)], [0, 2]);
      deepEqual(await d.finish(), [[failure, true, true], failure, 5]);

      const uncaught = await drive(refreshing);
      await task(uncaught);
      uncaught.server.requestCancel();
      deepEqual(await task(uncaught), ["CANCEL START_TIMER 1", "CANCEL_WORKFLOW"]);
      await uncaught.checkReplay();
    },
  },
  {
    name: "a cancellation of the workflow lets the functions of arms end first",
    async run() {
      const w = workflow("W", async () => {
        const log: string[] = [];
        try {
          await select([
            on(async () => {
              try {
                await waiting.work(1);
              } finally {
                log.push("work ended");
                await shield(() => acts.undo());
                log.push("undone");
              }
            }, () => log.push("never")),
            on(a, () => log.push("never")),
            timer("1h", () => log.push("never")),
          ]);
        } catch (e) {
          log.push(nameOf(e));
        }
        return log;
      });
      const d = await drive(w);
      await task(d);
      d.server.requestCancel();
      d.server.signal("a", 1); // too late: the cancellation has decided
      deepEqual((await task(d)).sort(), ["CANCEL SCHEDULE_ACTIVITY 1", "CANCEL START_TIMER 1"]);
      d.server.cancelActivity("1");
      deepEqual(await task(d), ["SCHEDULE_ACTIVITY 2"]);
      d.server.completeActivity("2");
      await task(d);
      deepEqual(await d.finish(), ["work ended", "undone", "CancelledFailure: Workflow cancelled"]);
    },
  },
  {
    name: "what goes wrong in a clean-up is thrown instead of the cancellation that caused it",
    async run() {
      const w = workflow("W", () =>
        select([on(() =>
          acts.work(1).catch(() => {
            throw new ApplicationFailure("cannot clean up");
          }), () => 1)]));
      const d = await drive(w);
      await task(d);
      d.server.requestCancel();
      await task(d);
      deepEqual([d.server.closed?.kind, d.server.closed?.failure?.message], ["failed", "cannot clean up"]);
      await d.checkReplay();
    },
  },
  {
    name: "a shield keeps a cancellation out, of the select and of its arms",
    async run() {
      const w = workflow(
        "W",
        () => shield(() => select([on(() => acts.work(1), (x) => x), timer("1h", () => -1), on(b, () => 0)])),
      );
      equal(await led(w, [(d) => d.server.requestCancel(), (d) => d.server.completeActivity("1", 3)]), 3);
    },
  },
  {
    name: "the end of its scope takes it back, with a warning",
    async run() {
      const w = workflow("W", async () => {
        await parallel([
          () => void select([on(a, () => 1), timer("named", "1h", () => 2), on(() => acts.work(1), () => 3)]),
        ]);
        await sleep(1);
        return await waitForSignal(a);
      });
      const d = await drive(w);
      await task(d);
      deepEqual([timersStarted(d), d.server.activities.size], [1, 0]);
      d.server.signal("a", 4);
      d.server.fireTimer([...d.server.timers.keys()][0]!);
      await task(d);
      equal(await d.finish(), 4);
      deepEqual(d.logs.map((entry) => entry.fields["pending"]), [[
        'select (signal "a", timer "named", function)',
        'timer "named" of select',
      ]]);
    },
  },
  {
    name: "run ends while one stands",
    async run() {
      const w = workflow("W", async () => {
        void select([on(a, () => 1), timer("1h", () => 2), on(() => acts.work(1), () => 3)]);
        await sleep(1);
        return "done";
      });
      const d = await drive(w);
      await task(d);
      equal(timersStarted(d), 2);
      d.server.fireTimer("1");
      deepEqual(await task(d), ["CANCEL START_TIMER 2", "CANCEL SCHEDULE_ACTIVITY 1", "COMPLETE_WORKFLOW"]);
      equal(await d.finish(), "done");
    },
  },
  {
    name: "arms are plain descriptions and can be used again",
    async run() {
      const arms = [timer("1h", () => "timer"), on(a, ([n]) => `a${n}`), on(() => acts.work(1), (x) => `work ${x}`)];
      const w = workflow("W", async () => [await select(arms), await select(arms), await select(arms)]);
      deepEqual(
        await led(w, [
          (d) => d.server.signal("a", 1),
          (d) => d.server.completeActivity([...d.server.activities.keys()].at(-1)!, 2),
          (d) => d.server.fireTimer([...d.server.timers.keys()].at(-1)!),
        ]),
        ["a1", "work 2", "timer"],
      );
    },
  },
  {
    name: "misuse fails the task and says what to do",
    async run() {
      const wrong = async (arms: () => unknown, pattern: RegExp) => match(await refusal(() => select(arms() as never)), pattern);
      await wrong(() => [], /select got no arms, so nothing could ever end it/);
      await wrong(() => timer("1h", () => 1), /select takes its arms as an array/);
      await wrong(
        () => [on(a, () => 1), on(ask, () => stop(1, 1))],
        /arm 2 of select is update "ask"; an update must be answered/,
      );
      await wrong(() => [sleep(1)], /arm 1 of select is a promise; give it a body: on\(promise/);
      await wrong(() => [timer("x", "1h")], /arm 1 of select is a promise/);
      await wrong(() => [a], /arm 1 of select is object; arms are made by on\(\.\.\.\) and timer\(\.\.\.\)/);
      await wrong(() => [undefined], /arm 1 of select is undefined/);
      await wrong(
        () => [on(a, () => 1), timer(1, () => 2), on(signal("a"), () => 3)],
        /arm 3 of select is for signal "a", and so is one before/,
      );
      match(await refusal(() => receive(0, [timer(1, () => noreply(1))] as never)), /receive takes on\(signal, \.\.\.\)/);
      match(await refusal(() => receive(0, [undefined] as never)), /receive takes on\(signal, \.\.\.\)/);
      match(
        await refusal(() => select([on(() => noreply(1) as never, () => 1)])),
        /arm 1 of select in run of workflow "W" returned a noreply result/,
      );
      match(
        await refusal(() => select([on(() => receive(0, []), () => 1)])),
        /receive cannot be used in an arm of select \(arm 1 of select in run of workflow "W"\)/,
      );
      match(await refusal(() => select([on(new Promise(() => {}), () => 1)])), /DEADLOCK: .*its last call: select/);
    },
  },
  {
    name: "what on and timer refuse at once",
    async run() {
      const seen: string[] = [];
      const w = workflow("W", async () => {
        seen.length = 0;
        const wrong: (() => unknown)[] = [
          () => on(undefined as never, () => 1),
          () => on({} as never, () => 1),
          () => on(a, undefined as never),
          () => timer(5 as never, 5),
          () => timer("", "1s"),
          () => timer("x", "soon"),
          () => timer("soon", () => 1),
          () => timer(-1, () => 1),
          () => timer("x", "1s", 5 as never),
        ];
        for (const call of wrong) {
          try {
            await call();
            seen.push("nothing");
          } catch (e) {
            seen.push((e as Error).name);
          }
        }
        await timer("no time", 0);
      });
      await led(w, []);
      const [type, range] = ["TypeError", "RangeError"];
      deepEqual(seen, [type, type, type, type, type, range, range, range, type]);
    },
  },
  {
    name: "a timer's name is its summary in the history, and what a stack trace shows",
    async run() {
      const w = workflow("W", async () => {
        await timer("nap", "1s");
        const rest = timer("rest", "2h");
        await select([
          timer("expire", "60s", () => 1),
          timer("1m", () => 2),
          on(a, () => 3),
          on(rest, () => 4),
          on(() => acts.work(1), () => 5),
        ]);
      });
      const d = await drive(w);
      await task(d);
      deepEqual(heads(await d.query("__stack_trace")), ['run of workflow "W": timer "nap"']);
      d.server.fireTimer("1");
      await task(d);
      deepEqual(heads(await d.query("__stack_trace")), [
        'arm 5 of select in run of workflow "W": activity "work"',
        'run of workflow "W": select (timer "expire", timer, signal "a", promise, function)',
        'run of workflow "W": timer "rest"',
      ]);
      const metadata = (await d.query("__temporal_workflow_metadata")).value as {
        definition: { signalDefinitions: { name: string }[] };
      };
      deepEqual(metadata.definition.signalDefinitions, [{ name: "a" }]);
      const summaries = d.live.flatMap(({ commands }) => commands).map(({ attributes }) => attributes);
      for (const name of ["nap", "rest", "expire"]) {
        const wanted = [...defaultPayloadConverter.toPayload(name)!.data].join();
        equal(summaries.some((bytes) => [...bytes].join().includes(wanted)), true, `${name} is in its command`);
      }
      d.server.signal("a", 1);
      await task(d);
      equal(await d.finish(), undefined);
    },
  },
];

/** How many timers are in the history: those that were cancelled in the task of their start are not. */
function timersStarted(d: Drive): number {
  return d.server.events.filter((event) => event.eventType === EventType.TIMER_STARTED).length;
}

function heads({ value }: { value?: unknown }): string[] {
  return (value as string).split("\n\n").map((block) => block.split("\n")[0]!).sort();
}

/** receive where it may not stand. */
function updateBadly(): Promise<unknown> {
  return receive(0, [on(end, (_, s) => stop(s))]);
}
