// Waits that can never end, and calls of the API outside a turn
// (docs/dev/semantics/execution.md).
import {
  activities,
  now,
  on,
  parallel,
  receive,
  sideEffect,
  signal,
  sleep,
  stop,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { hop } from "../../ts/platform/hop.ts";
import { equal, match } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const acts = activities<{ work(x: number): number }>();
const go = signal<[number]>("go");
const end = signal("end");

export const cases: Case[] = [
  {
    name: "a foreign await deadlocks: the task fails at once and names the last call of each fiber",
    async run() {
      const w = workflow("W", async () => {
        await sleep(1);
        await new Promise(() => {}); // as good as a fetch: nothing of the workflow can wake it
        return await acts.work(1);
      });
      const d = await drive(w);
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      const { message } = d.server.taskFailure!.failure;
      match(message, /^DEADLOCK: the workflow waits for something that can never wake it/);
      match(message, /run of workflow "W" \(its last call: sleep at .*:\d+:\d+/);
    },
  },
  {
    name: "a branch that cannot resume deadlocks the run that awaits it, and both are named",
    async run() {
      const w = workflow(
        "W",
        () => parallel([() => new Promise(() => {}), () => Promise.resolve(1)]),
      );
      const d = await drive(w);
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /Waiting: run of workflow "W" \(its last call: parallel at .*\); branch 1 of parallel in run .* \(it has called no primitive yet\)$/,
      );
    },
  },
  {
    name: "a deadlock does not name ended fibers, including fibers that ended with their branch",
    async run() {
      const w = workflow("W", async () => {
        await parallel([async () => {
          void parallel([() => sleep(60_000)]);
          await waitForSignal(go);
        }]);
        await new Promise(() => {});
      });
      const d = await drive(w);
      await d.task();
      d.server.signal("go", 1);
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /Waiting: run of workflow "W" \(its last call: parallel at [^;]*\)$/,
      );
    },
  },
  {
    name: "a foreign await in a handler, before any primitive, is a deadlock too",
    async run() {
      const w = workflow(
        "W",
        () => receive(0, [on(go, async (_, s) => (await new Promise(() => {}), stop(s)))]),
      );
      const d = await drive(w);
      await d.task();
      equal(d.server.taskFailure, undefined, "an idle receive is not a deadlock");
      d.server.signal("go", 1);
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /handler of signal "go" \(it has called no primitive yet\)/,
      );
    },
  },
  {
    name: "a fiber that waits for another fiber's promise is not a deadlock",
    async run() {
      const w = workflow("W", async () => {
        let open!: () => void;
        const latch = new Promise<void>((resolve) => (open = resolve));
        await parallel([() => latch, async () => {
          await sleep(1);
          open();
        }]);
        return "done";
      });
      const d = await drive(w);
      equal(await d.auto(), "done");
    },
  },
  {
    name: "a primitive called when no turn is active fails, and the task fails and names the line",
    async run() {
      let wake!: () => void;
      const w = workflow("W", async () => {
        const host = new Promise<void>((resolve) => (wake = resolve));
        await Promise.race([host.then(() => sleep(1)), waitForSignal(end)]);
        return "not reached by the signal";
      });
      const d = await drive(w);
      await d.task();
      wake(); // a host callback, between two tasks
      await hop();
      d.server.signal("end");
      await d.task();
      const { message } = d.server.taskFailure!.failure;
      match(message, /sleep was called at .*:\d+:\d+.* outside of a workflow turn/);
    },
  },
  {
    name: "a primitive called by host code throws and does not affect a run",
    async run() {
      let error: unknown;
      try {
        now();
      } catch (e) {
        error = e;
      }
      match(
        (error as Error).message,
        /^now was called at .*outside of a workflow turn: either this is not workflow code/,
      );
      equal((error as Error).name, "OutsideTurnError");
    },
  },
  ...[1, 2, 10].map((depth): Case => ({
    name:
      `microtasks that the function of sideEffect leaves, ${depth} deep, do not affect the turn`,
    async run() {
      const w = workflow("W", async () => {
        const own = sideEffect(() => {
          let left = Promise.resolve();
          for (let i = 0; i < depth; i++) left = left.then(() => {});
          left.then(() => void acts.work(1)).catch(() => {});
          return 7;
        });
        await sleep(1);
        return own;
      });
      const d = await drive(w);
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /^work was called in the function of sideEffect|activity "?work"?.* in the function of sideEffect/,
      );
    },
  })),
  {
    name: "the turn that called sideEffect may use the API again at once, also in microtasks",
    async run() {
      // What the function leaves is followed for 64 microtasks.
      for (const awaits of [1, 40, 100]) {
        const w = workflow("W", async () => {
          const before = Promise.resolve();
          const own = sideEffect(() => 7);
          await before;
          for (let i = 0; i < awaits; i++) await null;
          await sleep(1);
          return own;
        });
        const d = await drive(w);
        equal(await d.auto(), 7, `after ${awaits} awaits`);
      }
    },
  },
  {
    name: "a deadlock that a second check cannot repeat is reported as found first",
    async run() {
      let looks = 0;
      const w = workflow("W", async () => {
        if (looks++ === 0) await new Promise(() => {});
        await sleep(1);
      });
      const d = await drive(w);
      const outcome = await d.task();
      equal(outcome.response?.$case, "failed");
      equal(looks, 2);
      match(d.server.taskFailure!.failure.message, /^DEADLOCK/);
    },
  },
  {
    name:
      "a divergence names the line of the command that differs, not of another of the same task",
    async run() {
      let changed = false;
      const first = () => sleep(1);
      const second = () => acts.work(2);
      const third = () => sleep(3);
      const w = workflow("W", async () => {
        await Promise.all([first(), ...(changed ? [second()] : []), third()]);
      });
      const d = await drive(w);
      await d.task();
      d.server.fireTimer("1");
      d.server.fireTimer("2");
      await d.task();
      changed = true;
      const { verdict, error } = await d.replay();
      equal(verdict, "nondeterminism");
      match(error!.location, /^second /);
    },
  },
  {
    name: "the first of several misuses in one turn fails the task, whatever workflow code catches",
    async run() {
      const w = workflow("W", async () => {
        sideEffect(() => {
          for (const use of [() => sleep(1), () => acts.work(1)]) {
            try {
              void use();
            } catch {
              // The task fails nevertheless.
            }
          }
          return 1;
        });
        return "done";
      });
      const d = await drive(w);
      await d.task();
      match(
        d.server.taskFailure!.failure.message,
        /^sleep was called in the function of sideEffect/,
      );
    },
  },
  {
    name:
      "code that runs between turns, while the result is encoded, has no fiber to use the API with",
    async run() {
      const w = workflow("W", async () => {
        await sleep(1);
        return { toJSON: () => (void sleep(1), "encoded") };
      });
      const d = await drive(w);
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      match(d.server.taskFailure!.failure.message, /sleep was called/);
    },
  },
];
