// The plain path: a run with timers and activities, live and replayed.
import {
  activities,
  ApplicationFailure,
  noreply,
  on,
  receive,
  signal,
  sleep,
  stop,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

interface Acts {
  greet(name: string): string;
  fails(): void;
}
const acts = activities<Acts>({ startToClose: "5s" });

const hello = workflow("Hello", async (name: string) => {
  await sleep("1s");
  return await acts.greet(name);
});

const addOne = signal<[number]>("add");
const done = signal("done");
const counter = workflow("Counter", async () => {
  return await receive(0, [
    on(addOne, ([n], sum) => noreply(sum + n)),
    on(done, (_, sum) => stop(sum)),
  ]);
});

/** The keys that code sees of a caught failure and of its cause. */
const keysOfFailure = workflow("KeysOfFailure", async () => {
  const failure = await acts.fails().then(() => undefined, (e: Error) => e);
  return [failure, failure!.cause].map((e) => Object.keys(e as object).includes("stack"));
});

const failing = workflow("Failing", async () => {
  await sleep(1);
  throw new ApplicationFailure("no", { type: "No" });
});

export const cases: Case[] = [
  {
    name: "a timer, an activity, a result",
    async run() {
      const d = await drive(hello, { args: ["you"] });
      await d.task();
      deepEqual(d.commands(), ["START_TIMER 1"]);
      equal(await d.auto({ greet: (name: string) => `hello ${name}` }), "hello you");
      deepEqual(d.allCommands(), ["START_TIMER 1", "SCHEDULE_ACTIVITY 1", "COMPLETE_WORKFLOW"]);
    },
  },
  {
    name: "the stack of a caught failure is not among its keys, in every engine",
    async run() {
      const d = await drive(keysOfFailure);
      await d.task();
      d.server.failActivity("1", new ApplicationFailure("no", { nonRetryable: true }));
      await d.task();
      deepEqual(await d.finish(), [false, false]);
    },
  },
  {
    name: "a timer, an activity and a result without a cache",
    async run() {
      const d = await drive(hello, { args: ["you"], cached: false });
      equal(await d.auto({ greet: (name: string) => `hello ${name}` }), "hello you");
    },
  },
  {
    name: "signals into a receive",
    async run() {
      const d = await drive(counter);
      d.server.signal("add", 2);
      await d.task();
      d.server.signal("add", 3);
      d.server.signal("done");
      await d.task();
      equal(await d.finish(), 5);
      deepEqual(d.allCommands(), ["COMPLETE_WORKFLOW"]);
    },
  },
  {
    name: "an ApplicationFailure fails the workflow",
    async run() {
      const d = await drive(failing);
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      equal(d.server.closed?.kind, "failed");
      await d.checkReplay();
    },
  },
];
