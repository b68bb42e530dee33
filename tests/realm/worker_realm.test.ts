// Worker realms: tasks, sticky cache, messages, replays, logs, startup errors, disposal.
import test from "node:test";
import assert from "node:assert/strict";
import { harness, workflows } from "./realm_support.ts";

test("smoke", async () => {
  const h = await harness({ workflows: workflows("basic") });
  try {
    const run = h.start("Timers", { args: [2] });
    console.log((await run.task()).response?.$case, run.failure);
    for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
    console.log((await run.task()).response?.$case, run.failure);
    for (const id of [...run.server.timers.keys()]) run.server.fireTimer(id);
    console.log((await run.task()).response?.$case, run.failure, run.server.closed);
    const s = h.start("Seeded");
    await s.task();
    console.log(s.failure);
    for (const id of [...s.server.timers.keys()]) s.server.fireTimer(id);
    await s.task();
    console.log(s.failure, s.server.closed);
    console.log(await h.realm.replay("wf", s.server.history()));
  } finally {
    await h.realm.dispose();
  }
});
