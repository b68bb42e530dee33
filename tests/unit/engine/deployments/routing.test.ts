// Which workers get the tasks of a run: pinned runs stay on their version, auto-upgrade runs follow
// the current and the ramping version, and activities follow their run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { routedQueues } from "../../../../ts/engine/deployments/routing.ts";
import {
  newDeployment,
  newVersion,
  setCurrent,
  setRamping,
} from "../../../../ts/engine/deployments/state.ts";
import { CommandType } from "../../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { TaskQueueType } from "../../../../ts/messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import { MemoryStore } from "../../../../ts/engine/mod.ts";
import { activityCommand, version, VersionedEngine } from "./support.ts";

const { WORKFLOW } = TaskQueueType;

function deployment(name: string, versions: { readonly [buildId: string]: readonly string[] }) {
  const state = newDeployment(name, 1);
  for (const [buildId, queues] of Object.entries(versions)) {
    const added = newVersion(buildId, 2, "inactive");
    added.queues.push(...queues.map((queue) => [queue, WORKFLOW] as const));
    state.versions.push(added);
  }
  return state;
}

test("a queue follows the version that polls it and was made current last", () => {
  const one = deployment("one", { a: ["q", "r"], b: ["q"] });
  const two = deployment("two", { c: ["q"] });
  const targets = () =>
    Object.fromEntries(
      routedQueues([one, two]).map(({ queue: [name], current, ramping, percentage }) => [
        name,
        [current?.buildId, ramping?.buildId, percentage],
      ]),
    );
  assert.deepEqual(targets(), { q: [undefined, undefined, 0], r: [undefined, undefined, 0] });
  setCurrent(one, "a", 10);
  assert.deepEqual(targets(), { q: ["a", undefined, 0], r: ["a", undefined, 0] });
  setCurrent(two, "c", 20);
  assert.deepEqual(targets(), { q: ["c", undefined, 0], r: ["a", undefined, 0] });
  // Version b does not poll r: its workflows go to unversioned workers.
  setCurrent(one, "b", 30);
  assert.deepEqual(targets(), { q: ["b", undefined, 0], r: [undefined, undefined, 0] });
  // A version comes before unversioned workers, whichever was set last.
  setCurrent(one, null, 40);
  assert.deepEqual(targets()["q"], ["c", undefined, 0]);
  setRamping(two, "c", 0, 50);
  setRamping(one, "a", 25, 60);
  assert.deepEqual(targets()["q"], ["c", "a", 25]);
});

test("new runs go to the current version; pinned ones stay, auto-upgrade ones move", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    await engine.start("before");
    assert.equal(await engine.poll("v1"), undefined, "no version is current");
    await engine.setCurrent("v1");
    await engine.start("pinned");
    assert.equal(await engine.complete("v1", "AUTO_UPGRADE"), "before");
    assert.equal(await engine.complete("v1", "PINNED"), "pinned");
    assert.equal(await engine.poll("v2"), undefined);
    await engine.setCurrent("v2");
    await engine.signal("pinned");
    await engine.signal("before");
    assert.equal((await engine.poll("v1"))?.workflowId, "pinned");
    const moved = await engine.poll("v2");
    assert.equal(moved?.workflowId, "before");
    const during = (await engine.describe("before")).workflowExecutionInfo.versioningInfo;
    assert.deepEqual(during.versionTransition, { deploymentVersion: version("v2") });
    await engine.completeTask(moved!, "v2", "AUTO_UPGRADE");
    const { versioningInfo, workerDeploymentName } =
      (await engine.describe("before")).workflowExecutionInfo;
    assert.equal(workerDeploymentName, "shop");
    assert.deepEqual(versioningInfo, {
      behavior: "VERSIONING_BEHAVIOR_AUTO_UPGRADE",
      deploymentVersion: version("v2"),
      version: "shop.v2",
      revisionNumber: "2",
    });
    const completed = (await engine.events("before"))
      .flatMap(({ workflowTaskCompletedEventAttributes: attributes }) => attributes ?? []);
    assert.deepEqual(completed.map(({ deploymentVersion }) => deploymentVersion.buildId), [
      "v1",
      "v2",
    ]);
    assert.equal(completed[1].versioningBehavior, "VERSIONING_BEHAVIOR_AUTO_UPGRADE");
    assert.equal(completed[1].workerDeploymentName, "shop");
  }));

test("without a current version auto-upgrade runs go back to unversioned workers", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    await engine.poll("v1");
    await engine.setCurrent("v1");
    await engine.start("w");
    await engine.complete("v1", "AUTO_UPGRADE");
    await engine.setCurrent(undefined);
    await engine.signal("w");
    assert.equal(await engine.poll("v1"), undefined);
    assert.equal(await engine.complete(undefined), "w");
    const { versioningInfo } = (await engine.describe("w")).workflowExecutionInfo;
    assert.deepEqual(versioningInfo, {});
  }));

test("a waiting task moves when the current version changes, also from a sticky queue", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    await engine.poll("v1");
    await engine.poll("v2");
    await engine.setCurrent("v1");
    await engine.start("w");
    await engine.start("pinned");
    for (let i = 0; i < 2; i++) {
      const task = await engine.poll("v1");
      const behavior = task!.workflowId === "w" ? "AUTO_UPGRADE" : "PINNED";
      await engine.completeTask(task!, "v1", behavior, [], "sticky");
    }
    await engine.poll("v1", { queue: "sticky", sticky: true });
    await engine.signal("w");
    await engine.signal("pinned");
    await engine.setCurrent("v2");
    assert.equal((await engine.poll("v2"))?.workflowId, "w");
    assert.equal(
      (await engine.poll("v1", { queue: "sticky", sticky: true }))?.workflowId,
      "pinned",
    );
  }));

