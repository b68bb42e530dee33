// The registry of worker deployments: polls register, requests change the routing, versions drain.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { MemoryStore } from "../../../../ts/engine/mod.ts";
import { SqliteStore } from "../../../../ts/engine/sqlite/store.ts";
import { StoreError } from "../../../../ts/engine/store_errors.ts";
import { Code } from "../../../../ts/service/raw.ts";
import { inFolder } from "../support/stores.ts";
import { START_MS, version, VersionedEngine } from "./support.ts";

const PREFIX = "WORKER_DEPLOYMENT_VERSION_STATUS_";
const at = (seconds: number) =>
  new Date(START_MS + seconds * 1000).toISOString().replace(".000Z", "Z");

async function rejects(call: Promise<unknown>, code: number, message: RegExp): Promise<void> {
  await assert.rejects(call, (error: { code?: number; message: string }) => {
    assert.deepEqual([error.code, message.test(error.message)], [code, true], error.message);
    return true;
  });
}

test("a poll registers its version and queue, which survive a restart", () =>
  inFolder(async (folder) => {
    const path = join(folder, "a.sqlite");
    const described = await VersionedEngine.during(SqliteStore.open(path), async (engine) => {
      await engine.poll("v1");
      await engine.poll("v1", { activity: true });
      await engine.poll("v1", { queue: "sticky", sticky: true });
      await engine.advance(1000);
      await engine.poll("v2");
      await engine.setCurrent("v1", { identity: "ada" });
      return await engine.call("DescribeWorkerDeployment", { deploymentName: "shop" });
    });
    const again = await VersionedEngine.during(SqliteStore.open(path), async (engine) => {
      const { workerDeployments: [listed] } = await engine.call("ListWorkerDeployments", {});
      assert.equal(listed.name, "shop");
      assert.equal(listed.latestVersionSummary.deploymentVersion.buildId, "v2");
      assert.equal(listed.currentVersionSummary.deploymentVersion.buildId, "v1");
      const { workerDeploymentVersionInfo } = await engine.call(
        "DescribeWorkerDeploymentVersion",
        { deploymentVersion: version("v1") },
      );
      assert.deepEqual(workerDeploymentVersionInfo.taskQueueInfos, [
        { name: "q", type: "TASK_QUEUE_TYPE_WORKFLOW" },
        { name: "q", type: "TASK_QUEUE_TYPE_ACTIVITY" },
      ]);
      await engine.start("w");
      assert.ok(await engine.poll("v1"), "the routing was read");
      return await engine.call("DescribeWorkerDeployment", { deploymentName: "shop" });
    });
    assert.deepEqual(again, described);
    const { workerDeploymentInfo: { versionSummaries, routingConfig, lastModifierIdentity } } =
      again;
    assert.equal(lastModifierIdentity, "ada");
    assert.deepEqual(routingConfig, {
      currentDeploymentVersion: version("v1"),
      currentVersion: "shop.v1",
      currentVersionChangedTime: at(1),
      revisionNumber: "1",
    });
    assert.deepEqual(versionSummaries, [
      {
        version: "shop.v2",
        deploymentVersion: version("v2"),
        status: `${PREFIX}INACTIVE`,
        createTime: at(1),
      },
      {
        version: "shop.v1",
        deploymentVersion: version("v1"),
        status: `${PREFIX}CURRENT`,
        createTime: at(0),
        currentSinceTime: at(1),
        routingUpdateTime: at(1),
        firstActivationTime: at(1),
        lastCurrentTime: at(1),
      },
    ]);
  }));

