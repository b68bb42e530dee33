// Standalone activities in each store: lists and counts, what survives the end of an engine, failed
// commits, purges. An acknowledged start is never lost.
// promise: P1, P2
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { MemoryStore } from "../../../../ts/engine/mod.ts";
import { ReadOnlyService } from "../../../../ts/engine/read_only_service.ts";
import { SqliteStore } from "../../../../ts/engine/sqlite/store.ts";
import type { Store } from "../../../../ts/engine/store.ts";
import { StoreBusyError, StoreError } from "../../../../ts/engine/store_errors.ts";
import { WorkflowService } from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { Code } from "../../../../ts/service/raw.ts";
import { until } from "../../../support/until.ts";
import { nextLine, startModule } from "../support/child.ts";
import { downgradeFile } from "../support/older_files.ts";
import { ProbeStore } from "../support/probe_store.ts";
import { inFolder, storeKinds } from "../support/stores.ts";
import { ActivityEngine, payloads, rejection, START_MS, valuesIn } from "./support.ts";

const keyword = (value: string) => ({
  metadata: { encoding: btoa("json/plain"), type: btoa("Keyword") },
  data: btoa(JSON.stringify(value)),
});

/** Four activities: two are open, one of them in a worker's hands. */
async function fill(opened: ActivityEngine): Promise<void> {
  const customer = (value: string) => ({
    searchAttributes: { indexedFields: { customer: keyword(value) } },
  });
  await opened.start({ activityId: "done", input: payloads(1), ...customer("ada") });
  await opened.complete((await opened.poll()).taskToken, "r");
  opened.advance(1000);
  await opened.start({ activityId: "failed", activityType: { name: "Other" } });
  await opened.fail((await opened.poll()).taskToken, { nonRetryable: true });
  opened.advance(1000);
  await opened.start({ activityId: "running", ...customer("ada"), input: payloads("in") });
  await opened.poll();
  opened.advance(1000);
  await opened.start({ activityId: "waiting", taskQueue: { name: "q2" }, ...customer("bob") });
}

const ids = async (opened: ActivityEngine, query: string): Promise<string[]> => {
  const { executions = [] } = await opened.call("listActivityExecutions", { query });
  return executions.map(({ activityId }: { activityId: string }) => activityId);
};

const QUERIES: readonly (readonly [query: string, ids: string[]])[] = [
  ["", ["waiting", "running", "failed", "done"]],
  ["ORDER BY StartTime ASC", ["done", "failed", "running", "waiting"]],
  ["ActivityId = 'done'", ["done"]],
  ["ActivityId STARTS_WITH 'wait'", ["waiting"]],
  ["ActivityType = 'Other'", ["failed"]],
  ["TaskQueue = 'q2'", ["waiting"]],
  ["ExecutionStatus = 'Running'", ["waiting", "running"]],
  ["ExecutionStatus IN ('Failed', 'TimedOut')", ["failed"]],
  ["CloseTime IS NULL AND ActivityType != 'Other'", ["waiting", "running"]],
  ["StartTime >= '2026-01-01T00:00:02Z'", ["waiting", "running"]],
  ["CloseTime < '2026-01-01T00:00:01Z'", ["done"]],
  ["customer = 'ada'", ["running", "done"]],
  ["customer != 'ada'", ["waiting"]],
  ["customer IS NULL", ["failed"]],
  ["customer = 'ada' AND NOT ExecutionStatus = 'Completed'", ["running"]],
];

