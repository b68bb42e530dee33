// select (docs/dev/semantics/scopes.md#select) among other things that wait: signals that several
// want, handlers, cancellations, shields, the ends of scopes.
import {
  ApplicationFailure,
  cancelled,
  continueAsNew,
  isCancellation,
  noreply,
  on,
  parallel,
  receive,
  type Reducer,
  reply,
  select,
  shield,
  signal,
  sleep,
  type StandardSchemaV1,
  stop,
  timer,
  transact,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";
import {
  a,
  acts,
  ask,
  b,
  describeError,
  end,
  led,
  refreshing,
  task,
  timersStarted,
  waiting,
} from "./select_support.ts";

const strict: StandardSchemaV1<unknown, number> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof value === "number" ? { value } : { issues: [{ message: "no number" }] },
  },
};

export const cases: Case[] = [
  {
    name:
      "waiters of one signal are served in the order in which they began to wait, before a receive",
    async run() {
      const w = workflow("W", async () => {
        const log: string[] = [];
        await parallel([
          async () => void log.push(`wait ${await waitForSignal(a)}`),
          async () =>
            void await select([
              on(a, ([n]) => log.push(`first select ${n}`)),
              timer("1h", () => 0),
            ]),
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
        const first = select([
          on(a, ([n]) => log.push(`first a${n}`)),
          on(b, ([n]) => log.push(`first b${n}`)),
        ]);
        const second = select([
          on(b, ([n]) => log.push(`second b${n}`)),
          on(a, ([n]) => log.push(`second a${n}`)),
        ]);
        const third = waitForSignal(a).then((n) => log.push(`third a${n}`));
        await Promise.all([first, second, third]);
        return log;
      });
      const d = await drive(w);
      await task(d);
      for (const [name, n] of [["b", 1], ["a", 2], ["a", 3], ["b", 4]] as const) {
        d.server.signal(name, n);
      }
      d.server.fireTimer("1");
      await task(d);
      deepEqual((await d.finish() as string[]).sort(), ["first a2", "second b1", "third a3"]);
    },
  },
  {
    name:
      "in handlers of a receive it takes signals before the receive does, and a handler returns what it gives",
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
          on(
            a,
            async ([n]) =>
              await receive(n, [on(a, ([m], s) => noreply(s + m)), on(end, (_, s) => stop(s))]),
          ),
          timer("1 day", () => continueAsNew(runs + 1)),
        ]);
        return got;
      });
      equal(
        await led(w, [
          (d) => d.server.signal("a", 1),
          (d) => (d.server.signal("a", 2), d.server.signal("end")),
        ], { args: [1] }),
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
    name:
      "signals whose arguments a schema rejects are dropped, buffered or not, and the wait continues",
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
        const caught = await select([
          timer("1h", () => "timer"),
          on(a, () => "signal"),
          on(sleep("2h"), () => "handle"),
        ])
          .catch((e) => [describeError(e), isCancellation(e), cancelled()]);
        const again = await select([on(a, () => "signal")]).catch((e) => describeError(e));
        return [
          caught,
          again,
          await shield(() => select([on(a, ([n]) => n), timer("3h", () => "timer")])),
        ];
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
          log.push(describeError(e));
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
      deepEqual([d.server.closed?.kind, d.server.closed?.failure?.message], [
        "failed",
        "cannot clean up",
      ]);
      await d.checkReplay();
    },
  },
  {
    name: "a shield keeps a cancellation out, of the select and of its arms",
    async run() {
      const w = workflow(
        "W",
        () =>
          shield(() =>
            select([on(() => acts.work(1), (x) => x), timer("1h", () => -1), on(b, () => 0)])
          ),
      );
      equal(
        await led(w, [(d) => d.server.requestCancel(), (d) => d.server.completeActivity("1", 3)]),
        3,
      );
    },
  },
  {
    name: "the end of its scope takes it back, with a warning",
    async run() {
      const w = workflow("W", async () => {
        await parallel([
          () =>
            void select([
              on(a, () => 1),
              timer("named", "1h", () => 2),
              on(() => acts.work(1), () => 3),
            ]),
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
      // The timer is left out: nothing is lost with it.
      deepEqual(d.logs.map((entry) => entry.fields["pending"]), [[
        'select (signal "a", timer "named", function)',
      ]]);
    },
  },
  {
    name: "run ends while a select waits",
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
      deepEqual(await task(d), [
        "CANCEL START_TIMER 2",
        "CANCEL SCHEDULE_ACTIVITY 1",
        "COMPLETE_WORKFLOW",
      ]);
      equal(await d.finish(), "done");
    },
  },
  {
    name: "arms are plain descriptions and can be used again",
    async run() {
      const arms = [
        timer("1h", () => "timer"),
        on(a, ([n]) => `a${n}`),
        on(() => acts.work(1), (x) => `work ${x}`),
      ];
      const w = workflow(
        "W",
        async () => [await select(arms), await select(arms), await select(arms)],
      );
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
    name:
      "P9: a transact of a losing function is carried out, in the task of the loss or before it",
    async run() {
      const note = { name: "note" } as Reducer<[text: string], void>;
      const w = workflow("W", async () => {
        await sleep(1);
        return await select([
          on(async () => {
            void transact(note, "sent");
            await transact(note, "awaited");
          }, () => "rows"),
          on(async () => {
            void transact(note, "and waits");
            await sleep("1h");
          }, () => "hour"),
          on(a, ([n]) => `a${n}`),
        ]);
      });
      for (const together of [true, false]) {
        const d = await drive(w);
        await task(d);
        d.server.fireTimer("1");
        if (!together) await task(d);
        d.server.signal("a", 1);
        await task(d);
        equal(d.allCommands().filter((command) => command.startsWith("TRANSACT")).length, 3);
        // The result of a reducer comes with the task after its own, before the signal.
        equal(await d.finish(), together ? "a1" : "rows");
        if (together) deepEqual(d.logs, []);
      }
    },
  },
];
