// `import()` with a literal specifier in programs of `@temporalio/workflow`: on the official worker
// it works where the module is in the bundle by another import. The same workflows on both workers:
// commands in the same order, the same values, and each replays the other's history.
// takes: 15 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client } from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { bundleWorkflows, createWorkerRealm } from "../../../ts/realm/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, officialVerdicts, quietWorkerPackage, root } from "./support/official.ts";

const skip = noOfficial !== false ? noOfficial : noServer;
const workflows = join(root, "tests/system/interop/compat/lazy.ts");
const TYPES = ["ticks", "values"];
const activities = { work: (what: string) => what };

interface Ran {
  readonly result: unknown;
  /** Arguments of the activities, in the order in which they were scheduled. */
  readonly scheduled: unknown[];
  readonly history: Uint8Array;
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

async function all(taskQueue: string): Promise<Ran[]> {
  const ran: Ran[] = [];
  for (const type of TYPES) {
    const handle = await client.start(type, { id: `${type}-${taskQueue}`, taskQueue });
    const result = await handle.result();
    const { events } = JSON.parse(await handle.historyJson()) as {
      events: {
        activityTaskScheduledEventAttributes?: { input: { payloads: { data: string }[] } };
      }[];
    };
    const scheduled = events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled === undefined
        ? []
        : [JSON.parse(Buffer.from(scheduled.input.payloads[0]!.data, "base64").toString())]
    );
    ran.push({ result, scheduled, history: await handle.historyBytes() });
  }
  return ran;
}

test(
  "import() takes as many ticks as with the official worker and returns the same",
  { skip },
  async () => {
    const sdk = quietWorkerPackage();
    const connection = await sdk.NativeConnection.connect({ address: server.address });
    const workflowBundle = await sdk.bundleWorkflowCode({
      workflowsPath: workflows,
      logger: new sdk.DefaultLogger("ERROR"),
    });
    const their = await sdk.Worker.create({
      connection,
      taskQueue: "theirs",
      workflowBundle,
      activities,
    });
    const theirs: Ran[] = await their.runUntil(() => all("theirs"));
    await connection.close();
    const our = await Worker.create({
      service,
      taskQueue: "ours",
      workflows,
      activities,
      logger: silentLogger,
    });
    const ours = await our.runUntil(() => all("ours"));
    const { code } = await bundleWorkflows({ workflows });
    const bundle = { workflows: "lazy.bundle.js", sources: { "lazy.bundle.js": code } };
    for (const [i, type] of TYPES.entries()) {
      assert.deepEqual(ours[i]!.result, theirs[i]!.result, type);
      assert.deepEqual(ours[i]!.scheduled, theirs[i]!.scheduled, type);
    }
    assert.deepEqual(
      await officialVerdicts(
        workflowBundle,
        TYPES.map((type, i) => [`${type}-ours`, ours[i]!.history]),
      ),
      TYPES.map(() => "ok"),
    );
    assert.ok(ours[0]!.scheduled.length > 10);
    for (const options of [{ workflows }, bundle]) {
      for (const scopes of ["asyncLocalStorage", "rewritten"] as const) {
        const realm = await createWorkerRealm({ ...options, cacheSize: 0, scopes });
        for (const [i, type] of TYPES.entries()) {
          const { verdict, error } = await realm.replay(`${type}-theirs`, theirs[i]!.history);
          assert.equal(verdict, "ok", `${type}, ${scopes}: ${error?.message}`);
        }
        await realm.dispose();
      }
    }
  },
);