for (const kind of storeKinds) {
  test(
    `${kind.name}: lists select by execution time and duration, also in an older file`,
    { skip: kind.skip },
    () =>
      inFolder(async (folder) => {
        const path = join(folder, "a.sqlite");
        const check = async (opened: ActivityEngine) => {
          const queries: readonly (readonly [query: string, ids: string[]])[] = [
            ["ExecutionTime > '2026-01-01T00:30:00Z'", ["delayed"]],
            ["ExecutionTime <= '2026-01-01T00:00:01Z'", ["long", "short"]],
            ["ExecutionDuration >= '1500ms'", ["long"]],
            ["ExecutionDuration < '1500ms'", ["short"]],
            ["ExecutionDuration IS NULL", ["delayed"]],
          ];
          for (const [query, expected] of queries) {
            assert.deepEqual(await ids(opened, query), expected, query);
          }
        };
        const store = kind.open(path);
        await ActivityEngine.during(store, async (opened) => {
          for (const [activityId, ms] of [["short", 500], ["long", 1500]] as const) {
            await opened.start({ activityId });
            const { taskToken } = await opened.poll();
            opened.advance(ms);
            await opened.complete(taskToken);
          }
          await opened.start({ activityId: "delayed", startDelay: "3600s" });
          await check(opened);
        });
        store.close();
        if (kind.driver === undefined) return;
        downgradeFile(path, kind.driver, 10);
        const upgraded = kind.open(path);
        await ActivityEngine.during(upgraded, check);
        upgraded.close();
      }),
  );

  test(
    `${kind.name}: lists and counts select activities`,
    { skip: kind.skip },
    () =>
      inFolder(async (folder) => {
        const store = kind.open(join(folder, "a.sqlite"));
        await ActivityEngine.during(store, async (opened) => {
          await fill(opened);
          for (const [query, expected] of QUERIES) {
            assert.deepEqual(await ids(opened, query), expected, query);
            if (query.startsWith("ORDER")) continue;
            const { count = "0" } = await opened.call("countActivityExecutions", { query });
            assert.equal(Number(count), expected.length, query);
          }
          const pages: string[] = [];
          for (let nextPageToken: string | undefined = "";;) {
            const page = await opened.call("listActivityExecutions", {
              pageSize: 1,
              nextPageToken,
            });
            pages.push(page.executions[0].activityId);
            nextPageToken = page.nextPageToken;
            if (nextPageToken === undefined) break;
          }
          assert.deepEqual(pages, QUERIES[0]![1]);
          const { groups } = await opened.call("countActivityExecutions", {
            query: "GROUP BY ExecutionStatus",
          });
          assert.deepEqual(
            groups.map(({ groupValues: [{ data }], count }: {
              groupValues: [{ data: string }];
              count: string;
            }) => [JSON.parse(atob(data)), count]),
            [["Running", "2"], ["Completed", "1"], ["Failed", "1"]],
          );
          const unknown = await rejection(ids(opened, "WorkflowId = 'x' AND ActivityIds = 'y'"));
          assert.equal(unknown.code, Code.INVALID_ARGUMENT);
          const { count } = await opened.call("countWorkflowExecutions", {});
          assert.equal(count, undefined);
          const workflows = await opened.call("listWorkflowExecutions", {});
          assert.equal(workflows.executions, undefined);
        });
        assert.deepEqual(store.check(), []);
        store.close();
      }),
  );

  test(
    `${kind.name}: the next engine continues with open activities`,
    { skip: kind.skip },
    () =>
      inFolder(async (folder) => {
        let store: Store = kind.open(join(folder, "a.sqlite"));
        const copy = join(folder, "b.sqlite");
        let runId = "";
        await ActivityEngine.during(store, async (opened) => {
          await fill(opened);
          ({ runId } = await opened.describe({ activityId: "running" }));
          // The copy is the file after a crash.
          if (kind.driver !== undefined) opened.engine.backup(copy);
        });
        if (kind.driver !== undefined) {
          store.close();
          store = kind.open(copy);
        }
        const nowMs = START_MS + 4000;
        await ActivityEngine.during(store, async (opened) => {
          // The worker of the attempt was in the process that ended.
          const task = await opened.poll();
          assert.deepEqual([task.activityRunId, task.attempt, valuesIn(task.input)], [
            runId,
            2,
            ["in"],
          ]);
          await opened.complete(task.taskToken, 2);
          assert.deepEqual(valuesIn((await opened.outcome("running")).result), [2]);
          assert.deepEqual(valuesIn((await opened.outcome("done")).result), ["r"]);
          opened.advance(1000);
          assert.deepEqual((await opened.poll("q2")).activityId, "waiting");
          assert.equal(await opened.engine.purge({ closedBefore: nowMs }), 2);
          assert.deepEqual(await ids(opened, ""), ["waiting", "running"]);
          assert.equal(await opened.engine.purge({ closedBefore: nowMs + 60_000 }), 1);
          assert.deepEqual(await ids(opened, ""), ["waiting"]);
        }, { nowMs });
        store.close();
      }),
  );
}

test("workers of other processes keep their attempts when the engine opens again", async () => {
  const store = new MemoryStore();
  let taskToken = "";
  const remote = { remoteWorkers: true };
  await ActivityEngine.during(store, async (opened) => {
    await opened.start({ startToCloseTimeout: "10s" });
    ({ taskToken } = await opened.poll());
  }, remote);
  await ActivityEngine.during(store, async (opened) => {
    await opened.complete(taskToken, "kept");
    assert.deepEqual(valuesIn((await opened.outcome()).result), ["kept"]);
  }, { ...remote, nowMs: START_MS + 9000 });
});

