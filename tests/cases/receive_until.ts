// receive with `until`: it ends when that holds and nothing of it is in flight, and replay ends it
// at the same point (docs/dev/semantics/messages.md#until).
import {
  activities,
  ApplicationFailure,
  continueAsNew,
  log,
  noreply,
  on,
  receive,
  reply,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  workflow,
  workflowInfo,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { type Drive, drive } from "./driver.ts";

const acts = activities<{ work(x: number): number }>({ startToClose: "10s" });
const note = signal<[number]>("note");
const slow = signal<[number]>("slow");
const end = signal("end");
const add = update<[number], number>("add");
const check = update<[number], number>("check");

/**
 * Takes messages until the service suggests a fresh history; "check" runs an activity outside the
 * loop, "slow" inside it.
 */
const entity = workflow("Entity", async (start: number[] = []): Promise<unknown> => {
  const { state, stopped } = await receive(start, [
    on(note, ([n], s) => noreply([...s, n])),
    on(slow, async ([n], s) => noreply([...s, await acts.work(n)])),
    on(add, ([n], s) => reply(s.length + 1, [...s, n]), {
      validate: ([n]) => {
        if (n < 0) throw new ApplicationFailure("only more");
      },
    }),
    on(check, ([n], s) =>
      spawnAsync(async (updateState) => {
        const checked = await acts.work(n);
        return await updateState((now) => [now.length + 1, [...now, checked]]);
      }, s)),
    on(end, (_, s) => stop(s)),
  ], { until: () => workflowInfo().continueAsNewSuggested });
  return stopped ? state : continueAsNew(state);
});

const continued = (d: Drive) => d.server.closed?.next?.args;
const nextRun = (d: Drive) => {
  const { args, headers } = d.server.closed!.next!;
  return drive(entity, { args, headers, runId: "99999999-2222-4333-8444-555555555555" });
};

export const cases: Case[] = [
  {
    name:
      "until: a receive ends with the current state when the condition holds and no handler is in flight",
    async run() {
      const d = await drive(entity);
      d.server.signal("note", 1);
      await d.task();
      equal(d.server.closed, undefined, "not suggested yet");
      d.server.suggestsContinueAsNew = true;
      d.server.signal("note", 2);
      await d.task();
      deepEqual(continued(d), [[1, 2]]);
      await d.finish();
    },
  },
  {
    name:
      "until: an update in the task with the suggestion completes, then the run continues as new in that task",
    async run() {
      const d = await drive(entity);
      await d.task();
      d.server.suggestsContinueAsNew = true;
      const u = d.server.update("u", "add", 7);
      await d.task();
      deepEqual([u.result, continued(d)], [1, [[7]]]);
      await d.finish();
    },
  },
  {
    name:
      "until: handlers in flight finish first, and messages are accepted and completed meanwhile",
    async run() {
      const d = await drive(entity);
      const first = d.server.update("u1", "check", 1);
      await d.task();
      d.server.suggestsContinueAsNew = true;
      const second = d.server.update("u2", "add", 2);
      const third = d.server.update("u3", "check", 3);
      await d.task();
      deepEqual([first.stage, second.result, third.stage, d.server.closed], [
        "accepted",
        1,
        "accepted",
        undefined,
      ]);
      d.server.completeActivity("1", 10);
      await d.task();
      equal(first.result, 2);
      equal(d.server.closed, undefined, "the other one is still in flight");
      d.server.completeActivity("2", 30);
      await d.task();
      deepEqual([third.result, continued(d)], [3, [[2, 10, 30]]]);
      await d.finish();
    },
  },
  {
    name:
      "until: updates that were accepted while a handler of the loop was busy complete before the end",
    async run() {
      const d = await drive(entity);
      d.server.signal("slow", 1);
      await d.task();
      d.server.suggestsContinueAsNew = true;
      const queued = [1, 2, 3].map((n) => d.server.update(`u${n}`, "add", n));
      await d.task();
      deepEqual(queued.map((u) => u.stage), ["accepted", "accepted", "accepted"]);
      d.server.completeActivity("1", 100);
      await d.task();
      deepEqual([queued.map((u) => u.result), continued(d)], [[2, 3, 4], [[100, 1, 2, 3]]]);
      await d.finish();
    },
  },
  {
    name: "until: a rejected update, which is not in history, does not end the receive",
    async run() {
      for (const cached of [true, false]) {
        const d = await drive(entity, { cached });
        await d.task();
        d.server.suggestsContinueAsNew = true;
        const refused = d.server.update("u1", "add", -1);
        await d.task();
        deepEqual([refused.stage, d.server.closed], ["rejected", undefined]);
        const taken = d.server.update("u2", "add", 1);
        await d.task();
        deepEqual([taken.result, continued(d)], [1, [[1]]]);
        await d.finish();
      }
    },
  },
  {
    name: "until: a signal of another name does not end it; the signal waits for its receiver",
    async run() {
      const d = await drive(entity);
      await d.task();
      d.server.suggestsContinueAsNew = true;
      d.server.signal("stranger");
      await d.task();
      equal(d.server.closed, undefined);
      d.server.signal("note", 1);
      await d.task();
      deepEqual(continued(d), [[1]]);
      equal(
        Object.keys(d.server.closed!.next!.headers).length,
        1,
        "the signal of another name is carried over",
      );
      await d.finish();
    },
  },
  {
    name:
      "until: it is checked for each state, so an idle state ends when all updates have completed",
    async run() {
      const close = signal("close");
      const w = workflow("W", () =>
        receive({ open: true, n: 0 }, [
          on(
            close,
            (_, s) => spawnAsync(async () => void await acts.work(0), { ...s, open: false }),
          ),
          on(add, ([n], s) => reply(s.n + n, { ...s, n: s.n + n }), {
            validate: (_, s) => {
              if (!s.open) throw new Error("it is closed");
            },
          }),
        ], { until: (s) => !s.open }));
      const d = await drive(w);
      const before = d.server.update("u1", "add", 5);
      d.server.signal("close");
      await d.task();
      const after = d.server.update("u2", "add", 5);
      await d.task();
      deepEqual([before.stage, after.stage], ["rejected", "rejected"]);
      match(after.failure?.message ?? "", /it is closed/);
      equal(d.server.closed, undefined);
      d.server.completeActivity("1");
      await d.task();
      deepEqual(await d.finish(), {
        timedOut: false,
        stopped: false,
        state: { open: false, n: 0 },
      });
    },
  },
  {
    name:
      "until: with a timeout the result states that the condition ended it, and the timer is canceled",
    async run() {
      const w = workflow(
        "W",
        () =>
          receive(0, [on(note, ([n], s) => noreply(s + n))], {
            timeout: "1h",
            until: (n) => n >= 3,
          }),
      );
      const d = await drive(w);
      d.server.signal("note", 1);
      await d.task();
      d.server.signal("note", 2);
      d.server.signal("note", 5);
      await d.task();
      deepEqual(
        await d.finish(),
        { timedOut: false, stopped: false, state: 8 },
        "what had arrived is taken first",
      );
      equal(d.server.timers.size, 0);
    },
  },
  {
    name:
      "until: with endlessly overlapping handlers 100 more messages are accepted; then signals wait and updates are resent",
    async run() {
      const d = await drive(entity);
      let last = d.server.update("u0", "check", 0);
      await d.task();
      d.server.suggestsContinueAsNew = true;
      // There is always one in flight: each is begun before the one before it is done.
      for (let n = 1; n <= 100; n++) {
        const u = d.server.update(`u${n}`, "check", n);
        await d.task();
        equal(u.stage, "accepted", `update ${n}`);
        d.server.completeActivity(String(n), n - 1);
        await d.task();
        equal(last.result, n);
        last = u;
      }
      equal(d.server.closed, undefined);
      const late = d.server.update("late", "check", 101);
      d.server.signal("note", 1000);
      await d.task();
      equal(late.stage, "rejected");
      deepEqual(
        [late.failure?.failureInfo.value].map((
          info,
        ) => [(info as { type: string }).type, (info as { nonRetryable: boolean }).nonRetryable]),
        [
          ["ReceiveEnding", false],
        ],
      );
      d.server.completeActivity("101", 100);
      await d.task();
      equal(last.result, 101);
      await d.finish();
      const next = await nextRun(d);
      const again = next.server.update("late", "add", 5);
      await next.task();
      equal(again.result, 103, "after the signal, which waited");
    },
  },
  {
    name:
      "until: messages of one task are processed first; at most the signals that fit into the next run keep waiting",
    async run() {
      const flood = signal<[string]>("flood");
      const w = workflow("W", async (seen: number): Promise<unknown> => {
        const until = () => workflowInfo().continueAsNewSuggested;
        const busy = async (s: number) => noreply(await acts.work(s) + 1);
        const { state } = await receive(seen, [
          on(flood, (_, s) => noreply(s + 1)),
          on(note, (_, s) => busy(s)),
        ], { until });
        return continueAsNew(state);
      });
      const all = await drive(w, { args: [0] });
      await all.task();
      all.server.suggestsContinueAsNew = true;
      for (let i = 0; i < 300; i++) all.server.signal("flood", "x".repeat(10_000));
      await all.task();
      deepEqual(continued(all), [300]);
      await all.finish();
      // A handler that is busy while more and more signals arrive: of small ones a hundred are
      // carried over, of large ones as many as fit.
      for (const [size, left] of [[10, 99], [20_000, 4]] as const) {
        const d = await drive(w, { args: [0] });
        await d.task();
        d.server.suggestsContinueAsNew = true;
        for (let i = 0; i < 200; i++) d.server.signal("note", i, "x".repeat(size));
        await d.task();
        for (let n = 1; d.server.closed === undefined; n++) {
          d.server.completeActivity(String(n), n - 1);
          await d.task();
        }
        deepEqual(continued(d), [200 - left]);
        await d.finish();
      }
    },
  },
  {
    name: "until: the result states whether a handler stopped it, also while the condition held",
    async run() {
      const d = await drive(entity);
      await d.task();
      d.server.suggestsContinueAsNew = true;
      d.server.signal("note", 1);
      d.server.signal("end");
      await d.task();
      deepEqual(await d.finish(), [1]);
    },
  },
  {
    name: "until: a forbidden call and an invalid result fail the task by name",
    async run() {
      const wrong: [(s: number) => unknown, RegExp][] = [
        [
          () => Promise.resolve(true),
          /until of receive must return true or false synchronously, not a promise/,
        ],
        [() => 1, /synchronously, not 1/],
        [
          () => void sleep(5),
          /sleep was called in until of a receive: it can only read the state and workflowInfo\(\)/,
        ],
        [() => {
          throw new TypeError("a bug");
        }, /a bug/],
      ];
      for (const [until, message] of wrong) {
        const w = workflow(
          "W",
          () => receive(0, [on(end, (_, s) => stop(s))], { until: until as () => boolean }),
        );
        const d = await drive(w);
        await d.task();
        match(d.server.taskFailure?.failure.message ?? "", message);
      }
      const d = await drive(workflow("W", () => receive(0, [], { until: true as never })));
      await d.task();
      match(d.server.taskFailure?.failure.message ?? "", /until of receive must be a function/);
    },
  },
  {
    name: "rememberUpdates: the configured number of results is carried over several runs",
    async run() {
      const w = workflow("Remembers", {
        rememberUpdates: 100,
        async run(n: number): Promise<unknown> {
          return continueAsNew(
            await receive(n, [
              on(add, ([x], s) => {
                log.debug("added");
                return reply(s + x, s + x);
              }),
              on(end, (_, s) => stop(s)),
            ]),
          );
        },
      });
      let d = await drive(w, { args: [0] });
      for (let run = 0; run < 3; run++) {
        for (let i = 0; i < 40; i++) {
          const u = d.server.update(`${run}-${i}`, "add", 1);
          await d.task();
          equal(u.result, run * 40 + i + 1);
        }
        d.server.signal("end");
        await d.task();
        await d.finish();
        const { args, headers } = d.server.closed!.next!;
        d = await drive(w, { args, headers, runId: `9999999${run}-2222-4333-8444-555555555555` });
      }
      const [known, forgotten] = [
        d.server.update("0-20", "add", 1),
        d.server.update("0-19", "add", 1),
      ];
      await d.task();
      deepEqual([known.result, forgotten.result], [21, 121], "100 of 120 are known");
      for (const count of [-1, 1.5, 1001]) {
        try {
          workflow("W", { rememberUpdates: count, run: () => Promise.resolve() });
          throw new Error("it was taken");
        } catch (e) {
          match(
            (e as Error).message,
            /rememberUpdates of workflow ".*" must be an integer from 0 to 1000/,
          );
        }
      }
    },
  },
];