test("a version drains until no open workflow is pinned to it, and is pinned to again", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    await engine.poll("v1");
    await engine.poll("v2");
    await engine.setCurrent("v1");
    await engine.start("w");
    await engine.complete("v1", "PINNED");
    assert.equal(await engine.status("v1"), "CURRENT");
    await engine.setRamping("v2", 10);
    assert.equal(await engine.status("v2"), "RAMPING");
    await engine.setCurrent("v2");
    assert.deepEqual([await engine.status("v1"), await engine.status("v2")], [
      "DRAINING",
      "CURRENT",
    ]);
    const remove = (more = {}) =>
      engine.call("DeleteWorkerDeploymentVersion", { deploymentVersion: version("v1"), ...more });
    await rejects(remove(), Code.FAILED_PRECONDITION, /'shop:v1' .* is draining/);
    await rejects(remove({ skipDrainage: true }), Code.FAILED_PRECONDITION, /has active pollers/);
    await engine.call("TerminateWorkflowExecution", { workflowExecution: { workflowId: "w" } });
    assert.equal(await engine.status("v1"), "DRAINED");
    await engine.start("again", {
      versioningOverride: {
        pinned: { behavior: "PINNED_OVERRIDE_BEHAVIOR_PINNED", version: version("v1") },
      },
    });
    assert.equal(await engine.status("v1"), "DRAINING");
    assert.equal((await engine.poll("v1"))?.workflowId, "again");
    await engine.call("TerminateWorkflowExecution", { workflowExecution: { workflowId: "again" } });
    await engine.advance(301_000);
    await remove();
    await rejects(
      engine.status("v1"),
      Code.NOT_FOUND,
      /Worker Deployment Version not found/,
    );
    await rejects(
      engine.call("DeleteWorkerDeployment", { deploymentName: "shop" }),
      Code.INTERNAL,
      /has versions/,
    );
    await rejects(
      engine.call("DeleteWorkerDeploymentVersion", { deploymentVersion: version("v2") }),
      Code.FAILED_PRECONDITION,
      /current or ramping/,
    );
    await engine.setCurrent(undefined);
    await engine.call("DeleteWorkerDeploymentVersion", {
      deploymentVersion: version("v2"),
      skipDrainage: true,
    });
    await engine.call("DeleteWorkerDeployment", { deploymentName: "shop" });
    assert.deepEqual(await engine.call("ListWorkerDeployments", {}), {});
    // The worker is still there: its next poll registers it again.
    await engine.poll("v2");
    assert.equal(await engine.status("v2"), "INACTIVE");
  }));

test("requests that do not fit the state of a deployment are rejected", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    await rejects(engine.setCurrent("v1"), Code.NOT_FOUND, /no Worker Deployment .* 'shop'/);
    await engine.poll("v1");
    await rejects(engine.setCurrent("v9"), Code.NOT_FOUND, /build ID 'v9' not found/);
    const { conflictToken } = await engine.setCurrent("v1", { identity: "ada" });
    const { previousDeploymentVersion } = await engine.setCurrent("v1", { identity: "ada" });
    assert.deepEqual(previousDeploymentVersion, version("v1"), "nothing has changed");
    await rejects(
      engine.setRamping("v1", 5),
      Code.FAILED_PRECONDITION,
      /requested ramping version shop.v1 is already current/,
    );
    await rejects(engine.setRamping("v1", 101), Code.INVALID_ARGUMENT, /between 0 and 100/);
    await engine.poll("v2");
    await engine.setRamping("v2", 5, { conflictToken });
    await rejects(
      engine.setRamping("v2", 6, { conflictToken }),
      Code.FAILED_PRECONDITION,
      /conflict token mismatch/,
    );
    const manager = (request: object) => engine.call("SetWorkerDeploymentManager", request);
    await rejects(
      manager({ deploymentName: "shop" }),
      Code.INVALID_ARGUMENT,
      /Identity is required/,
    );
    await manager({ deploymentName: "shop", identity: "ada", self: true });
    await rejects(
      engine.setCurrent("v2", { identity: "bob" }),
      Code.FAILED_PRECONDITION,
      /ManagerIdentity 'ada' is set and does not match user identity 'bob'/,
    );
    const { previousManagerIdentity } = await manager({
      deploymentName: "shop",
      identity: "bob",
      managerIdentity: "",
    });
    assert.equal(previousManagerIdentity, "ada");
    await engine.setCurrent("v2", { identity: "bob" });
    const later = await engine.setCurrent("v3", {
      allowNoPollers: true,
      ignoreMissingTaskQueues: true,
    });
    assert.equal(later.previousVersion, "shop.v2");
    assert.equal(await engine.status("v3"), "CURRENT");
    await rejects(engine.poll("a.b:v1"), Code.INVALID_ARGUMENT, /cannot contain '.'/);
    await rejects(engine.poll("__a:v1"), Code.INVALID_ARGUMENT, /cannot start with '__'/);
  }));

