// Waits in virtual time next to workflows whose task or activity keeps failing.
// takes: 5 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/mod.ts";
import { KeepsFailingError, TestEnvironment } from "../../../ts/testing/mod.ts";
import {
  activities,
  executeChild,
  parallel,
  sleep,
  startChild,
  workflow,
} from "../../../ts/workflow/mod.ts";

const { decline } = activities<{ decline(): void }>({
  startToClose: "1s",
  retry: { initialInterval: "1s", backoffCoefficient: 1 },
});

const nap = workflow("Nap", async () => {
  await sleep("17 minutes");
  return "rested";
});
const buggy = workflow("Buggy", async () => {
  await sleep(1);
  throw new TypeError("a bug");
});
const declining = workflow("Declining", () => decline());
const parent = workflow("Parent", (): Promise<void> => executeChild(buggy, { id: "child" }));
const grandparent = workflow(
  "Grandparent",
  (): Promise<void> => executeChild(parent, { id: "parent" }),
);
const starts = workflow("Starts", async () => {
  await startChild(buggy, { id: "child", parentClosePolicy: "ABANDON" });
  await sleep("17 minutes");
  return "started";
});
const siblings = workflow("Siblings", async () => {
  const [failed, rested] = await parallel([
    () => executeChild(buggy, { id: "child" }),
    () => executeChild(nap, { id: "nap" }),
  ]);
  return `${failed.ok} ${rested.ok}`;
});

const workflows = [nap, buggy, declining, parent, grandparent, starts, siblings];

async function withWorker(body: (env: TestEnvironment) => Promise<void>): Promise<void> {
  const env = await TestEnvironment.create({ logger: silentLogger });
  try {
    const failing = {
      decline: () => {
        throw new Error("declined");
      },
    };
    await env.runWorker({ workflows, activities: failing, logger: silentLogger }, () => body(env));
  } finally {
    await env.dispose();
  }
}

const keepsFailing = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof KeepsFailingError, String(error));
  assert.match(error.message, message);
  return true;
};

test("a workflow task of another workflow that keeps failing does not end the wait", () =>
  withWorker(async ({ client }) => {
    const failing = assert.rejects(
      client.execute(buggy, { id: "buggy" }),
      keepsFailing(/workflow task of buggy .*a bug/),
    );
    assert.equal(await client.execute(nap, { id: "nap" }), "rested");
    await failing;
  }));

test("an activity of another workflow that keeps failing does not end the wait", () =>
  withWorker(async ({ client }) => {
    const failing = assert.rejects(
      client.execute(declining, { id: "declining" }),
      keepsFailing(/activity decline .*declined/),
    );
    assert.equal(await client.execute(nap, { id: "nap" }), "rested");
    await failing;
  }));

test("a child that keeps failing ends the waits for its parents", () =>
  withWorker(async ({ client }) => {
    await assert.rejects(
      client.execute(grandparent, { id: "grandparent" }),
      keepsFailing(/workflow task of child .*a bug/),
    );
  }));

test("a child that keeps failing does not end the wait for a parent that has a timer", () =>
  withWorker(async ({ client }) => {
    assert.equal(await client.execute(starts, { id: "starts" }), "started");
  }));

test("a child that keeps failing ends the wait for a parent only after the other children", () =>
  withWorker(async ({ client }) => {
    const handle = await client.start(siblings, { id: "siblings" });
    const rested = client.getHandle(nap, "nap");
    await assert.rejects(handle.result(), keepsFailing(/workflow task of child .*a bug/));
    assert.equal((await rested.describe()).status, "COMPLETED");
  }));
