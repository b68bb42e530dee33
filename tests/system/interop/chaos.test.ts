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

/** Each has five activities at least. `tools/soak/chaos` runs as many as one likes. */
const WORKFLOWS = 80;

const mishapsIn = (counts: ChaosFigures["mishaps"]) =>
  Object.values(counts).reduce((sum, times) => sum + times, 0);

test(
  "workflows over a faulty network end like over a reliable one",
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
        workflows: WORKFLOWS,
        ms: Number(process.env["CHAOS_MS"] ?? 12_000),
        // An unattended machine may be slow.
        patienceMs: 240_000,
        isEnough: ({ mishaps, connections }) => mishapsIn(mishaps) >= 5 && connections > 3,
        seed,
      });
      const said = JSON.stringify({ seed, lives, mishaps, ...figures });
      assert.deepEqual(problems, [], said);
      const { executions, acknowledged } = figures;
      assert.ok(
        lives >= WORKFLOWS && executions >= 5 * WORKFLOWS && acknowledged > 2.5 * WORKFLOWS,
        said,
      );
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