test("a timeout that passed while no engine ran is found at the opening", async () => {
  const store = new MemoryStore();
  await ActivityEngine.during(store, (opened) => opened.start({ scheduleToCloseTimeout: "5s" }));
  await ActivityEngine.during(store, async (opened) => {
    const { failure } = await opened.outcome();
    assert.ok(failure.timeoutFailureInfo !== undefined);
  }, { nowMs: START_MS + 5000 });
});

for (const error of [new StoreError("no"), new StoreBusyError("locked")]) {
  test(`after a failed commit (${error.message}) nothing is acknowledged or lost`, async () => {
    const store = new ProbeStore(new MemoryStore());
    await ActivityEngine.during(store, async (opened) => {
      const { runId } = await opened.start({ activityId: "kept" });
      let failures = 0;
      store.onCommit = () => {
        if (failures++ < 1) throw error;
      };
      const acknowledged = await opened.start({ activityId: "b" }).then(() => true, () => false);
      assert.equal(failures > 0, true);
      await until(
        "the store works again",
        async () => (await opened.describe({ activityId: "kept" })).runId === runId,
      );
      const exists = await opened.describe({ activityId: "b" }).then(() => true, () => false);
      assert.equal(exists, acknowledged);
    });
  });
}

test("a task whose commit fails goes to another poll, as the same attempt", async () => {
  const store = new ProbeStore(new MemoryStore());
  await ActivityEngine.during(store, async (opened) => {
    await opened.start();
    let isFailing = true;
    store.onCommit = () => {
      if (isFailing) throw new StoreError("no");
    };
    const lost = await rejection(opened.poll());
    assert.equal(lost.code, Code.UNAVAILABLE);
    isFailing = false;
    const task = await opened.poll();
    assert.equal(task.attempt, 1);
    await opened.complete(task.taskToken);
    assert.equal((await opened.describe()).status, "ACTIVITY_EXECUTION_STATUS_COMPLETED");
  });
});

test("a killed process has lost no acknowledged start and no result", () =>
  inFolder(async (folder) => {
    const path = join(folder, "a.sqlite");
    const child = startModule(new URL("./started_until_killed.ts", import.meta.url), [path]);
    const acknowledged: string[] = [];
    while (acknowledged.length < 40) acknowledged.push(await nextLine(child));
    child.process.kill("SIGKILL");
    for await (const line of child.lines) acknowledged.push(line);
    await child.exited;
    const store = SqliteStore.open(path);
    await ActivityEngine.during(store, async (opened) => {
      for (const line of acknowledged) {
        const [what, activityId] = line.split(" ") as [string, string];
        const info = await opened.describe({ activityId });
        if (what === "started") continue;
        assert.equal(info.status, "ACTIVITY_EXECUTION_STATUS_COMPLETED", line);
        assert.deepEqual(valuesIn((await opened.outcome(activityId)).result), [activityId]);
      }
    });
    assert.deepEqual(store.check(), []);
    store.close();
  }));

test("a store that is only read describes its activities", () =>
  inFolder(async (folder) => {
    const kind = storeKinds.find(({ driver, skip }) => driver !== undefined && skip === false);
    if (kind === undefined) return;
    const path = join(folder, "a.sqlite");
    const store = kind.open(path);
    await ActivityEngine.during(store, fill);
    const service = await ReadOnlyService.open(store);
    const { input, output } = WorkflowService.method.listActivityExecutions;
    const bytes = await service.call("listActivityExecutions", toBinary(input, create(input)));
    assert.equal(fromBinary(output, bytes).executions.length, 4);
    await service.close();
  }));

test("descriptions and lists have the registered type of a search attribute that came without one", () =>
  ActivityEngine.during(new MemoryStore(), async (opened) => {
    opened.engine.addSearchAttributes({ customer: "Keyword" });
    const { metadata: { encoding }, data } = keyword("ada");
    const indexedFields = { customer: { metadata: { encoding }, data } };
    await opened.start({ searchAttributes: { indexedFields } });
    const { executions: [listed] } = await opened.call("listActivityExecutions", {});
    const { info } = await opened.call("describeActivityExecution", { activityId: "a" });
    for (const { searchAttributes } of [listed, info]) {
      assert.equal(atob(searchAttributes.indexedFields.customer.metadata.type), "Keyword");
    }
  }));
