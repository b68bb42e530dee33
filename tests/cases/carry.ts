// Workflows of rounds (docs/dev/semantics/endless_loops.md): the state goes from round to round,
// the run continues as new between two of them, and neither code nor callers notice.
import {
  activities,
  cancelled,
  carry,
  continueAsNew,
  noreply,
  on,
  parallel,
  payload,
  query,
  receive,
  reply,
  select,
  shield,
  signals,
  sleep,
  startChild,
  stop,
  timer,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import type { DefinitionShape } from "../../ts/executor/program/definition.ts";
import { deepEqual, equal, match, throws } from "./assert.ts";
import type { Case } from "./case.ts";
import { type Drive, drive } from "./driver.ts";

const acts = activities<{ work(x: number): number }>({ startToClose: "10s" });
const told = signals({
  threat: payload<[enemy: number]>(),
  standDown: payload(),
  unheard: payload<[text: string]>(),
});
const rename = update<[name: string], string>("rename");
const where = query<{ waypoint: number; fights: number[] }>("where");

interface State {
  readonly waypoint: number;
  readonly fights: readonly number[];
}

/** Walks to the next waypoint, unless a threat comes; ends on a signal. */
const walk = workflow("Walk", {
  carry: (_route: string[], start?: number): State => ({ waypoint: start ?? 0, fights: [] }),
  messages: { where },
  queries: { where: (published: { waypoint: number; fights: number[] }) => published },
  round: async (state, route) =>
    await select([
      on(told.threat, ([enemy]) => carry({ ...state, fights: [...state.fights, enemy] })),
      on(told.standDown, () => route[state.waypoint]!),
      timer("arrival", "5s", () =>
        carry({ ...state, waypoint: (state.waypoint + 1) % route.length })),
    ]),
});

/** Leaves an activity and a timer open in each round. */
const careless = workflow("Careless", {
  carry: () => 0,
  async round(rounds) {
    void acts.work(rounds);
    void sleep("1 hour");
    await sleep("1s");
    return carry(rounds + 1);
  },
});

const open = workflow("Open", {
  carry: () => "first",
  async round(name) {
    const next = await receive(name, [
      on(rename, ([to]) => reply(`was ${name}`, to), { validate: ([to]) => void to.length }),
      on(told.threat, async ([n], s) => {
        await acts.work(n);
        return noreply(s);
      }),
      on(told.standDown, (_, s) => stop(s)),
    ]);
    return next === "last" ? next : carry(next);
  },
});

async function task(d: Drive): Promise<string[]> {
  await d.task();
  equal(d.server.taskFailure, undefined, d.server.taskFailure?.failure.message);
  return d.commands().map((command) => command.replace(/ \d+$/, ""));
}

let runs = 0;
/** The run that continues one that has ended so. */
function following(d: Drive): Promise<Drive> {
  const { args, headers, workflowType } = d.server.closed!.next!;
  equal(workflowType, d.definition.name);
  return drive(d.definition, {
    args,
    headers,
    runId: `${String(++runs).padStart(8, "0")}-2222-4333-8444-555555555555`,
  });
}

const failureOf = async (definition: DefinitionShape, happens?: (d: Drive) => void) => {
  const d = await drive(definition);
  await d.task();
  happens?.(d);
  if (happens !== undefined) await d.task();
  return d.server.taskFailure?.failure.message ?? "no failure";
};

export const cases: Case[] = [
  {
    name:
      "carry: rounds continue in one run, and continue as new when the service suggests it, with arguments and state",
    async run() {
      let d = await drive(walk, { args: [["gate", "well", "tower"]], cached: false });
      deepEqual(await task(d), ["START_TIMER"]);
      for (const expected of [1, 2, 0]) {
        d.server.fireTimer(d.server.timers.keys().next().value!);
        deepEqual(await task(d), ["START_TIMER"]);
        deepEqual(
          (await d.query("where")).value,
          { waypoint: expected, fights: [] },
          "the state is what queries see",
        );
      }
      d.server.suggestsContinueAsNew = true;
      d.server.signal("threat", 7);
      deepEqual(await task(d), ["CANCEL START_TIMER", "CONTINUE_AS_NEW"]);
      await d.finish();
      deepEqual(d.server.closed!.next!.args, [["gate", "well", "tower"], {
        waypoint: 0,
        fights: [7],
      }]);
      d = await following(d);
      await task(d);
      deepEqual(
        (await d.query("where")).value,
        { waypoint: 0, fights: [7] },
        "before the round has done anything",
      );
      d.server.signal("stand_down");
      await task(d);
      equal(await d.finish(), "gate");
    },
  },
  {
    name: "carry: arguments that were left out stay left out over runs",
    async run() {
      const d = await drive(walk, { args: [["gate", "well"], 1] });
      await task(d);
      d.server.suggestsContinueAsNew = true;
      d.server.fireTimer("1");
      await task(d);
      const next = await following(d);
      deepEqual(d.server.closed!.next!.args, [["gate", "well"], 1, { waypoint: 0, fights: [] }]);
      await task(next);
      deepEqual((await next.query("where")).value, { waypoint: 0, fights: [] });
      next.server.suggestsContinueAsNew = true;
      next.server.signal("threat", 1);
      await task(next);
      deepEqual(next.server.closed!.next!.args, [["gate", "well"], 1, {
        waypoint: 0,
        fights: [1],
      }]);
      await next.finish();
    },
  },
  {
    name: "carry: unreceived signals come first, in order, in each following run",
    async run() {
      let d = await drive(walk, { args: [["gate", "well"]] });
      await task(d);
      d.server.suggestsContinueAsNew = true;
      d.server.signal("unheard", "a");
      d.server.signal("threat", 1);
      d.server.signal("threat", 2);
      d.server.signal("threat", 3);
      await task(d);
      await d.finish();
      d = await following(d);
      await task(d);
      deepEqual(
        (await d.query("where")).value,
        { waypoint: 0, fights: [1, 2, 3] },
        "those that came with the task of the loop's head",
      );
      d.server.suggestsContinueAsNew = true;
      d.server.fireTimer(d.server.timers.keys().next().value!);
      await task(d);
      await d.finish();
      equal(
        "temporalex-buffered-signals" in d.server.closed!.next!.headers,
        true,
        "what nothing took is still there",
      );
    },
  },
  {
    name:
      "carry: more signals than a run can be handed keep the run going instead of failing its task",
    async run() {
      const d = await drive(walk, { args: [["gate", "well"]] });
      await task(d);
      d.server.suggestsContinueAsNew = true;
      for (let i = 0; i < 20; i++) d.server.signal("unheard", "x".repeat(10_000));
      d.server.signal("threat", 1);
      deepEqual(await task(d), ["CANCEL START_TIMER", "START_TIMER"]);
      equal(d.server.closed, undefined);
      await d.checkReplay();
    },
  },
  {
    name: "carry: handlers and accepted updates complete before a run continues as new",
    async run() {
      let d = await drive(open);
      await task(d);
      d.server.suggestsContinueAsNew = true;
      d.server.signal("threat", 1);
      const renamed = d.server.update("u1", "rename", "second");
      d.server.signal("stand_down");
      await task(d);
      equal(d.server.closed, undefined, "a handler runs");
      equal(renamed.stage, "accepted");
      d.server.completeActivity("1", 1);
      await task(d);
      deepEqual([renamed.result, d.server.closed?.next?.args], ["was first", ["second"]]);
      await d.finish();
      d = await following(d);
      await task(d);
      const last = d.server.update("u2", "rename", "last");
      await task(d);
      d.server.signal("stand_down");
      await task(d);
      deepEqual([last.result, await d.finish()], ["was second", "last"]);
    },
  },
  {
    name: "carry: pending calls of a round are canceled at its end, with and without a new run",
    async run() {
      const d = await drive(careless);
      deepEqual(await task(d), ["SCHEDULE_ACTIVITY", "START_TIMER", "START_TIMER"]);
      d.server.fireTimer("2");
      deepEqual((await task(d)).slice(0, 2), ["CANCEL SCHEDULE_ACTIVITY", "CANCEL START_TIMER"]);
      equal(d.server.closed, undefined);
      d.server.suggestsContinueAsNew = true;
      d.server.fireTimer([...d.server.timers.keys()].at(-1)!);
      await task(d);
      deepEqual(d.server.closed?.next?.args, [2]);
      await d.finish();
    },
  },
  {
    name:
      "carry: a child that would end with its parent delays the next run, an abandoned one does not",
    async run() {
      for (const parentClosePolicy of ["TERMINATE", "ABANDON"] as const) {
        const d = await drive(workflow("Parent", {
          carry: () => 0,
          async round(n: number) {
            if (n === 0) await startChild("Child", { id: "child", args: [], parentClosePolicy });
            else await sleep("1s");
            return carry(n + 1);
          },
        }));
        await task(d);
        d.server.suggestsContinueAsNew = true;
        d.server.others.start("child");
        await task(d);
        equal(
          d.server.closed?.kind,
          parentClosePolicy === "ABANDON" ? "continued" : undefined,
          parentClosePolicy,
        );
        await d.checkReplay();
      }
    },
  },
  {
    name: "carry: each round gets a copy, so values that cannot be carried fail in the first round",
    async run() {
      const seen: unknown[] = [];
      const shared = { n: 0, gone: undefined };
      const copies = workflow("Copies", {
        carry: () => ({ one: shared, two: shared }),
        async round(state) {
          seen.push(state.one === state.two, "gone" in state.one, ++state.one.n);
          await sleep("1s");
          return state.one.n < 2 ? carry(state) : state.one.n;
        },
      });
      equal(await (await drive(copies, { cached: true })).auto(), 2);
      deepEqual(seen.slice(0, 6), [false, false, 1, false, false, 2]);
      match(
        await failureOf(
          workflow("Lossy", {
            carry: () => ({ at: () => 1 }),
            round: async () => carry({ at: () => 2 }),
          }),
        ),
        /the carried state cannot be encoded: value\.at is a function/,
      );
      match(
        await failureOf(
          workflow("Big", { carry: () => ({ at: 1n }), round: async () => carry({ at: 2n }) }),
        ),
        /the carried state cannot be encoded: value\.at is a bigint/,
      );
    },
  },
  {
    name: "carry: canceled code of a round cannot change the returned value, in one run and in two",
    async run() {
      const busy = workflow("Busy", {
        carry: () => ({ rounds: 0, notes: [] as string[] }),
        async round({ rounds, notes }) {
          if (rounds === 1) return notes;
          // It waits in a separate scope, which the end of the round cancels, and chains to the
          // carried promise.
          void parallel([async () => {
            await sleep("1 hour").catch(() => notes.push("after the end"));
          }]).catch(() => {});
          await sleep("1s");
          return carry({ rounds: rounds + 1, notes });
        },
      });
      for (const suggested of [false, true]) {
        const d = await drive(busy);
        await task(d);
        d.server.suggestsContinueAsNew = suggested;
        d.server.fireTimer([...d.server.timers.keys()][0]!);
        await task(d);
        let last = d;
        if (suggested) await task(last = await following(d));
        deepEqual(await last.finish(), []);
      }
    },
  },
  {
    name:
      "carry: a canceled loop stays canceled, whether code noticed it or not, in one run and in two",
    async run() {
      const stubborn = workflow("Stubborn", {
        carry: (_asks: boolean) => [] as unknown[],
        async round(seen, asks) {
          if (seen.length > 0) {
            return [
              ...seen,
              cancelled(),
              await sleep("1s").catch((error: Error) => error.message),
            ];
          }
          await shield(() => sleep("1s"));
          return carry([asks ? cancelled() : "did not ask"]);
        },
      });
      for (const asks of [false, true]) {
        for (const suggested of [false, true]) {
          const d = await drive(stubborn, { args: [asks] });
          await task(d);
          d.server.requestCancel("enough");
          await task(d);
          d.server.suggestsContinueAsNew = suggested;
          d.server.fireTimer([...d.server.timers.keys()][0]!);
          await task(d);
          let last = d;
          if (suggested) await task(last = await following(d));
          deepEqual(await last.finish(), [
            asks ? true : "did not ask",
            true,
            "Workflow cancelled: enough",
          ]);
        }
      }
    },
  },
  {
    name: "carry: invalid calls have specific errors",
    async run() {
      match(
        await failureOf(workflow("NoRounds", async () => carry(1))),
        /workflow "NoRounds" returned carry\(\.\.\.\), but has no rounds/,
      );
      const forgets = workflow("Forgets", {
        carry: () => 0,
        async round(n: number) {
          carry(n + 1);
          return "done";
        },
      });
      match(
        await failureOf(forgets),
        /called carry or continueAsNew.* the `return` is missing: write `return carry\(\.\.\.\)`/,
      );
      const nested = workflow("Nested", {
        carry: () => 0,
        round: async (n: number) => {
          await receive(n, [on(told.standDown, () => carry(1) as never)]);
        },
      });
      match(
        await failureOf(nested, (d) => d.server.signal("stand_down")),
        /carry cannot be used in a message handler/,
      );
      throws(
        () =>
          workflow("Both", { carry: () => 0, round: async () => 1, run: async () => 1 } as never),
        /has both run and round/,
      );
      throws(() => workflow("Half", { carry: () => 0 } as never), /needs two functions: carry/);
    },
  },
  {
    name: "carry: continueAsNew from a round starts over, without the state",
    async run() {
      const d = await drive(
        workflow("Over", {
          carry: (from: number) => from,
          round: async (n: number) => {
            await sleep("1s");
            return n < 2 ? carry(n + 1) : continueAsNew(9);
          },
        }),
        { args: [1] },
      );
      await task(d);
      d.server.fireTimer("1");
      await task(d);
      d.server.fireTimer("2");
      await task(d);
      await d.finish();
      const { args, headers } = d.server.closed!.next!;
      deepEqual([args, Object.keys(headers)], [[9], []]);
    },
  },
];
