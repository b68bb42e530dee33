// Workflows for the tests of worker realms.
import {
  activities,
  log,
  now,
  on,
  query,
  random,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  uuid4,
  workflow,
} from "temporalex/workflow";

const acts = activities<{ double(n: number): Promise<number> }>({ startToClose: "1m" });

export const timers = workflow("Timers", async (count: number) => {
  for (let i = 0; i < count; i++) await sleep(1000);
  return `${count} timers`;
});

export const seeded = workflow("Seeded", async () => {
  const first = [
    Math.random(),
    Date.now(),
    crypto.randomUUID(),
    performance.now(),
    new Date().toISOString(),
  ];
  await sleep("1s");
  return [...first, random(), now(), uuid4(), Math.random(), Date.now()];
});

export const doubled = workflow("Doubled", async (n: number) => {
  log.info("doubling", { n });
  console.log("console", { n });
  return await acts.double(n);
});

export const add = update<[number], number>("add");
export const done = signal("done");
export const total = query<number>("total");
export const adder = workflow("Adder", {
  queries: { total: () => 7 },
  async run() {
    return await receive({ sum: 0 }, [
      on(add, ([n], s) => reply(s.sum + n, { sum: s.sum + n })),
      on(done, (_, s) => stop(s)),
    ]);
  },
});
