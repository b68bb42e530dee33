// Worker versioning: which fields a versioned worker sends where, against a scripted service, and
// what is refused before anything runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { silentLogger } from "../../../ts/client/mod.ts";
import { WorkerVersioningMode } from "../../../ts/messages/generated/temporal/api/enums/v1/deployment_pb.ts";
import { VersioningBehavior } from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  RespondWorkflowTaskCompletedRequestSchema,
  RespondWorkflowTaskFailedRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { Realm, RealmOutcome } from "../../../ts/realm/mod.ts";
import { scriptedRealm } from "../../support/realms.ts";
import {
  Worker,
  type WorkerDeploymentOptions,
  type WorkerOptions,
} from "../../../ts/worker/mod.ts";
import { workflow } from "../../../ts/workflow/mod.ts";
import { withEngine } from "../../support/services.ts";
import { until } from "../../support/until.ts";
import { ScriptedService, waits } from "../../support/scripted_service.ts";

const version = { deploymentName: "shop", buildId: "v7" };
const versioned: WorkerDeploymentOptions = {
  useWorkerVersioning: true,
  version,
  defaultVersioningBehavior: "AUTO_UPGRADE",
};

const taskToken = new Uint8Array([1]);
const completed = toBinary(
  RespondWorkflowTaskCompletedRequestSchema,
  create(RespondWorkflowTaskCompletedRequestSchema, { taskToken, identity: "core" }),
);
const failed = toBinary(
  RespondWorkflowTaskFailedRequestSchema,
  create(RespondWorkflowTaskFailedRequestSchema, { taskToken }),
);

/** Returns one completed task of each type, and a failed one of type Fails. */
const realm = (): Realm =>
  scriptedRealm({
    workflowTypes: ["Pinned", "Free", "Fails"],
    versioningBehaviors: new Map([["Pinned", "PINNED"]]),
    runTask: ({ head }) => {
      const fails = head.workflowType === "Fails";
      const response = fails
        ? { $case: "failed", value: failed }
        : { $case: "completed", value: completed };
      return Promise.resolve(
        { evict: false, evictionReason: 0, warnings: [], response } as unknown as RealmOutcome,
      );
    },
  });

/**
 * A service that hands out one workflow task of each type and one activity task of each way to end.
 */
function service(): ScriptedService {
  const types = ["Pinned", "Free", "Fails"];
  const activities = ["good", "bad"];
  return new ScriptedService()
    .on("pollWorkflowTaskQueue", ({ taskQueue }, options) => {
      const type = taskQueue?.name === "q" ? types.shift() : undefined;
      if (type === undefined) return waits({ signal: options.signal! });
      return {
        taskToken,
        workflowExecution: { workflowId: type, runId: type },
        workflowType: { name: type },
        attempt: 1,
      };
    })
    .on("pollActivityTaskQueue", (_request, options) => {
      const type = activities.shift();
      if (type === undefined) return waits({ signal: options.signal! });
      return { taskToken, activityId: "1", activityType: { name: type }, attempt: 1 };
    })
    .on("respondWorkflowTaskCompleted", () => ({}))
    .on("respondWorkflowTaskFailed", () => ({}))
    .on("respondActivityTaskCompleted", () => ({}))
    .on("respondActivityTaskFailed", () => ({}))
    .on("shutdownWorker", () => ({}));
}

async function everything(
  workerDeploymentOptions: WorkerDeploymentOptions | undefined,
  more: Partial<WorkerOptions> = {},
): Promise<ScriptedService> {
  const scripted = service();
  const bad = () => {
    throw new Error("bad");
  };
  const worker = await Worker.create({
    service: scripted,
    taskQueue: "q",
    logger: silentLogger,
    realm: realm(),
    activities: { good: () => 1, bad },
    ...(workerDeploymentOptions && { workerDeploymentOptions }),
    ...more,
  });
  await worker.runUntil(() =>
    until(
      "all is reported",
      () => scripted.calls.filter(({ method }) => method.startsWith("respond")).length === 5,
    )
  );
  return scripted;
}

test("every poll and report of a versioned worker names its version; completions name the workflow's behavior", async () => {
  const scripted = await everything(versioned);
  const seen = new Set<string>();
  for (const { method, request } of scripted.calls) {
    if (!/^(poll|respond)/.test(method)) continue;
    seen.add(method);
    const { deploymentOptions } = request as { deploymentOptions?: object };
    assert.deepEqual({ ...deploymentOptions, $typeName: undefined }, {
      $typeName: undefined,
      ...version,
      workerVersioningMode: WorkerVersioningMode.VERSIONED,
    }, method);
  }
  assert.equal(seen.size, 6);
  const behaviors = scripted.requests("respondWorkflowTaskCompleted").map(
    ({ identity, versioningBehavior }) => {
      assert.equal(identity, "core", "what the core wrote is still there");
      return versioningBehavior;
    },
  );
  assert.deepEqual(behaviors.sort(), [VersioningBehavior.PINNED, VersioningBehavior.AUTO_UPGRADE]);
});

