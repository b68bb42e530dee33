// Idempotency keys of local activities over kills of workers of a Temporal server
// (tests/faults/crash/local_keys_loop.ts).
// takes: 30 s
// runtime: node
import assert from "node:assert/strict";
import { test } from "node:test";
import { localKeysLoop } from "../../faults/crash/local_keys_loop.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

test(
  "local activity keys are unique across the workers of a cluster",
  { skip: noServer },
  async () => {
    const server = await DevServer.start();
    try {
      const figures = await localKeysLoop({ place: server.address, kills: 2 });
      assert.deepEqual(figures.problems, []);
      assert.ok(figures.repeated > 0, JSON.stringify(figures));
    } finally {
      await server.stop();
    }
  },
);
