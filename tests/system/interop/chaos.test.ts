// Workflows over a network that cuts, delays, half-opens and resets (P2, P4): all end, nothing is
// lost or recorded twice, histories replay. `tools/soak/chaos` does the same for as long as one
// likes.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { type ChaosFigures, chaosLoop, databaseFolder } from "../../faults/chaos/loop.ts";
import { testSeed } from "../../support/seed.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

const mishapsIn = (counts: ChaosFigures["mishaps"]) =>
  Object.values(counts).reduce((sum, times) => sum + times, 0);

test(
  "200 workflows over a faulty network end like over a reliable one",
  { skip: noServer },
  async () => {
    const folder = databaseFolder();
    const file = join(folder, "server.sqlite");
    let server = await DevServer.start([], { file });
    try {
      const seed = testSeed();
      const { problems, mishaps, lives, ...figures } = await chaosLoop({
        address: server.address,
        heal: async () => {
          await server.kill();
          server = await DevServer.start([], { file, address: server.address });
        },
        workflows: 200,
        ms: Number(process.env["CHAOS_MS"] ?? 12_000),
        // An unattended machine may be slow.
        patienceMs: 240_000,
        isEnough: ({ mishaps, connections }) => mishapsIn(mishaps) >= 5 && connections > 3,
        seed,
      });
      const said = JSON.stringify({ seed, lives, mishaps, ...figures });
      assert.deepEqual(problems, [], said);
      assert.ok(lives >= 200 && figures.executions >= 1000 && figures.acknowledged > 500, said);
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
