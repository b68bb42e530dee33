// Workflows that are loaded into a realm in a thread, for realms.test.ts.
import {
  activities,
  localActivities,
  log,
  now,
  query,
  signal,
  sleep,
  waitForSignal,
  workflow,
} from "../../../../ts/workflow/mod.ts";

export const go = signal<[word: string]>("go");
export const length = query<number>("length");
const acts = activities<{ shout(word: string): Promise<string> }>({ startToClose: "10s" });

export const talks = workflow("Talks", {
  queries: { length: () => 7 },
  async run(name: string) {
    log.info("hello", { name });
    const word = await waitForSignal(go);
    await sleep(5);
    return await acts.shout(`${name} says ${word}`);
  },
});

export const spins = workflow("Spins", async () => {
  for (let i = 0; i < 1.5e10; i++);
});

export const sleeps = workflow("Sleeps", async () => {
  const begin = now();
  await sleep("7 days");
  return now() - begin;
});

const near = localActivities<{ shout(word: string): Promise<string> }>({ startToClose: "10s" });

export const talksNear = workflow(
  "TalksNear",
  async (word: string) => `${await near.shout(word)}!`,
);

export const talksOn = workflow("TalksOn", async () => {
  for (;;) await near.shout("on");
});
