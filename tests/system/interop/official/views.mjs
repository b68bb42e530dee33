// What is seen of runs: descriptions, lists, search attributes; many and large ones.
import { Client } from "@temporalio/client";
import { until } from "../../../../dist/tests/support/until.js";
import { connection, outcome, run, start, taskQueue, workflow } from "./stage.mjs";

export const scenarios = {
  async describes() {
    const handle = await start("account", { id: "described", memo: { m: 1 }, exact: false });
    await until("idle", async () => (await handle.fetchHistory()).events.length >= 4);
    const {
      type,
      workflowId,
      status,
      historyLength,
      memo,
      taskQueue: queue,
      closeTime,
      parentExecution,
    } = await handle
      .describe();
    const pending = (await handle.describe()).raw.pendingActivities.length;
    await handle.terminate();
    const after = await handle.describe();
    return [
      type,
      workflowId,
      status.name,
      historyLength,
      memo,
      queue,
      closeTime,
      parentExecution,
      pending,
      after.status.name,
      after.closeTime instanceof Date,
    ];
  },
  async lists() {
    for (let i = 0; i < 5; i++) {
      await start("hello", { id: `listed-${i}`, args: [String(i)], exact: false }).then((each) =>
        each.result()
      );
    }
    const query =
      "WorkflowId STARTS_WITH 'listed-' AND ExecutionStatus = 'Completed' AND WorkflowType = 'hello'";
    await until("indexed", async () => (await workflow.count(query)).count === 5);
    const ids = [];
    for await (const each of workflow.list({ query, pageSize: 2 })) ids.push(each.workflowId);
    return [
      ids.sort(),
      (await workflow.count(`${query} GROUP BY ExecutionStatus`)).groups.map(({ count }) => count),
    ];
  },
  async eagerStart() {
    const bound = new Client({ connection });
    const handle = await outcome(
      bound.workflow.start("hello", {
        workflowId: "eager",
        taskQueue,
        args: ["eager"],
        requestEagerStart: true,
      }),
    );
    return handle.error ?? await outcome(handle.value.result());
  },
  async notFound() {
    const handle = workflow.getHandle("absent");
    return [
      await outcome(handle.describe()),
      await outcome(handle.result()),
      await outcome(handle.signal("x")),
      await outcome(handle.query("x")),
      await outcome(handle.cancel()),
      await outcome(handle.terminate()),
      await outcome(handle.executeUpdate("x")),
    ];
  },
  async manyAtOnce() {
    const runs = Array.from(
      { length: 30 },
      (_, i) => run("busy", { id: `busy-${i}`, args: [3, 4], exact: false }),
    );
    return (await Promise.all(runs)).map(({ value }) => value);
  },
  async large() {
    const text = "x".repeat(600_000);
    const { value } = await run("hello", { id: "large", args: [text], exact: false });
    return [
      value.length,
      (await outcome(start("hello", { id: "larger", args: ["x".repeat(2_500_000)] }))).error?.name,
    ];
  },
  async typesOfAttributes() {
    const [keyword, int, double, bool, datetime, list] = [2, 3, 4, 5, 6, 7];
    const searchAttributes = {
      AnyKeyword: keyword,
      AnyInt: int,
      AnyDouble: double,
      AnyBool: bool,
      AnyTime: datetime,
      AnyList: list,
    };
    // A server wants to know the names, and takes a moment for it; temporalex dev has no register.
    await connection.operatorService.addSearchAttributes({ namespace: "default", searchAttributes })
      .catch(() => {});
    const values = {
      AnyKeyword: ["k"],
      AnyInt: [4],
      AnyDouble: [1.5],
      AnyBool: [true],
      AnyTime: [new Date(1e12)],
      AnyList: ["a", "b"],
    };
    const handle = await until(
      "the names are known",
      () => start("typedAttributes", { searchAttributes: values }).catch(() => undefined),
    );
    const seen = await handle.result();
    const { searchAttributes: untyped, typedSearchAttributes } = await handle.describe();
    const { BuildIds: _, ...shown } = untyped;
    const typed = typedSearchAttributes.getAll().filter(({ key }) => key.name !== "BuildIds");
    return [seen, shown, typed.map(({ key, value }) => [key.name, key.type, value]).sort()];
  },
};
