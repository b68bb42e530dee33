// Tasks of held runs that wait for a release in their worker's slots.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/client/mod.ts";
import { HeldRuns } from "../../../ts/crash_notes/held_runs.ts";
import { RunningTasks } from "../../../ts/crash_notes/running_tasks.ts";
import { CrashGuard } from "../../../ts/worker/workflow/crash_guard.ts";
import { headWith } from "../../support/realms.ts";
import { ManualTimers, settle } from "../../support/manual_timers.ts";

function setting(slots: number, runs: number) {
  const held = Array.from({ length: runs }, (_, i) => (
    { workflowId: `w${i}`, runId: `r${i}`, workflowType: "W", deaths: 2, since: 0 }
  ));
  let text = JSON.stringify({ held });
  const note = {
    read: () => text,
    write: (next: string) => void (text = next),
    version: () => text,
  };
  const heldRuns = new HeldRuns(note);
  const running = new RunningTasks({
    work: { read: () => "", write() {}, remove() {} },
    held: heldRuns,
  });
  const guard = new CrashGuard({
    running,
    timers: new ManualTimers(),
    slots,
    refuse: () => Promise.resolve(),
  });
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

test("a task is in the notes until it ends, whether it fails or not", async () => {
  let noted = "";
  const work = {
    read: () => noted,
    write: (text: string) => void (noted = text),
    remove: () => void (noted = ""),
  };
  const running = new RunningTasks({ work, held: undefined });
  const guard = new CrashGuard({
    running,
    timers: new ManualTimers(),
    slots: 2,
    refuse: () => Promise.resolve(),
  });
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
    assert.equal(
      await ran.catch((error: Error) => error.message),
      fails ? "the realm has ended" : "done",
    );
    assert.doesNotMatch(noted, /r1/);
  }
});

/** A guard whose notes stay when its process is killed; `suspect` has a death against it. */
function lives() {
  const work = { text: "" };
  let state = "", changes = 0;
  const note = {
    read: () => state,
    write: (text: string) => void (state = text, changes++),
    version: () => String(changes),
  };
  return {
    held: () => new HeldRuns(note).list().map(({ runId }) => runId),
    start() {
      let dead = false;
      const timers = new ManualTimers();
      const write = (text: string) => void (!dead && (work.text = text));
      const running = new RunningTasks({
        work: { read: () => work.text, write, remove: () => write("") },
        held: new HeldRuns(note),
        timers,
      });
      const guard = new CrashGuard({ running, timers, slots: 2, refuse: () => Promise.resolve() });
      return { guard, running, timers, kill: () => void (dead = true) };
    },
  };
}

const never = () => new Promise<never>(() => {});

test("a process that is killed while its runs wait outside of their realm suspects no run", async () => {
  const { start, held } = lives();
  for (let life = 0; life < 20; life++) {
    const { guard, running, timers, kill } = start();
    assert.deepEqual(running.takeDied(), [], `life ${life}`);
    for (const runId of ["r1", "r2"]) {
      void guard.run(headWith({ runId }), () => guard.waitOutside(runId, never));
      await settle();
    }
    await timers.advance(10_000);
    kill();
  }
  assert.deepEqual(held(), []);
});

test("a suspected run that waits outside lets other runs run, and runs alone again after its wait", async () => {
  const { start } = lives();
  const first = start();
  void first.guard.run(headWith({ runId: "suspect" }), async () => {
    await first.guard.waitOutside("suspect", () => Promise.resolve());
    await never();
  });
  await settle();
  first.kill();

  const { guard, running, timers } = start();
  assert.deepEqual(running.takeDied().map(({ runId }) => runId), ["suspect"]);
  const seen: string[] = [];
  let resolved = () => {};
  let done = () => {};
  const suspect = guard.run(headWith({ runId: "suspect" }), async () => {
    seen.push("suspect computes");
    await guard.waitOutside("suspect", () => new Promise<void>((resolve) => resolved = resolve));
    seen.push("suspect continues");
    await new Promise<void>((resolve) => done = resolve);
  });
  await timers.advance(1000);
  await settle();
  await guard.run(headWith({ runId: "other" }), () => Promise.resolve(seen.push("other")));
  resolved();
  await settle();
  const late = guard.run(headWith({ runId: "late" }), () => Promise.resolve(seen.push("late")));
  await settle();
  assert.deepEqual(seen, ["suspect computes", "other", "suspect continues"]);
  done();
  await Promise.all([suspect, late]);
  assert.deepEqual(seen.slice(3), ["late"]);
});

test("a run that crashes its process after a wait is held", async () => {
  const { start, held } = lives();
  for (let life = 1; life <= 2; life++) {
    const { guard, timers, kill } = start();
    void guard.run(headWith({ runId: "r1" }), async () => {
      await guard.waitOutside("r1", () => Promise.resolve());
      await never();
    });
    await timers.advance(1000);
    await settle();
    await timers.advance(250);
    kill();
  }
  start();
  assert.deepEqual(held(), ["r1"]);
});

test("a suspected run that passes the position of the crash is cleared before its task ends", async () => {
  const { start, held } = lives();
  for (let life = 1; life <= 20; life++) {
    const { guard, timers, kill } = start();
    // Each process is killed while the code after a wait computes, one wait later than the one
    // before.
    void guard.run(headWith({ runId: "r1" }), async () => {
      for (let wait = 0; wait < life; wait++) {
        await guard.waitOutside("r1", () => Promise.resolve());
      }
      await never();
    });
    await timers.advance(1000);
    await settle();
    await timers.advance(250);
    kill();
    assert.deepEqual(held(), [], `life ${life}`);
  }
});

for (
  const [what, query, expected] of [
    ["a query that survives does not clear", "total", ["r1"]],
    ["a task that survives clears", undefined, []],
  ] as const
) {
  test(`${what} the run whose task ended the process before`, async () => {
    const { start, held } = lives();
    for (let life = 1; life <= 2; life++) {
      const { guard, timers, kill } = start();
      if (life === 2) {
        const survived = guard.run(headWith({ runId: "r1", query }), () => Promise.resolve());
        await timers.advance(1000);
        await survived;
      }
      void guard.run(headWith({ runId: "r1" }), never);
      await timers.advance(1000);
      await settle();
      await timers.advance(250);
      kill();
    }
    start();
    assert.deepEqual(held(), expected);
  });
}

test("a wait of a run without a task in a realm is ignored", async () => {
  const { guard, running } = lives().start();
  assert.equal(await guard.waitOutside("r1", () => Promise.resolve(5)), 5);
  assert.equal(running.computing("r1"), undefined);
});
