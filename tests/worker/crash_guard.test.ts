// Tasks of held runs that wait for a release in their worker's slots.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../ts/client/mod.ts";
import { HeldRuns } from "../../ts/crash_notes/held_runs.ts";
import { RunningTasks } from "../../ts/crash_notes/running_tasks.ts";
import { CrashGuard } from "../../ts/worker/crash_guard.ts";
import { headWith } from "../support/realms.ts";
import { ManualTimers, settle } from "../support/manual_timers.ts";

function setting(slots: number, runs: number) {
  const held = Array.from({ length: runs }, (_, i) => (
    { workflowId: `w${i}`, runId: `r${i}`, workflowType: "W", deaths: 2, since: 0 }
  ));
  let text = JSON.stringify({ held });
  const note = { read: () => text, write: (next: string) => void (text = next), version: () => text };
  const heldRuns = new HeldRuns(note);
  const running = new RunningTasks({ work: { read: () => "", write() {}, remove() {} }, held: heldRuns });
  const guard = new CrashGuard({ running, timers: new ManualTimers(), slots, refuse: () => Promise.resolve() });
  const waiting = new Set<string>();
  const tasks = held.map(async ({ workflowId, runId, workflowType }) => {
    const head = headWith({ workflowId, runId, workflowType, attempt: 2 });
    waiting.add(runId);
    await guard.heldBack({ head, bytes: new Uint8Array(0) }, silentLogger);
    waiting.delete(runId);
  });
  return { guard, waiting, end: () => (guard.letGo(), Promise.all(tasks)) };
}

for (const [slots, parked] of [[2, 1], [5, 2], [100, 8]] as const) {
  test(`of ${slots} slots of a worker, tasks of held runs keep ${parked}`, async () => {
    const { waiting, end } = setting(slots, 12);
    await new Promise((resolve) => setTimeout(resolve, 0));
    assert.equal(waiting.size, parked);
    await end();
    assert.equal(waiting.size, 0);
  });
}

test("a task is noted until it has ended, whether it fails or not", async () => {
  let noted = "";
  const work = { read: () => noted, write: (text: string) => void (noted = text), remove: () => void (noted = "") };
  const running = new RunningTasks({ work, held: undefined });
  const guard = new CrashGuard({ running, timers: new ManualTimers(), slots: 2, refuse: () => Promise.resolve() });
  const head = headWith({ runId: "r1" });
  for (const fails of [false, true]) {
    let end = () => {};
    const ran = guard.run(head, () =>
      new Promise<string>((resolve, reject) => {
        end = () => fails ? reject(new Error("the realm has ended")) : resolve("done");
      }));
    await settle();
    assert.match(noted, /r1/);
    end();
    assert.equal(await ran.catch((error: Error) => error.message), fails ? "the realm has ended" : "done");
    assert.doesNotMatch(noted, /r1/);
  }
});
