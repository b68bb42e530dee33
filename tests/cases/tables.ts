// The model's determinism table and mapping table, row by row: what is the same on replay, and
// which commands each construct issues.
import {
  activities,
  continueAsNew,
  deprecatePatch,
  noreply,
  on,
  parallel,
  patched,
  publishState,
  receive,
  select,
  sideEffect,
  signal,
  sleep,
  spawnAsync,
  stop,
  timer,
  update,
  updateState,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const acts = activities<{ work(x: number): number }>();
const go = signal<[number]>("go");
const end = signal("end");

export const cases: Case[] = [
  {
    name: "determinism table: what is deterministic is the same on replay",
    async run() {
      // Activity results, timers, signal order, update order, sideEffect, updateState, order of
      // parallel: all in one run, replayed byte by byte.
      const ask = update<[number], number>("ask");
      let computed = 0;
      const w = workflow("W", async () => {
        const id = sideEffect(() => ++computed);
        const results = await parallel([() => acts.work(1), () => sleep(5), () => acts.work(2)]);
        const state = await receive([] as unknown[], [
          on(go, ([n], s) => noreply([...s, `signal ${n}`])),
          on(ask, ([n], s) =>
            spawnAsync(async () => {
              const x = await acts.work(n);
              return await updateState((now: unknown[]) => [x, [...now, `update ${n} ${x}`]]);
            }, s)),
          on(end, (_, s) => stop(s)),
        ]);
        return { id, results, state };
      });
      const d = await drive(w);
      await d.task();
      deepEqual(d.commands(), [
        "RECORD_SIDE_EFFECT",
        "SCHEDULE_ACTIVITY 1",
        "START_TIMER 1",
        "SCHEDULE_ACTIVITY 2",
      ]);
      d.server.completeActivity("2", 20);
      d.server.fireTimer("1");
      d.server.completeActivity("1", 10);
      const u1 = d.server.update("u1", "ask", 3);
      const u2 = d.server.update("u2", "ask", 4);
      d.server.signal("go", 1);
      await d.task();
      d.server.signal("go", 2);
      d.server.completeActivity("4", 44);
      d.server.completeActivity("3", 33);
      await d.task();
      d.server.signal("end");
      await d.task();
      deepEqual([u1.result, u2.result], [33, 44]);
      deepEqual(await d.finish(), {
        id: 1,
        results: [{ ok: true, value: 10 }, { ok: true }, { ok: true, value: 20 }],
        state: ["signal 1", "signal 2", "update 4 44", "update 3 33"],
      });
      equal(computed, 1, "the side effect ran once, and not on replay");
    },
  },
  {
    name:
      "determinism table: sideEffect keeps what is not deterministic (time, random, ids, environment)",
    async run() {
      const environment: { [name: string]: string } = { FOO: "bar" };
      const w = workflow("W", async () => {
        const values = [
          sideEffect(() => new Date()),
          sideEffect(() => Math.random()),
          sideEffect(() => crypto.getRandomValues(new Uint8Array(4)).join(".")),
          sideEffect(() => environment["FOO"]),
          sideEffect(() => undefined),
        ];
        await sleep(1);
        return values;
      });
      const d = await drive(w, { cached: false });
      await d.task();
      environment["FOO"] = "changed";
      d.server.fireTimer("1");
      await d.task();
      const values = await d.finish() as unknown[];
      ok(values[0] instanceof Date);
      equal(values[3], "bar");
      deepEqual(d.allCommands().filter((c) => c === "RECORD_SIDE_EFFECT").length, 5);
    },
  },
  {
    name: "mapping table: every construct issues its commands and no others",
    async run() {
      const ask = update<[], string>("ask");
      const w = workflow("W", async () => {
        publishState(1); // none
        await acts.work(1); // ScheduleActivity
        await sleep(5); // StartTimer
        await waitForSignal(go); // none
        sideEffect(() => 1); // marker
        patched("a"); // SetPatchMarker
        deprecatePatch("b"); // SetPatchMarker, deprecated
        await receive(0, [ // none
          on(go, (_, s) => spawnAsync(async () => void await acts.work(2), s)), // its commands only
          on(
            ask,
            (_, s) => spawnAsync(async () => (await updateState((n: number) => [0, n]), "x"), s),
          ), // accepted, completed
          on(end, (_, s) => stop(s)),
        ]);
        await parallel([() => acts.work(3), () => acts.work(4)]); // both in one activation
        await select([timer("late", 9, () => 1), on(() => acts.work(5), () => 2), on(go, () => 3)]); // those of its arms
        return continueAsNew(); // ContinueAsNew
      });
      const d = await drive(w);
      const commands: string[][] = [];
      const task = async () => {
        await d.task();
        equal(d.server.taskFailure, undefined, d.server.taskFailure?.failure.message);
        commands.push(d.commands());
      };
      await task();
      d.server.completeActivity("1");
      await task();
      d.server.fireTimer("1");
      d.server.signal("go", 1);
      await task();
      d.server.signal("go", 2);
      d.server.update("u", "ask");
      await task();
      d.server.completeActivity("2");
      d.server.signal("end");
      await task();
      d.server.completeActivity("3");
      d.server.completeActivity("4");
      await task();
      d.server.completeActivity("5");
      await task();
      deepEqual(commands, [
        ["SCHEDULE_ACTIVITY 1"],
        ["START_TIMER 1"],
        ["RECORD_SIDE_EFFECT", "SET_PATCH_MARKER", "SET_PATCH_MARKER"],
        ["SCHEDULE_ACTIVITY 2", "UPDATE_RESPONSE", "UPDATE_RESPONSE"],
        ["SCHEDULE_ACTIVITY 3", "SCHEDULE_ACTIVITY 4"],
        ["START_TIMER 2", "SCHEDULE_ACTIVITY 5"],
        ["CANCEL START_TIMER 2", "CONTINUE_AS_NEW"],
      ]);
      await d.finish();
    },
  },
];
