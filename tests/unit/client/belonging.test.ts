// Workflows that belong to an entity or to a group: they are found by it, and what is done to all
// of it reaches all that run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type App, open, silentLogger } from "../../../ts/mod.ts";
import { continueAsNew, signal, waitForSignal, workflow } from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";

const stack = signal<[n: number]>("stack");

/** Damage over time: continues as new once, then waits. */
const dot = workflow("Dot", async (target: string, generation: number): Promise<unknown> => {
  if (generation === 0) return continueAsNew(target, 1);
  return await waitForSignal(stack);
});
const buff = workflow("Buff", async () => await waitForSignal(stack));

async function withApp(body: (app: App) => Promise<void>): Promise<void> {
  const app = await open({ workflows: { dot, buff }, logger: silentLogger });
  try {
    await body(app);
  } finally {
    await app.close();
  }
}

async function ids(list: AsyncIterable<{ workflowId: string; status: string }>): Promise<string[]> {
  const found = new Set<string>();
  for await (const { workflowId } of list) found.add(workflowId);
  return [...found].sort();
}

test("entity and correlation find workflows, over continue-as-new, and cancel reaches a whole group", () =>
  withApp(async ({ client }) => {
    for (const target of ["41", "42", "43"]) {
      await client.start(dot, {
        id: `dot-${target}`,
        args: [target, 0],
        entityId: target,
        correlationId: "spell-1",
      });
    }
    await client.start(buff, { id: "buff-42", args: [], entityId: "42" });
    const spell = client.workflows({ correlationId: "spell-1" });
    await until("all have continued as new", async () => await spell.count() === 6);
    assert.deepEqual(await ids(spell.list()), ["dot-41", "dot-42", "dot-43"]);
    assert.deepEqual(await ids(client.workflows({ entityId: "42" }).list()), ["buff-42", "dot-42"]);
    assert.deepEqual(await ids(client.workflows({ entityId: "42", workflow: buff }).list()), [
      "buff-42",
    ]);
    assert.deepEqual(await ids(client.workflows({ entityId: "4" }).list()), []);

    assert.equal(await client.workflows({ entityId: "41" }).signal(stack, 7), 1);
    assert.equal(await client.getHandle(dot, "dot-41").result(), 7);
    assert.equal(await spell.cancel("dispelled"), 2, "those that run");
    for (const target of ["42", "43"]) {
      await assert.rejects(client.getHandle(dot, `dot-${target}`).result(), {
        name: "WorkflowFailedError",
      });
    }
    assert.equal(await spell.cancel(), 0, "nothing is left");
    assert.equal((await client.getHandle(buff, "buff-42").describe()).status, "RUNNING");
    assert.equal(await client.workflows({ workflow: "Buff" }).terminate("over"), 1);
    assert.equal((await client.getHandle(buff, "buff-42").describe()).status, "TERMINATED");
  }));

test("entity and correlation are added to the start's search attributes, and any text is a valid id", () =>
  withApp(async ({ client }) => {
    const entityId = `o'neill "x" ORDER BY`;
    await client.start(buff, {
      id: "b",
      args: [],
      entityId,
      searchAttributes: { Region: "north" },
    });
    assert.deepEqual(await ids(client.workflows({ entityId }).list()), ["b"]);
    assert.deepEqual((await client.getHandle(buff, "b").describe()).searchAttributes, {
      Region: "north",
      WorkflowEntityId: entityId,
    });
    assert.deepEqual(
      await ids(client.list(`Region = 'north' AND ${client.workflows({ entityId }).query}`)),
      ["b"],
    );
  }));

test("an empty selection is rejected", () =>
  withApp(async ({ client }) => {
    assert.throws(
      () => client.workflows({}),
      /workflows\(\.\.\.\) needs entityId, correlationId or workflow; to list all workflows use list\(\)/,
    );
    assert.throws(
      () => client.workflows({ entityId: "" }),
      /entityId must be a non-empty string, not ""/,
    );
    assert.throws(
      () => client.workflows({ correlationId: 7 as unknown as string }),
      /correlationId must be a non-empty string, not 7/,
    );
    await assert.rejects(
      client.start(buff, { id: "b", args: [], entityId: 42 as unknown as string }),
      /entityId must be a non-empty string, not 42/,
    );
  }));
