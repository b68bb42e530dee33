// Which runs are suspected after a death of the process, which are held, and which are not.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { noteText, workNote } from "../../../ts/crash_notes/note_files.ts";
import { describeHeld, HeldRuns } from "../../../ts/crash_notes/held_runs.ts";
import { RunningTasks } from "../../../ts/crash_notes/running_tasks.ts";
import { ManualTimers } from "../../support/manual_timers.ts";

const run = (runId: string) => ({ workflowId: `w-${runId}`, runId, workflowType: "W" });
/** Long enough that a death counts in full. */
const LASTING_MS = 250;
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

/**
 * A place for notes, and processes one after the other; `die` leaves the notes as a killed process
 * does.
 */
function place() {
  const work = { text: "" };
  const state = { text: "", changes: 0 };
  const note = {
    read: () => state.text,
    write: (text: string) => {
      state.text = text;
      state.changes++;
    },
    version: () => String(state.changes),
  };
  const timers = new ManualTimers();
  const start = (isOpen?: (run: { runId: string }) => boolean) => {
    let dead = false;
    const running = new RunningTasks({
      work: {
        read: () => work.text,
        write: (text) => void (!dead && (work.text = text)),
        remove: () => void (!dead && (work.text = "")),
      },
      held: new HeldRuns(note),
      timers,
      ...(isOpen && { isOpen }),
    });
    return { running, die: () => dead = true };
  };
  /** Lets a run enter, when its turn has come. */
  const enter = async (running: RunningTasks, id: string) => {
    const turn = running.enter(run(id));
    if (turn !== undefined) await timers.advance(1000);
    await turn;
  };
  return { start, enter, held: () => new HeldRuns(note), work, timers };
}

test("a run that is alone in two deaths in a row is held, and a release lets it continue", async () => {
  const { start, enter, held, timers } = place();
  for (let death = 1; death <= 2; death++) {
    const { running, die } = start();
    assert.equal(running.held("a"), undefined);
    await enter(running, "a");
    await timers.advance(LASTING_MS);
    die();
  }
  const { running } = start();
  assert.deepEqual(running.takeDied(), [run("a")]);
  assert.deepEqual(running.takeDied(), [], "it is reported once");
  assert.equal(running.held("a")?.deaths, 2);
  assert.match(
    describeHeld(running.held("a")!),
    /died 2 times in a row .* temporalex workflow release --workflow-id w-a$/,
  );
  assert.deepEqual(held().release("w-a", "another"), []);
  assert.equal(held().release("w-a").length, 1, "by another process");
  assert.equal(running.held("a"), undefined);
});

test("deaths with several runs hold no run: suspected runs run alone, one after the other, and are cleared", async () => {
  const { start, held } = place();
  for (let death = 1; death <= 5; death++) {
    const { running, die } = start();
    const admitted = ["a", "b", "c"].map((id) => running.enter(run(id)));
    if (death > 1) {
      assert.ok(admitted.every((turn) => turn !== undefined), "all wait for their turns");
      for (const [i, id] of ["a", "b", "c"].entries()) {
        await admitted[i];
        running.leave(run(id), true);
      }
      for (const id of ["a", "b", "c"]) assert.equal(running.enter(run(id)), undefined, "cleared");
    }
    await settled();
    die();
  }
  assert.deepEqual(held().list(), []);
});

test("crashes that are too early for an out-of-memory error count less: only many of them hold a run", async () => {
  const { start, enter } = place();
  let deaths = 0;
  for (; start().running.held("a") === undefined; deaths++) {
    assert.ok(deaths < 20, "it is held in the end");
    const { running, die } = start();
    await enter(running, "a");
    await settled();
    die();
  }
  assert.equal(deaths, 8);
});

test("a task that ends clears its run; a query does not", async () => {
  for (const clears of [true, false]) {
    const { start, enter, timers } = place();
    for (let death = 1; death <= 2; death++) {
      const { running, die } = start();
      await enter(running, "a");
      running.leave(run("a"), clears);
      await enter(running, "a");
      await timers.advance(LASTING_MS);
      die();
    }
    assert.equal(start().running.held("a") !== undefined, !clears, String(clears));
  }
});

test("a process that is killed while no task runs, or exits by itself, suspects no run", async () => {
  const { start, work } = place();
  const first = start();
  await first.running.enter(run("a"));
  first.running.leave(run("a"), true);
  first.die();
  const second = start();
  assert.deepEqual(second.running.takeDied(), []);
  await second.running.enter(run("a"));
  await settled();
  second.running.close();
  assert.equal(work.text, "");
  assert.deepEqual(start().running.takeDied(), []);
});

test("a suspected run waits briefly after the start of the process without delaying others", async () => {
  const { start, timers } = place();
  const first = start();
  await first.running.enter(run("a"));
  await settled();
  first.die();
  const { running } = start();
  let entered = false;
  const turn = running.enter(run("a"))!.then(() => entered = true);
  const other = running.enter(run("b"));
  await other;
  running.leave(run("b"), true);
  await timers.advance(999);
  assert.ok(!entered, "it waits for a second");
  await timers.advance(1);
  await turn;
  const third = running.enter(run("c"));
  assert.ok(third !== undefined, "it runs alone");
  running.leave(run("a"), true);
  await third;
});

test("closed runs are no longer suspected or held, and a damaged note is ignored", async () => {
  const { start, enter, held, work, timers } = place();
  for (let death = 1; death <= 2; death++) {
    const { running, die } = start();
    await enter(running, "a");
    await timers.advance(LASTING_MS);
    die();
  }
  assert.equal(start().running.held("a")?.deaths, 2);
  start(() => false);
  assert.deepEqual(held().list(), []);
  work.text = "\u0000{[\n";
  assert.deepEqual(start().running.takeDied(), []);
});

test("only the owner can read notes; overwriting a long note leaves no old content", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-notes-"));
  try {
    const path = join(folder, "tasks");
    writeFileSync(path, "\n", { mode: 0o644 });
    const work = workNote(path)!;
    const held = new HeldRuns(noteText(join(folder, "held"))!);
    const running = new RunningTasks({ work, held });
    await running.enter(run("a".repeat(500)));
    await running.enter(run("b"));
    await settled();
    running.leave(run("a".repeat(500)), true);
    await running.enter(run("c"));
    await settled();
    if (process.platform !== "win32") assert.equal(statSync(path).mode & 0o777, 0o600);
    // Another process reads it.
    const next = new RunningTasks({
      work: { read: () => readFileSync(path, "utf8"), write() {}, remove() {} },
      held,
    });
    assert.deepEqual(next.takeDied(), [run("b"), run("c")]);
    if (process.platform !== "win32") {
      assert.equal(statSync(join(folder, "held")).mode & 0o777, 0o600);
    }
    running.close();
    assert.throws(() => statSync(path), { code: "ENOENT" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
