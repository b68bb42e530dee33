// A run that was started with manual timers continues in a branch, which has no manual control: its
// timers fire when they are due.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readHistoryFile } from "../../../ts/debug/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import { runBranch } from "../../../ts/what_if/mod.ts";
import {
  createProgramRealm,
  eventId,
  formatHistoryLines,
  type Handle,
  PROGRAMS,
  START,
} from "./support.ts";

test("a branch of a run with manual timers continues: its timers fire when they are due", async () => {
  const env = await TestEnvironment.create({ startTime: START });
  try {
    const recorded = await env.runWorker({ workflows: PROGRAMS.native }, async () => {
      const options = { id: "by-hand", args: [], timers: "manual" };
      const handle = await env.client.start("Race" as never, options as never) as unknown as Handle;
      await env.advance("1 s");
      await handle.signal("go" as never, "left" as never);
      await env.advance("1 hour");
      assert.equal(
        (await handle.describe()).status,
        "RUNNING",
        "ten seconds have long passed, and no hand fired the timer",
      );
      return (await readHistoryFile(new TextEncoder().encode(await handle.historyJson()))).bytes;
    });
    const realm = await createProgramRealm("native");
    try {
      const edit = {
        kind: "payload",
        eventId: eventId(recorded, "workflowExecutionSignaled"),
        args: ["right"],
      } as const;
      const { history, outcome } = await runBranch(recorded, { realm, edits: [edit] });
      assert.equal(outcome.kind, "completed", JSON.stringify(outcome));
      assert.match(formatHistoryLines(history).at(-1)!, /"right" at 11 s/);
    } finally {
      await realm.dispose();
    }
  } finally {
    await env.dispose();
  }
});
