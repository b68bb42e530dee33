// runtime: node (compares servers and programs; other files cover the runtime)
// takes: 60 s
// One script of a program's calls, run with `@temporalio/client` and with this package, against a
// Temporal dev server and `temporalex dev`: the results are equal.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import * as client from "../../../ts/compat/client/mod.ts";
import * as common from "../../../ts/compat/common/lib.ts";
import { activityInfo, CompleteAsyncError } from "../../../ts/activity/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { clientScript, type Packages, scheduleScript } from "./support/client_script.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, official, root } from "./support/official.ts";
import { OurServer } from "./support/our_server.ts";

const OURS: Packages = { client, common };
const THEIRS: Packages | undefined = noOfficial === false
  ? { client: official("@temporalio/client"), common: official("@temporalio/common") }
  : undefined;
const NONE = { client: { Client: class {} }, common: {} } as Packages;

interface Server {
  readonly address: string;
  stop(): Promise<unknown>;
}

function suite(
  name: string,
  startServer: () => Promise<Server>,
  schedules: boolean,
  skipped: string | false,
) {
  describe(name, { skip: skipped }, () => {
    let server: Server, service: GrpcService, worker: Worker, running: Promise<void>;
    const connections: { close(): Promise<void> }[] = [];
    const tokens = new Map<string, Uint8Array>();
    const tokenOf = async (workflowId: string): Promise<Uint8Array> => {
      for (;;) {
        const token = tokens.get(workflowId);
        if (token !== undefined) return token;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };

    before(async () => {
      server = await startServer();
      service = new GrpcService({ address: server.address });
      worker = await Worker.create({
        service,
        taskQueue: "scripts",
        workflows: join(root, "tests/system/interop/flows/client_flows.ts"),
        logger: silentLogger,
        activities: {
          later: () => {
            const { workflowId, taskToken } = activityInfo();
            tokens.set(workflowId!, taskToken);
            throw new CompleteAsyncError();
          },
        },
      });
      running = worker.run();
    });

    after(async () => {
      for (const connection of connections) await connection.close();
      worker?.shutdown();
      await running;
      service?.close();
      await server?.stop();
    });

    const scriptOf = async (packages: Packages, prefix: string) => {
      const connection = await packages.client.Connection.connect({ address: server.address });
      connections.push(connection);
      const options = { taskQueue: "scripts", prefix, tokenOf };
      return {
        ...clientScript(packages, connection, options),
        ...(schedules && scheduleScript(packages, connection, options)),
      };
    };
    let ours: ReturnType<typeof scriptOf> | undefined,
      theirs: ReturnType<typeof scriptOf> | undefined;
    const names = [
      ...Object.keys(clientScript(NONE, undefined, { taskQueue: "", prefix: "", tokenOf })),
      ...schedules
        ? Object.keys(scheduleScript(NONE, undefined, { taskQueue: "", prefix: "" }))
        : [],
    ];
    for (const step of names) {
      test(step, async () => {
        ours ??= scriptOf(OURS, "ours");
        theirs ??= scriptOf(THEIRS!, "thrs");
        const [mine, official] = await Promise.all([
          (await ours)[step]!(),
          (await theirs)[step]!(),
        ]);
        const plain = (value: unknown) =>
          JSON.parse(JSON.stringify(value ?? null).replaceAll("thrs-", "ours-"));
        assert.deepEqual(plain(mine), plain(official));
      });
    }
  });
}

suite(
  "@temporalio/client and ours, on a Temporal dev server",
  () => DevServer.start(),
  true,
  noServer || noOfficial,
);
suite("@temporalio/client and ours, on temporalex dev", () => OurServer.start(), true, noOfficial);
