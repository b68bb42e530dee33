// A store that fails its n-th commit, for every n of a scripted scenario, in three ways: nothing of
// the commit is kept; all of it is kept but reported as failed; the process dies, and a new engine
// opens what was kept. In each case acknowledged changes are there, changes that were never
// requested are not, nothing is recorded twice, and every workflow ends.
// takes: 12 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { EmbeddedEngine, MemoryStore, SqliteStore, type Store } from "../../../ts/engine/mod.ts";
import { type RawService, ServiceError } from "../../../ts/service/raw.ts";
import type { DriverName } from "../../../ts/engine/sqlite/driver.ts";
import { ProbeStore } from "./support/probe_store.ts";
import { inFolder, sqliteDrivers } from "./support/stores.ts";
import { insist, Script, seen } from "./support/script_worker.ts";
import { until } from "../../support/until.ts";

const WORKFLOWS = ["a", "b", "c"];
type Way = "refused" | "kept but refused" | "died before" | "died after";
const WAYS: readonly Way[] = ["refused", "kept but refused", "died before", "died after"];

/** What was asked for and what was acknowledged. */
class Ledger {
  readonly asked = new Set<string>();
  readonly acknowledged = new Set<string>();

  async call<T>(what: string, call: () => Promise<T>): Promise<T> {
    this.asked.add(what);
    const answer = await insist(call);
    this.acknowledged.add(what);
    return answer;
  }
}

/**
 * Passes calls to the engine of the moment; a call that the death of an engine cut off is refused
 * like a lost connection.
 */
class Connection implements RawService {
  engine: EmbeddedEngine | undefined;

  call(...args: Parameters<RawService["call"]>): Promise<Uint8Array> {
    if (this.engine === undefined) return Promise.reject(new ServiceError(14, "not connected"));
    return this.engine.call(...args);
  }
}

async function scenario(inner: Store, way: Way, failing: number): Promise<number> {
  const probe = new ProbeStore(inner);
  const connection = new Connection();
  const ledger = new Ledger();
  const open = async () =>
    connection.engine = await EmbeddedEngine.open({ store: probe, onError: () => {} });
  let reopened: Promise<unknown> | undefined;
  let dead = false;
  const die = () => {
    // Everything of the old engine after this moment is the work of a process that is not there any
    // more.
    dead = true;
    const old = connection.engine!;
    connection.engine = undefined;
    reopened = Promise.resolve().then(async () => {
      await old.close();
      dead = false;
      await open();
    });
  };
  probe.onCommit = (n) => {
    if (dead) throw new Error("the process is dead");
    if (n !== failing) return;
    if (way === "died before") die();
    if (way === "refused" || way === "died before") throw new Error("the disk is full");
  };
  probe.onCommitted = (n) => {
    if (n !== failing) return;
    if (way === "died after") die();
    if (way === "kept but refused" || way === "died after") {
      throw new Error("the response of the disk was lost");
    }
  };
  await open();
  const script = new Script(connection);
  script.startWorker(2);
  await Promise.all(WORKFLOWS.map(async (id) => {
    await ledger.call(
      `start ${id}`,
      () => script.start(id, { steps: 3, timers: true, signals: 2 }),
    );
    await ledger.call(`signal ${id} 1`, () => script.signal(id, `${id} 1`, `request ${id} 1`));
    await ledger.call(`update ${id}`, () => script.update(id, `update-${id}`));
    await ledger.call(`signal ${id} 2`, () => script.signal(id, `${id} 2`, `request ${id} 2`));
    const result = await insist(() => script.result(id));
    assert.deepEqual(result.steps, [1, 2, 3]);
    assert.deepEqual(result.signals, [`${id} 1`, `${id} 2`]);
  }));
  await script.stopWorker();
  await reopened;
  await connection.engine!.close();
  // The check reads the store with a new engine, which saw no part of the scenario.
  const judge = await EmbeddedEngine.open({ store: inner });
  const reader = new Script(judge);
  assert.equal(inner.count(), WORKFLOWS.length, "a run that was never requested");
  for (const id of WORKFLOWS) {
    const events = await reader.history(id);
    assert.deepEqual(events.map((event) => Number(event.eventId)), events.map((_, i) => i + 1));
    const state = seen(events);
    assert.deepEqual(state.signals, [`${id} 1`, `${id} 2`]);
    assert.deepEqual(state.accepted, [`update-${id}`]);
    assert.deepEqual(state.completed, [1, 2, 3]);
    assert.equal(state.timersFired, state.timersStarted);
    assert.equal(state.closed, true);
  }
  assert.deepEqual(ledger.acknowledged, ledger.asked);
  assert.deepEqual(inner.check(), []);
  await judge.close();
  return probe.commits;
}

