// One `webpackConfigHook` with webpack's own plugins, on the official worker and on ours: the
// workflow returns the same.
// takes: 15 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client } from "../../../ts/client/mod.ts";
import * as compat from "../../../ts/compat/worker/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import {
  HOOKED_PROJECT,
  HOOKED_RESULT,
  hookOf,
  type WebpackPlugins,
} from "../../suites/webpack_hooks.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, official, quietWorkerPackage, root } from "./support/official.ts";

const skip = noOfficial !== false ? noOfficial : noServer;

test(
  "a hook has the effect that it has on the official worker",
  { skip },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-webpack-"));
    t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
    for (const [path, text] of Object.entries(HOOKED_PROJECT)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    symlinkSync(
      join(root, "tests/system/interop/node_modules/@temporalio"),
      join(folder, "node_modules/@temporalio"),
    );
    const server = await DevServer.start();
    t.after(() => server.stop());
    const { address } = server;
    const service = new GrpcService({ address });
    t.after(() => service.close());
    const client = new Client({ service, logger: silentLogger });
    const webpackConfigHook = hookOf(
      folder,
      official("webpack") as WebpackPlugins,
    );
    const options = {
      workflowsPath: join(folder, "workflows.js"),
      bundlerOptions: { webpackConfigHook },
    };
    // deno-lint-ignore no-explicit-any
    const resultOn = async (sdk: any, taskQueue: string) => {
      const connection = await sdk.NativeConnection.connect({ address });
      const worker = await sdk.Worker.create({
        connection,
        taskQueue,
        ...options,
      });
      const run = () => client.execute("hooked", { id: taskQueue, taskQueue });
      const result: unknown = await worker.runUntil(run);
      await connection.close();
      return result;
    };
    assert.deepEqual(
      await resultOn(quietWorkerPackage(), "theirs"),
      HOOKED_RESULT,
    );
    compat.Runtime.install({ logger: new compat.DefaultLogger("ERROR") });
    t.after(() => compat.Runtime.instance().shutdown());
    assert.deepEqual(await resultOn(compat, "ours"), HOOKED_RESULT);
  },
);