test("a share of the workflow ids ramps, always the same ones", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    await engine.poll("v1");
    await engine.poll("v2");
    await engine.setCurrent("v1");
    await engine.setRamping("v2", 30);
    const ids = Array.from({ length: 100 }, (_, i) => `order-${i}`);
    for (const id of ids) await engine.start(id);
    const ramped: string[] = [];
    for (let task = await engine.poll("v2"); task !== undefined; task = await engine.poll("v2")) {
      ramped.push(task.workflowId);
    }
    // By farm.Fingerprint32 of github.com/dgryski/go-farm, as servers do.
    assert.equal(ramped.length, RAMPED.length);
    assert.deepEqual(ramped.toSorted(), RAMPED.toSorted());
    await engine.setRamping(undefined, 100);
    assert.equal(await engine.poll("v1"), undefined);
    assert.ok(await engine.poll(undefined), "all ramp to unversioned workers");
    await engine.setRamping(undefined, 0);
    assert.equal(await engine.poll(undefined), undefined);
    assert.ok(await engine.poll("v1"));
  }));

const RAMPED: readonly string[] = [
  3,
  6,
  13,
  15,
  19,
  20,
  21,
  23,
  27,
  30,
  32,
  36,
  44,
  46,
  47,
  48,
  49,
  51,
]
  .concat([54, 64, 65, 66, 70, 73, 75, 76, 79, 80, 92, 93, 95]).map((i) => `order-${i}`);

test("activities go to the version of their run, independent ones to that of their queue", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    const activity = { activity: true };
    await engine.poll("v1");
    await engine.poll("v1", activity);
    await engine.poll("v2");
    await engine.poll("v2", activity);
    await engine.poll("other:o1", { queue: "others", activity: true });
    await engine.setCurrent("v1");
    await engine.setCurrent("other:o1");
    await engine.start("pinned");
    const commands = [activityCommand("own"), activityCommand("independent", "others")];
    await engine.complete("v1", "PINNED", { commands });
    await engine.setCurrent("v2");
    assert.equal(await engine.poll("v2", activity), undefined);
    assert.ok(await engine.poll("v1", activity));
    assert.ok(await engine.poll("other:o1", { queue: "others", activity: true }));
    const pending = (await engine.describe("pinned")).pendingActivities;
    assert.deepEqual(
      pending.map(({ activityId, lastDeploymentVersion }: { [name: string]: unknown }) => [
        activityId,
        lastDeploymentVersion,
      ]),
      [["own", version("v1")], ["independent", version("other:o1")]],
    );
  }));

test("an activity of an auto-upgrade run waits until the run is on the new version", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    const activity = { activity: true };
    for (const build of ["v1", "v2"]) {
      await engine.poll(build);
      await engine.poll(build, activity);
    }
    await engine.setCurrent("v1");
    await engine.start("w");
    await engine.complete("v1", "AUTO_UPGRADE", { commands: [activityCommand("a")] });
    await engine.setCurrent("v2");
    assert.equal(await engine.poll("v1", activity), undefined);
    // The poll of v2 begins a transition: a workflow task comes first.
    assert.equal(await engine.poll("v2", activity), undefined);
    assert.equal(await engine.complete("v2", "AUTO_UPGRADE"), "w");
    assert.ok(await engine.poll("v2", activity));
  }));

test("children and the next runs of a chain stay on the version", () =>
  VersionedEngine.during(new MemoryStore(), async (engine) => {
    await engine.poll("v1");
    await engine.poll("v2");
    await engine.setCurrent("v1");
    await engine.start("w");
    const next = {
      commandType: CommandType.CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
      attributes: { case: "continueAsNewWorkflowExecutionCommandAttributes", value: {} },
    };
    const child = {
      commandType: CommandType.START_CHILD_WORKFLOW_EXECUTION,
      attributes: {
        case: "startChildWorkflowExecutionCommandAttributes",
        value: { workflowId: "child", workflowType: { name: "W" } },
      },
    };
    await engine.complete("v1", "PINNED", { commands: [child as never] });
    await engine.setCurrent("v2");
    const [started] = await engine.events("child");
    assert.deepEqual(
      started.workflowExecutionStartedEventAttributes.inheritedPinnedVersion,
      version("v1"),
    );
    const tasks = [await engine.poll("v1"), await engine.poll("v1")];
    assert.deepEqual(tasks.map((task) => task?.workflowId).toSorted(), ["child", "w"]);
    const own = tasks.find((task) => task?.workflowId === "w")!;
    await engine.completeTask(own, "v1", "PINNED", [next as never]);
    assert.equal((await engine.poll("v1"))?.workflowId, "w");
    const { versioningInfo, searchAttributes } = (await engine.describe("w")).workflowExecutionInfo;
    assert.deepEqual(versioningInfo, {
      behavior: "VERSIONING_BEHAVIOR_PINNED",
      deploymentVersion: version("v1"),
    });
    assert.ok(searchAttributes.indexedFields.TemporalWorkerDeploymentVersion);
  }));
