// runtime: node (rules of the server; other files cover the runtime)
// The account of examples/entity on a real Temporal dev server: starts that join, generations by
// the server's suggestion, repeated updates, versions of a deployment, and a state that is too
// large.
// takes: 20 s
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { accountOf, block, openAccount, saveProfile } from "../../../examples/entity/accounts.ts";
import * as activities from "../../../examples/entity/activities.ts";
import {
  changeEmail,
  deleteAccount,
  getState,
  notifyUser,
  reactivateNow,
  updateProfile,
  userAccount,
} from "../../../examples/entity/workflow.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import {
  Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateRejectedError,
} from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker, type WorkerOptions } from "../../../ts/worker/mod.ts";
import { Gates, health, stateOf } from "../../unit/app/entity_support.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";

let server: DevServer, service: GrpcService;
const workflows = [userAccount, notifyUser];

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start(["limit.historyCount.suggestContinueAsNew=60"]);
  service = new GrpcService({ address: server.address });
});

after(async () => {
  service?.close();
  await server?.stop();
});

async function working<T>(
  taskQueue: string,
  options: Partial<WorkerOptions>,
  body: (client: Client) => Promise<T>,
): Promise<T> {
  const worker = await Worker.create({
    service,
    taskQueue,
    workflows,
    activities,
    logger: silentLogger,
    ...options,
  });
  return await worker.runUntil(() =>
    body(new Client({ service, taskQueue, logger: silentLogger }))
  );
}

test(
  "an account on a server is started by a message, reused, continued as new, and deleted once",
  { skip: noServer },
  () =>
    working("accounts", {}, async (client) => {
      await block(client, "ada");
      await until("it is suspended", async () =>
        (await stateOf(client, "ada")).status === "SUSPENDED");
      const joined = await openAccount(client, "ada");
      await block(client, "ada");
      const first = await saveProfile(client, "ada", { name: "Ada" }, "the-id");
      assert.deepEqual(first, { status: "SUSPENDED", operation: 2 });
      for (let burst = 0; burst < 15; burst++) {
        await Promise.all([1, 2, 3, 4].map((n) =>
          joined.update(updateProfile, { name: `Ada ${burst} ${n}` })
        ));
      }
      assert.deepEqual(await saveProfile(client, "ada", { name: "Another name" }, "the-id"), first);
      assert.deepEqual(await joined.update(reactivateNow), { status: "ACTIVE", operation: 63 });
      const { generation } = await health(client, "ada");
      assert.ok(generation >= 5, `${generation} generations`);
      assert.match((await stateOf(client, "ada")).profile!.name, /^Ada 14 \d$/);
      await assert.rejects(joined.update("unknown" as never), WorkflowUpdateRejectedError);
      await joined.signal(deleteAccount);
      const last = await joined.result();
      assert.deepEqual([last.status, typeof last.deletedAt], ["DELETED", "number"]);
      assert.equal((await accountOf(client, "ada").query(getState)).status, "DELETED");
      for (
        const again of [
          openAccount,
          block,
          (c: Client, id: string) =>
            saveProfile(c, id, { name: "A" }),
        ]
      ) {
        await assert.rejects(again(client, "ada"), WorkflowExecutionAlreadyStartedError);
      }
    }),
);

test(
  "more than 2 MiB of state: the task fails with a clear error before it is sent, and the run stays open",
  { skip: noServer },
  async () => {
    const failures: string[] = [];
    const events = {
      workflowTaskFailed: ({ message }: { message: string }) => void failures.push(message),
    };
    await working("large", { events }, async (client) => {
      const account = await openAccount(client, "large");
      await account.update(updateProfile, { name: "Ada", about: "x".repeat(1_200_000) });
      // Its history of more than 4 MiB makes the server suggest a new one; the updates whose tasks
      // fail wait for corrected code.
      account.update(changeEmail, `${"x".repeat(1_200_000)}@example.com`).catch(() => {});
      account.update(updateProfile, { name: "Ada", about: "y".repeat(1_200_000) }).catch(() => {});
      await until("the task has failed", () => failures.length > 0);
      assert.match(failures[0]!, /2097152/);
      assert.equal((await account.describe()).status, "RUNNING");
      await account.terminate();
    });
  },
);

test(
  "worker versioning: an account of v1 continues on v2, in this generation and later ones",
  { skip: noServer },
  async () => {
    const taskQueue = "versioned-accounts";
    const client = new Client({ service, taskQueue, logger: silentLogger });
    const calls: string[] = [];
    const start = async (buildId: string): Promise<Worker> => {
      const worker = await Worker.create({
        ...{ service, taskQueue, workflows, logger: silentLogger },
        activities: {
          ...new Gates().activities,
          validateProfile: async (profile: { name: string }) =>
            void calls.push(`${buildId} ${profile.name}`),
        },
        workerDeploymentOptions: {
          useWorkerVersioning: true,
          version: { deploymentName: "accounts", buildId },
          defaultVersioningBehavior: "PINNED", // the account's own behavior counts
        },
      });
      worker.run().catch(() => {});
      return worker;
    };
    const setCurrent = (buildId: string) => {
      const version = [
        "--deployment-name",
        "accounts",
        "--build-id",
        buildId,
        "--yes",
        "--address",
        server.address,
      ];
      return until(
        `version ${buildId} is current`,
        () =>
          promisify(execFile)(temporalCli()!, [
            "worker",
            "deployment",
            "set-current-version",
            ...version,
          ]),
        { retryErrors: true, everyMs: 300 },
      );
    };
    const workers = [await start("v1")];
    try {
      await setCurrent("v1");
      const account = await openAccount(client, "eve");
      for (let i = 0; i < 8; i++) await account.update(updateProfile, { name: `${i}` });
      const before = await health(client, "eve");
      assert.ok(before.generation >= 2, `${before.generation}`);
      workers.push(await start("v2"));
      await setCurrent("v2");
      for (let i = 8; i < 20; i++) await account.update(updateProfile, { name: `${i}` });
      const { generation, operations } = await health(client, "eve");
      assert.ok(generation > before.generation && operations === 20, `${generation} ${operations}`);
      assert.deepEqual(calls.slice(0, 8), Array.from({ length: 8 }, (_, i) => `v1 ${i}`));
      const versions = calls.slice(8).map((call) => call.split(" ")[0]);
      const moved = versions.indexOf("v2");
      assert.ok(moved >= 0 && moved <= 2, `it moves with its next tasks: ${versions.join(" ")}`);
      assert.ok(versions.slice(moved).every((version) => version === "v2"), versions.join(" "));
      await account.terminate();
    } finally {
      await Promise.all(workers.map((worker) => worker.shutdown()));
    }
  },
);