/**
 * Several scenarios run at a time, because a lost task is redelivered only after its timeout; too
 * many would let other tasks time out. The number of commits differs from run to run, so the loop
 * continues until the failing commit is never reached.
 */
async function everyCommit(way: Way): Promise<void> {
  let n = 0;
  let failed = 0;
  let past = false;
  await Promise.all(Array.from({ length: 6 }, async () => {
    while (!past) {
      const failing = ++n;
      if (await scenario(new MemoryStore(), way, failing) < failing) past = true;
      else failed++;
    }
  }));
  assert.ok(failed > 10, `${failed} commits failed`);
}

const someCommits = (driver: DriverName) =>
  inFolder(async (folder) => {
    await Promise.all(WAYS.flatMap((way) =>
      [2, 5].map(async (n) => {
        const store = SqliteStore.open(join(folder, `${way}-${n}.db`), {
          driver,
          synchronous: "NORMAL",
        });
        try {
          await scenario(store, way, n);
        } finally {
          store.close();
        }
      })
    ));
  });

for (const way of WAYS) test(`memory: every commit once ${way}`, () => everyCommit(way));
for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: some commits once in each way`, { skip }, () => someCommits(driver));
}

test("a temporarily failing store fails its callers, and every workflow resumes afterwards", async () => {
  const store = new ProbeStore(new MemoryStore());
  let full = false;
  store.onCommit = () => {
    if (full) throw new Error("the disk is full");
  };
  const errors: Error[] = [];
  const engine = await EmbeddedEngine.open({ store, onError: (e) => errors.push(e) });
  const script = new Script(engine);
  await script.start("wf", { steps: 0, signals: 3 });
  await script.signal("wf", 1);
  full = true;
  for (let i = 0; i < 3; i++) {
    await assert.rejects(script.signal("wf", "lost"), (e: unknown) => {
      assert.ok(
        e instanceof ServiceError && e.code === 14 && e.reason === "NotRecorded" &&
          /was not recorded \(.*disk is full\); retry/.test(e.message),
      );
      return true;
    });
  }
  assert.equal(errors.length, 3);
  const tries = store.commits;
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(store.commits, tries, "a failing store is not asked in a loop");
  full = false;
  await insist(() => script.signal("wf", 2));
  await script.signal("wf", 3);
  script.startWorker();
  assert.deepEqual((await script.result("wf")).signals, [1, 2, 3]);
  await script.stopWorker();
  await engine.close();
});

test("a timer whose commits fail fires when they succeed, and the engine does not spin meanwhile", async () => {
  const store = new ProbeStore(new MemoryStore());
  let full = false;
  const engine = await EmbeddedEngine.open({ store, onError: () => {} });
  // Nothing is lost here, so no redelivery is needed: the timer is the only deadline.
  const script = new Script(engine, 60);
  await script.start("wf", { steps: 3, timers: true });
  // Up to the timer of the third step.
  for (let i = 0; i < 2; i++) {
    await script.completeTask((await script.pollWorkflow())!);
    await script.runActivity();
  }
  const task = (await script.pollWorkflow())!;
  // After the commit that starts the timer the disk is full: the next one is the timer's, whenever
  // it is due.
  let tries = 0;
  full = true;
  store.onCommit = () => {
    if (full && tries++ > 0) throw new Error("the disk is full");
  };
  await script.completeTask(task);
  const began = performance.now();
  await until("the timer is due, and its commit is tried again", () => tries > 3);
  await new Promise((resolve) => setTimeout(resolve, 400));
  const most = 10 + (performance.now() - began) / 50;
  assert.ok(tries < most, `${tries} tries in ${performance.now() - began} ms`);
  full = false;
  script.startWorker();
  assert.deepEqual((await script.result("wf")).steps, [1, 2, 3]);
  await script.stopWorker();
  await engine.close();
});

test("a run that the store temporarily cannot read resumes later", async () => {
  const store = new ProbeStore(new MemoryStore());
  const first = await EmbeddedEngine.open({ store });
  await new Script(first).start("wf", { steps: 2 });
  await new Script(first).start("other", { steps: 1 });
  await first.close();
  let broken = true;
  store.onLoad = (id) => {
    if (broken && id === "wf") throw new Error("a bad sector");
  };
  const errors: Error[] = [];
  const engine = await EmbeddedEngine.open({ store, onError: (e) => errors.push(e) });
  const script = new Script(engine);
  script.startWorker();
  assert.deepEqual((await script.result("other")).steps, [1]);
  await assert.rejects(script.signal("wf", 1), (e: unknown) => {
    assert.ok(
      e instanceof ServiceError && e.code === 14 &&
        /could not read workflow wf: a bad sector/.test(e.message),
      String(e),
    );
    return true;
  });
  // A start must not take the id for free.
  await assert.rejects(
    script.start("wf", { steps: 0 }, "another request"),
    (e: unknown) => e instanceof ServiceError && e.code === 14,
  );
  assert.equal(store.count(), 2);
  assert.ok(errors.length > 0);
  broken = false;
  // No call loads the run: it resumes by itself.
  await until("the run has ended", () => store.inner.load("wf")?.row?.status !== 1);
  assert.equal(store.inner.load("wf")?.row?.status, 2);
  await script.stopWorker();
  await engine.close();
});

test("repeated commit failures back off, and a success resets the delay", async () => {
  const store = new ProbeStore(new MemoryStore());
  const engine = await EmbeddedEngine.open({ store, onError: () => {} });
  const script = new Script(engine);
  const RETRIES = [10, 50, 200, 1000];
  const delays: number[] = [];
  const real = globalThis.setTimeout;
  globalThis.setTimeout = ((callback: () => void, ms = 0, ...rest: unknown[]) => {
    // A part of the first millisecond has passed when the timer is set.
    if (RETRIES.includes(Math.ceil(ms))) delays.push(Math.ceil(ms));
    return (real as (...args: unknown[]) => unknown)(callback, ms, ...rest);
  }) as typeof setTimeout;
  try {
    let broken = true;
    store.onCommit = () => {
      if (broken) throw new Error("no space");
    };
    for (const id of ["a", "b", "c"]) {
      await assert.rejects(script.start(id, { steps: 0 }), /no space/);
    }
    broken = false;
    await script.start("d", { steps: 0 });
    broken = true;
    await assert.rejects(script.start("e", { steps: 0 }), /no space/);
  } finally {
    globalThis.setTimeout = real;
  }
  assert.deepEqual(delays, [10, 50, 200, 10]);
  store.onCommit = undefined;
  await engine.close();
});

test("if the store cannot be read while the engine opens, reading is retried", async () => {
  class Flaky extends ProbeStore {
    failures = 2;
    override ready(...args: Parameters<ProbeStore["ready"]>) {
      if (this.failures-- > 0) throw new Error("a bad sector");
      return super.ready(...args);
    }
  }
  const inner = new MemoryStore();
  const first = await EmbeddedEngine.open({ store: inner });
  await new Script(first).start("wf", { steps: 1 });
  assert.equal(first.stats().commits, 1);
  await first.close();
  const errors: Error[] = [];
  const engine = await EmbeddedEngine.open({
    store: new Flaky(inner),
    onError: (e) => errors.push(e),
  });
  const script = new Script(engine);
  script.startWorker();
  // No call loads the run: the engine itself finds the due work.
  await until("the run has ended", () => inner.load("wf")?.row?.status === 2);
  assert.equal(errors.length, 2);
  await script.stopWorker();
  await engine.close();
});