test("without versioning, histories show the version but behaviors are not sent; without options neither is sent", async () => {
  const unversioned = await everything({ ...versioned, useWorkerVersioning: false });
  for (
    const { deploymentOptions, versioningBehavior } of unversioned.requests(
      "respondWorkflowTaskCompleted",
    )
  ) {
    assert.equal(deploymentOptions?.workerVersioningMode, WorkerVersioningMode.UNVERSIONED);
    assert.equal(deploymentOptions?.buildId, "v7");
    assert.equal(versioningBehavior, VersioningBehavior.UNSPECIFIED);
  }
  const plain = await everything(undefined);
  for (const { request } of plain.calls) {
    assert.equal((request as { deploymentOptions?: object }).deploymentOptions, undefined);
  }
});

test("polls and reports of a worker with only a build id contain it in the legacy fields and no deployment", async () => {
  for (const useVersioning of [false, true]) {
    const { calls } = await everything(undefined, { buildStamp: { buildId: "v8", useVersioning } });
    const seen = new Set<string>();
    for (const { method, request } of calls) {
      if (!/^(poll|respond)/.test(method)) continue;
      seen.add(method);
      const { deploymentOptions, workerVersionCapabilities, workerVersionStamp, workerVersion } =
        request as unknown as {
          readonly [field: string]: { buildId: string; useVersioning: boolean } | undefined;
        };
      assert.equal(deploymentOptions, undefined, method);
      const said = workerVersionCapabilities ?? workerVersionStamp ?? workerVersion;
      assert.deepEqual([said?.buildId, said?.useVersioning], ["v8", useVersioning], method);
    }
    assert.equal(seen.size, 6);
  }
  const { calls } = await everything(versioned, {
    buildStamp: { buildId: "v8", useVersioning: true },
  });
  for (const { request } of calls) {
    assert.doesNotMatch(
      JSON.stringify(request, (_, value) => typeof value === "bigint" ? `${value}` : value),
      /"v8"/,
    );
  }
});

test("a workflow of a versioned worker has its own behavior or the worker's; invalid options are rejected", () =>
  withEngine("memory", {}, async (t) => {
    const run = () => Promise.resolve("done");
    const workflows = [
      workflow("Pinned", { versioningBehavior: "PINNED", run }),
      workflow("Free", { run }),
    ];
    const create = (
      workerDeploymentOptions: object,
      more: Partial<WorkerOptions> = { workflows },
    ) =>
      Worker.create({
        service: t.service,
        taskQueue: t.taskQueue,
        logger: silentLogger,
        workerDeploymentOptions: workerDeploymentOptions as WorkerDeploymentOptions,
        ...more,
      });
    const bare = { useWorkerVersioning: true, version };
    await assert.rejects(
      create(bare),
      /each workflow is "PINNED" or "AUTO_UPGRADE": set the versioningBehavior of Free/,
    );
    await (await create({ useWorkerVersioning: false, version })).shutdown();
    await (await create(bare, { workflows: [workflows[0]!] })).shutdown();
    await (await create(bare, { activities: { a: () => 1 } })).shutdown();
    for (
      const [options, message] of [
        [{ version }, /useWorkerVersioning must be true or false/],
        [{ useWorkerVersioning: true }, /deploymentName must be a name/],
        [
          { useWorkerVersioning: true, version: { ...version, deploymentName: "a.b" } },
          /without "\." and ":", not "a\.b"/,
        ],
        [
          { useWorkerVersioning: true, version: { ...version, buildId: "" } },
          /buildId must be a non-empty string, not ""/,
        ],
        [
          { ...bare, defaultVersioningBehavior: "pinned" },
          /must be "PINNED" or "AUTO_UPGRADE", not "pinned"/,
        ],
      ] as const
    ) {
      await assert.rejects(
        create(options),
        (error: Error) => error instanceof TypeError && message.test(error.message),
      );
    }
    assert.throws(
      () => workflow("W", { versioningBehavior: "UPGRADE" as "PINNED", run }),
      /valid values: "PINNED" and "AUTO_UPGRADE"/,
    );
    // On the embedded engine a version is only a note.
    const worker = await create(versioned);
    await worker.runUntil(async () => {
      assert.equal(await t.client.execute(workflows[0]!, { id: "1" }), "done");
    });
  }));

test("the behavior is read from the realm's thread, and replaced code is checked by the same rule", () =>
  withEngine("memory", {}, async (t) => {
    const text = (more: string) =>
      `import { workflow } from "temporalex/workflow";\nexport const w = workflow("W", { ${more} run: async () => 1 });`;
    const sources = { "/w.ts": text('versioningBehavior: "PINNED",') };
    const bare = { useWorkerVersioning: true, version };
    for (const workflowThreads of [1, 2]) {
      await t.work(
        { workflows: "/w.ts", sources, workflowThreads, workerDeploymentOptions: bare },
        async (worker) => {
          assert.equal(await t.client.execute("W", { id: `${workflowThreads}` }), 1);
          const before = sources["/w.ts"];
          sources["/w.ts"] = text("");
          await assert.rejects(worker.replaceWorkflows(), /set the versioningBehavior of W/);
          sources["/w.ts"] = before;
          await worker.replaceWorkflows();
        },
      );
    }
  }));
