// Interceptors and random streams of a program of `@temporalio/workflow`, recorded by the official
// worker: replayed here, the run comes to the same result, in which stand the calls of its
// interceptors in their order and the numbers of its streams.
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client } from "../../../ts/client/mod.ts";
import {
  CommandKind,
  CompleteWorkflow,
} from "../../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { jsonPayloadConverter } from "../../../ts/converter/payload.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { createWorkerRealm } from "../../../ts/realm/mod.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, official, root } from "./support/official.ts";

const skip = noOfficial !== false ? noOfficial : noServer;
const workflows = join(root, "tests/system/interop/compat/intercepted.ts");
const interceptors = join(root, "tests/system/interop/compat/interceptors.ts");

interface Result {
  readonly got: string[];
  readonly calls: string[];
  readonly numbers: unknown[];
}
let server: DevServer, service: GrpcService, client: Client;

before(async () => {
  if (skip !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, logger: silentLogger });
});

after(async () => {
  service?.close();
  await server?.stop();
});

/** One run on the official worker. */
async function recorded(): Promise<{ result: Result; history: Uint8Array }> {
  const { NativeConnection, Runtime, DefaultLogger, Worker } = official("@temporalio/worker");
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
  const connection = await NativeConnection.connect({ address: server.address });
  const worker = await Worker.create({
    ...{ connection, taskQueue: "intercepted", workflowsPath: workflows },
    activities: { work: (who: string) => who },
    interceptors: { workflowModules: [interceptors] },
  });
  const handle = await client.start("w", {
    id: "intercepted",
    taskQueue: "intercepted",
    args: ["ada"],
  });
  await worker.runUntil(async () => {
    await handle.signal("poke", "hello");
    await handle.update("ask", "x");
    await handle.result();
  });
  await connection.close();
  return { result: await handle.result() as Result, history: await handle.historyBytes() };
}

test(
  "a run with interceptors makes the same calls with the same numbers as in the official worker",
  { skip },
  async () => {
    const { result, history } = await recorded();
    assert.equal(result.calls.filter((call) => call === "execute").length, 1);
    for (const scopes of ["asyncLocalStorage", "rewritten"] as const) {
      const realm = await createWorkerRealm({ workflows, interceptors, cacheSize: 0, scopes });
      try {
        const { verdict, error, recorded: activations } = await realm.replay(
          "intercepted",
          history,
          { record: true },
        );
        assert.equal(verdict, "ok", error?.message);
        const end = activations!.flatMap(({ commands }) => commands).find(({ kind }) =>
          kind === CommandKind.COMMAND_KIND_COMPLETE_WORKFLOW
        )!;
        const ours = jsonPayloadConverter.fromPayload(
          CompleteWorkflow.decode(end.attributes).result!,
        ) as Result;
        // What is in history was valid: no validator is called on replay.
        assert.deepEqual(ours, {
          ...result,
          calls: result.calls.filter((call) => call !== "validate"),
        }, scopes);
      } finally {
        await realm.dispose();
      }
    }
  },
);
