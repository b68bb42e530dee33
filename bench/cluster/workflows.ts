// The workflows of the cluster bench in this package's model; official_workflows.mjs has the same
// ones in the model of Temporal's SDK. Loaded by worker realms.
import {
  activities,
  noreply,
  on,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  waitForSignal,
  workflow,
} from "temporalex/workflow";

const words = activities<{ echo(value: string): string }>({ startToClose: "1 minute" });
const numbers = activities<{ echo(value: number): number }>({ startToClose: "1 minute" });

/** One activity. */
export const hello = workflow("hello", async (name: string) => `hello, ${await words.echo(name)}`);

/** n activities, one after the other. */
export const steps = workflow("steps", async (n: number) => {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += await numbers.echo(i);
  return sum;
});

const go = signal("go");

/** A timer, then a signal. */
export const timerAndSignal = workflow("timerAndSignal", async () => {
  await sleep(10);
  await waitForSignal(go);
});

const bump = signal<[value: number]>("bump");
const add = update<[value: number], number>("add");
const finish = signal("finish");

/** Receives until the signal to finish. */
export const listener = workflow("listener", async () => {
  return await receive(0, [
    on(bump, ([value], total) => noreply(total + value)),
    on(add, ([value], total) => reply(total + value, total + value)),
    on(finish, (_, total) => stop(total)),
  ]);
});

/** Nothing but an end: one workflow task. */
export const nothing = workflow("nothing", async () => 1);
