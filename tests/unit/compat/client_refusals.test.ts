// What the client refuses: a namespace that is not there is named by each call, as the official one
// does; schedules without what they need.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, Connection, NamespaceNotFoundError } from "../../../ts/compat/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/mod.ts";

test("every call throws an error that names a missing namespace", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  try {
    const { workflow } = new Client({ connection: Connection.over(engine), namespace: "nowhere" });
    const handle = workflow.getHandle("wf");
    const calls: { [name: string]: () => Promise<unknown> } = {
      list: () => workflow.list()[Symbol.asyncIterator]().next(),
      count: () => workflow.count(),
      start: () => workflow.start("Order", { workflowId: "wf", taskQueue: "q" }),
      describe: () => handle.describe(),
      signal: () => handle.signal("go"),
      query: () => handle.query("state"),
      cancel: () => handle.cancel(),
      terminate: () => handle.terminate(),
    };
    for (const [name, call] of Object.entries(calls)) {
      await assert.rejects(call(), (error) => {
        assert.ok(error instanceof NamespaceNotFoundError, `${name}: ${error}`);
        assert.equal(error.namespace, "nowhere", name);
        return true;
      });
    }
  } finally {
    await engine.close();
  }
});

test("a schedule without an id or an action is rejected with the option's name", async () => {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  try {
    const { schedule } = new Client({ connection: Connection.over(engine) });
    const create = (options: object) =>
      schedule.create(options as Parameters<typeof schedule.create>[0]);
    const ID = {
      name: "TypeError",
      message: "ScheduleOptions.scheduleId is required: a non-empty string",
    };
    const message =
      'ScheduleOptions.action is required: { type: "startWorkflow", workflowType, taskQueue }';
    const ACTION = { name: "TypeError", message };
    await assert.rejects(create({}), ID);
    await assert.rejects(create({ scheduleId: "" }), ID);
    await assert.rejects(create({ scheduleId: "nightly" }), ACTION);
    await assert.rejects(
      create({ scheduleId: "nightly", action: { type: "startWorkflow", taskQueue: "q" } }),
      ACTION,
    );
  } finally {
    await engine.close();
  }
});
