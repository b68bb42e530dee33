// Histories of a real server come into a store, also those of runs that were reset, and the store
// is sound.
// takes: 30 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { imported } from "../../unit/engine/support/sound.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { serverRuns } from "./support/reset_runs.ts";

test(
  "random runs of a server, many of them reset, are imported with their ids and without damage reports",
  {
    skip: noServer,
  },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-interop-"));
    const server = await DevServer.start();
    const service = new GrpcService({ address: server.address });
    try {
      const { writes, resets, alarms } = await serverRuns(service, 40, 1);
      assert.deepEqual(alarms, []);
      assert.ok(resets >= 40, `${resets} resets`);
      assert.deepEqual(await imported(join(folder, "server.sqlite"), writes), []);
    } finally {
      service.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