test("a version that lacks a queue in use does not become current by accident", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    await engine.poll("v1");
    await engine.poll("v1", { queue: "more" });
    await engine.poll("v2");
    await engine.setCurrent("v1");
    await engine.start("w", { taskQueue: { name: "more" } });
    await rejects(
      engine.setCurrent("v2"),
      Code.FAILED_PRECONDITION,
      /proposed current version 'shop:v2' is missing active task queues/,
    );
    await rejects(
      engine.setRamping("v2", 50),
      Code.FAILED_PRECONDITION,
      /proposed ramping version 'shop:v2' is missing active task queues/,
    );
    await engine.setCurrent("v2", { ignoreMissingTaskQueues: true });
  }));

test("the description of a task queue has its versions", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    const describe = async () =>
      (await engine.call("DescribeTaskQueue", { taskQueue: { name: "q" } })).versioningInfo;
    assert.deepEqual(await describe(), { currentVersion: "__unversioned__" });
    await engine.poll("v1");
    await engine.poll("v2");
    await engine.setCurrent("v1");
    await engine.setRamping("v2", 30);
    assert.deepEqual(await describe(), {
      currentDeploymentVersion: version("v1"),
      currentVersion: "shop.v1",
      rampingDeploymentVersion: version("v2"),
      rampingVersion: "shop.v2",
      rampingVersionPercentage: 30,
      updateTime: at(0),
    });
  }));

test("metadata of a version is set and removed by key", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    await engine.poll("v1");
    const payload = { metadata: { encoding: "anNvbi9wbGFpbg==" }, data: "MQ==" };
    const change = (request: object) =>
      engine.call("UpdateWorkerDeploymentVersionMetadata", {
        deploymentVersion: version("v1"),
        ...request,
      });
    await rejects(change({}), Code.INVALID_ARGUMENT, /At least one of/);
    await change({ upsertEntries: { a: payload, b: payload }, identity: "ada" });
    const { metadata } = await change({ upsertEntries: { c: payload }, removeEntries: ["a"] });
    assert.deepEqual(metadata.entries, { b: payload, c: payload });
    const { workerDeploymentVersionInfo } = await engine.call(
      "DescribeWorkerDeploymentVersion",
      { deploymentVersion: version("v1") },
    );
    assert.deepEqual(workerDeploymentVersionInfo.metadata, metadata);
  }));

