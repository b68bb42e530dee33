// The power-loss half of P1: the store on a disk that forgets, reorders and tears what was not
// synced. The long loop is tools/soak/power_loss.
// promise: P1
// takes: 7 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { test } from "node:test";
import { seeded } from "../../faults/chaos/proxy.ts";
import { PowerLossLoop, type PowerLossOptions } from "../../faults/power/loop.ts";
import { PowerSqlite } from "../../faults/power/sqlite.ts";

const run = async (options: Omit<PowerLossOptions, "random">, seed: number) =>
  new PowerLossLoop(await PowerSqlite.load(), { ...options, random: seeded(seed) }).run();

test("FULL: a power loss does not lose an acknowledged call", async () => {
  const { problems, ...figures } = await run({ crashes: 60, synchronous: "FULL" }, 1);
  assert.deepEqual(problems, []);
  assert.equal(figures.lost, 0);
  // It was asked for something: there were failures of each kind, and commits in between.
  assert.ok(
    figures.acknowledged > 300 && figures.atOpening > 3 && figures.processDeaths > 5,
    JSON.stringify(figures),
  );
});

test("NORMAL: the death of the process loses no call, and a power loss leaves a sound store without the last commits", async () => {
  const { problems, ...figures } = await run({ crashes: 60, synchronous: "NORMAL" }, 2);
  assert.deepEqual(problems, []);
  assert.ok(
    figures.acknowledged > 300 && figures.losing > 3 && figures.processDeaths > 5,
    JSON.stringify(figures),
  );
});

test("a store opened with NORMAL does not report FULL", async () => {
  const { problems } = await run({ crashes: 60, synchronous: "FULL", opensWith: "NORMAL" }, 1);
  assert.match(problems.join("\n"), /a power loss where .*: \d+ acknowledged commits are lost/);
});
