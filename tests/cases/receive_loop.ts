// Signals, the inbox, timeouts of receive (docs/dev/semantics/messages.md#receive).
import {
  activities,
  ApplicationFailure,
  noreply,
  on,
  parallel,
  receive,
  reply,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  updateState,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const acts = activities<{ work(x: number): number }>();
const a = signal<[number]>("a");
const b = signal<[number]>("b");
const end = signal("end");
const ask = update<[number], number>("ask");
const collect = (...names: (typeof a)[]) => [
  ...names.map((name) => on(name, ([n], s: string[]) => noreply([...s, `${name.name}${n}`]))),
  on(end, (_, s: string[]) => stop(s)),
];

export const cases: Case[] = [
  {
    name:
      "signals that a stopped receive did not process stay buffered, in order, for the next receiver (P4)",
    async run() {
      const w = workflow("W", async () => {
        const first = await receive([] as string[], collect(a));
        return [first, await receive([] as string[], collect(a, b))];
      });
      const d = await drive(w);
      d.server.signal("a", 1);
      d.server.signal("b", 2);
      d.server.signal("end");
      d.server.signal("a", 3);
      d.server.signal("b", 4);
      d.server.signal("end");
      await d.task();
      deepEqual(await d.finish(), [["a1"], ["b2", "a3", "b4"]]);
    },
  },
  {
    name: "buffered signals come first, in order of arrival; names without a handler stay buffered",
    async run() {
      const w = workflow("W", async () => {
        await acts.work(1);
        const got = await receive([] as string[], collect(a));
        return [...got, "then", ...await receive([] as string[], collect(b))];
      });
      const d = await drive(w);
      await d.task();
      d.server.signal("a", 1);
      d.server.signal("b", 1);
      d.server.signal("a", 2);
      await d.task();
      d.server.completeActivity("1");
      await d.task();
      d.server.signal("end");
      d.server.signal("end");
      await d.task();
      deepEqual(await d.finish(), ["a1", "a2", "then", "b1"]);
    },
  },
  {
    name:
      "a pending waitForSignal takes precedence over a receive of the name; waiters are served in order",
    async run() {
      const w = workflow("W", () =>
        receive([] as string[], [
          on(b, ([n], s) =>
            spawnAsync(async () => {
              const got = await waitForSignal(a);
              await updateState((now: string[]) => [undefined, [...now, `waiter ${n} got ${got}`]]);
            }, s)),
          ...collect(a),
        ]));
      const d = await drive(w);
      d.server.signal("b", 1);
      d.server.signal("b", 2);
      await d.task();
      d.server.signal("a", 10);
      d.server.signal("a", 20);
      d.server.signal("a", 30);
      d.server.signal("end");
      await d.task();
      deepEqual(await d.finish(), ["waiter 1 got 10", "waiter 2 got 20", "a30"]);
    },
  },
  {
    name: "waitForSignal in a sync handler: the loop waits with it",
    async run() {
      const w = workflow("W", () =>
        receive([] as string[], [
          on(b, async ([n], s) => noreply([...s, `b${n} with a${await waitForSignal(a)}`])),
          ...collect(),
        ]));
      const d = await drive(w);
      d.server.signal("b", 1);
      d.server.signal("end");
      await d.task();
      d.server.signal("a", 5);
      await d.task();
      deepEqual(await d.finish(), ["b1 with a5"]);
    },
  },
  {
    name: "waitForSignal returns undefined, the single argument, or all arguments",
    async run() {
      const w = workflow("W", async () => {
        const none = await waitForSignal("x");
        return [
          none === undefined ? "undefined" : none,
          await waitForSignal("x"),
          await waitForSignal("x"),
        ];
      });
      const d = await drive(w);
      d.server.signal("x");
      d.server.signal("x", { one: 1 });
      d.server.signal("x", 1, 2);
      await d.task();
      deepEqual(await d.finish(), ["undefined", { one: 1 }, [1, 2]]);
    },
  },
  {
    name: "a signal handler that throws is logged; the state is unchanged and the loop continues",
    async run() {
      const w = workflow("W", () =>
        receive(1, [
          on(a, ([n], s) => {
            if (n === 0) throw new TypeError("a bug");
            return noreply(s + n);
          }),
          on(b, (_, s) =>
            spawnAsync(async () => {
              throw new ApplicationFailure("later");
            }, s)),
          on(end, (_, s) => stop(s)),
        ]));
      const d = await drive(w);
      d.server.signal("a", 0);
      d.server.signal("b", 0);
      d.server.signal("a", 4);
      d.server.signal("end");
      await d.task();
      deepEqual(d.logs.map((l) => [l.level, l.message]), [
        ["error", 'the handler of signal "a" failed'],
        ["error", 'the handler of signal "b" failed'],
      ]);
      match(String(d.logs[0]!.fields["error"]), /TypeError: a bug/);
      equal(await d.finish(), 5);
      equal(d.logs.length, 2, "replay logs nothing");
    },
  },
  {
    name:
      "the timer of the timeout starts on entry, before buffered messages, and is canceled by a stop",
    async run() {
      const w = workflow("W", async () => {
        const r = await receive([] as string[], [
          on(b, async (_, s) => (await acts.work(1), noreply(s))),
          ...collect(a),
        ], {
          timeout: "1h",
        });
        await sleep(5);
        return r;
      });
      const d = await drive(w);
      d.server.signal("a", 1);
      d.server.signal("b", 1);
      await d.task();
      deepEqual(d.commands(), ["START_TIMER 1", "SCHEDULE_ACTIVITY 1"]);
      d.server.completeActivity("1");
      d.server.signal("end");
      await d.task();
      deepEqual(d.commands(), ["CANCEL START_TIMER 1", "START_TIMER 2"]);
      d.server.fireTimer("2");
      await d.task();
      deepEqual(await d.finish(), { timedOut: false, state: ["a1"] });
    },
  },
  {
    name: "a timer that is started and canceled in one activation leaves no event",
    async run() {
      const w = workflow("W", () => receive([] as string[], collect(a), { timeout: "1h" }));
      const d = await drive(w);
      d.server.signal("end");
      await d.task();
      equal(d.server.timers.size, 0);
      equal(
        d.server.events.some((e) => e.attributes.case === "timerStartedEventAttributes"),
        false,
      );
      deepEqual(await d.finish(), { timedOut: false, state: [] });
    },
  },
  ...[true, false].map((timerFirst): Case => ({
    name: `of a stop and a timeout in one task the earlier event wins: ${
      timerFirst ? "timeout" : "stop"
    }`,
    async run() {
      const w = workflow("W", () => receive([] as string[], collect(a), { timeout: "1h" }));
      const d = await drive(w);
      await d.task();
      if (timerFirst) d.server.fireTimer("1");
      d.server.signal("end");
      if (!timerFirst) d.server.fireTimer("1");
      await d.task();
      deepEqual(await d.finish(), { timedOut: timerFirst, state: [] });
    },
  })),
  {
    name: "an update comes after the events of its task: a timeout in the task comes first",
    async run() {
      const w = workflow(
        "W",
        () => receive(0, [on(ask, ([n], s) => stop(s, n))], { timeout: "1h" }),
      );
      const d = await drive(w);
      await d.task();
      const u = d.server.update("u", "ask", 1);
      d.server.fireTimer("1");
      await d.task();
      equal(u.stage, "rejected");
      deepEqual(await d.finish(), { timedOut: true, state: 0 });
    },
  },
  {
    name:
      "a timeout during a handler: dispatch stops, what runs finishes, accepted updates are drained",
    async run() {
      const w = workflow("W", () =>
        receive([] as string[], [
          on(b, async ([n], s) => (await acts.work(n), noreply([...s, `b${n}`]))),
          on(ask, ([n], s) => reply(n, [...s, `ask${n}`])),
          ...collect(a),
        ], { timeout: "1h" }));
      const d = await drive(w);
      d.server.signal("b", 1);
      await d.task();
      const u = d.server.update("u", "ask", 7);
      await d.task();
      d.server.fireTimer("1");
      d.server.signal("a", 1);
      await d.task();
      equal(d.server.closed, undefined);
      d.server.completeActivity("1");
      await d.task();
      equal(u.result, 7);
      deepEqual(await d.finish(), { timedOut: true, state: ["b1", "ask7"] });
    },
  },
  {
    name: "a stop by a handler that was running when the timeout fired returns the normal result",
    async run() {
      const w = workflow(
        "W",
        () => receive(0, [on(b, async ([n]) => (await acts.work(n), stop(n)))], { timeout: "1h" }),
      );
      const d = await drive(w);
      d.server.signal("b", 3);
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      d.server.completeActivity("1");
      await d.task();
      deepEqual(await d.finish(), { timedOut: false, state: 3 });
    },
  },
  {
    name: "timeout 0 handles what has arrived and ends, with no timer; undefined has no timer",
    async run() {
      const w = workflow("W", async () => {
        const zero = await receive([] as string[], collect(a, b), { timeout: 0 });
        return [zero, await receive([] as string[], collect(a))];
      });
      const d = await drive(w);
      d.server.signal("a", 1);
      d.server.signal("b", 2);
      await d.task();
      d.server.signal("a", 3);
      d.server.signal("end");
      await d.task();
      deepEqual(await d.finish(), [{ timedOut: true, state: ["a1", "b2"] }, ["a3"]]);
      deepEqual(d.allCommands(), ["COMPLETE_WORKFLOW"]);
    },
  },
  {
    name: "timeout 0 accepts no update that arrives while a handler of an earlier message runs",
    async run() {
      const w = workflow("W", async () => {
        const zero = await receive([] as string[], [
          on(a, async ([n], s) => (await sleep(1), noreply([...s, `a${n}`]))),
          on(ask, ([n], s) => reply(n, [...s, `ask${n}`])),
        ], { timeout: 0 });
        return zero.state;
      });
      const d = await drive(w);
      d.server.signal("a", 1);
      d.server.update("early", "ask", 2);
      await d.task();
      d.server.update("late", "ask", 3);
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      deepEqual(await d.finish(), ["a1", "ask2"]);
    },
  },
  {
    name: "a receive whose handler cannot resume is a deadlock only after its timeout",
    async run() {
      const w = workflow(
        "W",
        () =>
          receive(0, [on(a, async (_, s) => (await new Promise(() => {}), noreply(s)))], {
            timeout: "1h",
          }),
      );
      const d = await drive(w);
      d.server.signal("a", 1);
      await d.task();
      equal(d.server.taskFailure, undefined, "the timeout is still to come");
      d.server.fireTimer("1");
      await d.task();
      match(d.server.taskFailure!.failure.message, /^DEADLOCK/);
    },
  },
  {
    name: "timeout 0 with nothing buffered ends at once",
    async run() {
      const d = await drive(workflow("W", () => receive(4, [], { timeout: 0 })));
      await d.task();
      deepEqual(await d.finish(), { timedOut: true, state: 4 });
    },
  },
  {
    name: "handlers are found by name; two for one name are rejected",
    async run() {
      const d = await drive(
        workflow("W", () => receive(0, [on(a, (_, s) => noreply(s)), on(a, (_, s) => noreply(s))])),
      );
      await d.task();
      match(d.server.taskFailure!.failure.message, /receive has two handlers for signal "a"/);
    },
  },
  {
    name: "a signal and an update of one name are two handlers",
    async run() {
      const same = update<[], string>("a");
      const w = workflow(
        "W",
        () =>
          receive([] as string[], [
            on(a, ([n], s) => noreply([...s, `signal ${n}`])),
            on(same, (_, s) => stop(s, "u")),
          ]),
      );
      const d = await drive(w);
      d.server.signal("a", 1);
      const u = d.server.update("u", "a");
      await d.task();
      equal(u.result, "u");
      deepEqual(await d.finish(), ["signal 1"]);
    },
  },
  {
    name:
      "spawnAsync: the state is stored first, the async handler runs to its first block, then the next message",
    async run() {
      const w = workflow("W", () =>
        receive([] as string[], [
          on(a, ([n], s) =>
            spawnAsync(async () => {
              await updateState((
                now: string[],
              ) => [0, [...now, `started ${n} after ${now.length}`]]);
              await acts.work(n);
              await updateState((now: string[]) => [0, [...now, `done ${n}`]]);
            }, [...s, `spawned ${n}`])),
          ...collect(b),
        ]));
      const d = await drive(w);
      d.server.signal("a", 1);
      d.server.signal("b", 1);
      d.server.signal("a", 2);
      await d.task();
      d.server.completeActivity("2");
      d.server.completeActivity("1");
      d.server.signal("end");
      await d.task();
      deepEqual(await d.finish(), [
        "spawned 1",
        "started 1 after 1",
        "b1",
        "spawned 2",
        "started 2 after 4",
        "done 2",
        "done 1",
      ]);
    },
  },
  {
    name: "sync handlers serialize: the loop waits for a blocked one",
    async run() {
      const w = workflow("W", () =>
        receive([] as string[], [
          on(b, async ([n], s) => {
            const results = await parallel([() => acts.work(n), () => sleep(10)]);
            return noreply([...s, `b${n} ${results.length}`]);
          }),
          ...collect(a),
        ]));
      const d = await drive(w);
      d.server.signal("b", 1);
      d.server.signal("a", 1);
      d.server.signal("end");
      await d.task();
      d.server.completeActivity("1");
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      deepEqual(await d.finish(), ["b1 2", "a1"]);
    },
  },
];