test("an override moves a run, is an event, and can be removed", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    await engine.poll("v1");
    await engine.poll("v2");
    await engine.setCurrent("v1");
    await engine.start("w");
    await engine.complete("v1", "AUTO_UPGRADE");
    const update = (options: object, updateMask = "versioningOverride") =>
      engine.call("UpdateWorkflowExecutionOptions", {
        workflowExecution: { workflowId: "w" },
        workflowExecutionOptions: options,
        updateMask,
        identity: "ada",
      });
    const pinned = (build: string) => ({
      versioningOverride: {
        pinned: { behavior: "PINNED_OVERRIDE_BEHAVIOR_PINNED", version: version(build) },
      },
    });
    await rejects(
      update(pinned("v9")),
      Code.FAILED_PRECONDITION,
      /Pinned version 'shop:v9' is not present in task queue 'q' of type 'Workflow'/,
    );
    await engine.signal("w");
    const { workflowExecutionOptions } = await update(pinned("v2"));
    assert.deepEqual(workflowExecutionOptions, pinned("v2"));
    await update(pinned("v2"));
    assert.equal(await engine.poll("v1"), undefined);
    assert.equal(await engine.complete("v2", "AUTO_UPGRADE"), "w");
    const list = (query: string) => engine.call("CountWorkflowExecutions", { query });
    const { count } = await list(
      "TemporalWorkerDeploymentVersion = 'shop:v2' AND TemporalWorkflowVersioningBehavior = 'Pinned' AND TemporalWorkerDeployment = 'shop'",
    );
    assert.equal(count, "1");
    await update({ versioningOverride: { autoUpgrade: true } });
    await update({});
    await engine.signal("w");
    assert.equal(await engine.complete("v1", "AUTO_UPGRADE"), "w");
    const updated = (await engine.events("w"))
      .flatMap(({ workflowExecutionOptionsUpdatedEventAttributes: attributes }) =>
        attributes ?? []
      );
    assert.deepEqual(updated, [
      { ...pinned("v2"), identity: "ada" },
      { versioningOverride: { autoUpgrade: true }, identity: "ada" },
      { unsetVersioningOverride: true, identity: "ada" },
    ]);
    await update({ priority: { priorityKey: 2, fairnessKey: "k" } }, "priority");
    const { workflowExecutionOptions: options } = await update(
      { priority: { priorityKey: 4 } },
      "priority.priorityKey",
    );
    assert.deepEqual(options.priority, { priorityKey: 4, fairnessKey: "k" });
    await rejects(update({}, "nothing"), Code.INVALID_ARGUMENT, /UpdateMask/);
  }));

test("a batch operation pins the workflows of a query", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    await engine.poll("v1");
    await engine.poll("v2");
    await engine.setCurrent("v1");
    for (const id of ["a", "b"]) await engine.start(id);
    for (let i = 0; i < 2; i++) await engine.complete("v1", "AUTO_UPGRADE");
    const pinned = { behavior: "PINNED_OVERRIDE_BEHAVIOR_PINNED", version: version("v2") };
    await engine.call("StartBatchOperation", {
      jobId: "pin",
      reason: "test",
      visibilityQuery: "WorkflowType = 'W'",
      updateWorkflowOptionsOperation: {
        workflowExecutionOptions: { versioningOverride: { pinned } },
        updateMask: "versioningOverride",
      },
    });
    const described = await engine.call("DescribeBatchOperation", { jobId: "pin" });
    assert.equal(described.operationType, "BATCH_OPERATION_TYPE_UPDATE_EXECUTION_OPTIONS");
    const query = "TemporalWorkerDeploymentVersion = 'shop:v2'";
    assert.equal((await engine.call("CountWorkflowExecutions", { query })).count, "2");
  }));

test("polls that exceed the limit of deployments in one batch are not registered, and the next ones are rejected", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    const names = Array.from({ length: 103 }, (_, i) => `d${i}`);
    await Promise.all(names.map((name) => engine.poll(`${name}:v`)));
    const { workerDeployments } = await engine.call("ListWorkerDeployments", {});
    assert.equal(workerDeployments.length, 100);
    const listed = new Set(workerDeployments.map(({ name }: { name: string }) => name));
    const [left] = names.filter((name) => !listed.has(name));
    await rejects(engine.poll(`${left}:v`), Code.RESOURCE_EXHAUSTED, /reached maximum deployments/);
    assert.equal(await engine.poll("d0:v"), undefined);
  }));

test("a change whose commit fails has no effect on tasks", () => {
  const store = new MemoryStore();
  let fails = false;
  const commit = store.commit.bind(store);
  store.commit = (...writes) => {
    if (fails && writes[5] !== undefined && writes[5].size > 0) {
      fails = false;
      throw new StoreError("the disk is full");
    }
    commit(...writes);
  };
  return VersionedEngine.during(store, async (engine) => {
    await engine.poll("v1");
    await engine.poll("v2");
    await engine.setCurrent("v1");
    await engine.start("w");
    fails = true;
    await rejects(engine.setCurrent("v2"), Code.UNAVAILABLE, /the disk is full/);
    assert.equal(await engine.status("v2"), "INACTIVE");
    assert.equal(await engine.poll("v2"), undefined);
    assert.equal((await engine.poll("v1"))?.workflowId, "w");
  }, { mayFail: true });
});
