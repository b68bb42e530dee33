// A run that the store fails to read is read again ever later, and soon again once the store has
// recovered.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RunReader } from "../../../ts/engine/run_reader.ts";

test("reads of a failing store back off, and reads of a recovered store resume soon", () => {
  let broken = true;
  let reads = 0;
  let errors = 0;
  const store = {
    load: () => {
      reads++;
      if (broken) throw new Error("the disk is away");
      return undefined;
    },
    historyRange: () => [],
  };
  const reader: RunReader = new RunReader(store, {
    failed: () => errors++,
    again: (loads) => {
      for (const load of loads) reader.read(load);
    },
  });
  const real = globalThis.setTimeout;
  const pauses: number[] = [];
  let goOn: (() => void) | undefined;
  const timer = (then: () => void, ms: number) => {
    pauses.push(ms);
    goOn = then;
    return 0;
  };
  Object.assign(globalThis, { setTimeout: timer });
  const wait = () => {
    const then = goOn!;
    goOn = undefined;
    then();
  };
  try {
    const { found, unavailable } = reader.read({ workflowId: "w", runId: "r" });
    assert.deepEqual([found, unavailable], [
      false,
      "the store could not read workflow w: the disk is away",
    ]);
    reader.read({ workflowId: "w", runId: "r" });
    for (let i = 0; i < 12; i++) wait();
    assert.equal(reads, 2 + 12, "each run once a time, however often it was asked for");
    assert.equal(errors, reads);
    broken = false;
    wait();
    assert.equal(goOn, undefined, "what was read is not read again");
    broken = true;
    reader.read({ workflowId: "w", runId: "r" });
  } finally {
    Object.assign(globalThis, { setTimeout: real });
    reader.close();
  }
  // Each pause is set after the next failure of the store, so the first two are equal.
  assert.deepEqual(pauses.slice(0, 5), [100, 100, 200, 400, 800]);
  assert.ok(pauses.every((ms) => ms <= 60_000));
  assert.deepEqual(pauses.slice(-3), [60_000, 60_000, 100]);
});

test("a cron schedule without a next run is reported, unless a start is rejected with the reason", () => {
  const reported: string[] = [];
  const reader = new RunReader({ load: () => undefined, historyRange: () => [] }, {
    failed: ({ message }) => reported.push(message),
    again: () => {},
  });
  const schedule = "0 0 30 2 *";
  const nowUs = 1e15;
  const read = (scheduledUs: number) =>
    reader.read({ workflowId: "", runId: "", cron: { schedule, scheduledUs, nowUs } }).cron;
  assert.match(read(0)!.invalid, /no time matches/);
  assert.deepEqual(reported, []);
  assert.equal(read(nowUs)!.nextUs, 0);
  assert.equal(reported.length, 1);
  assert.match(reported[0]!, /without a next run: invalid CronSchedule "0 0 30 2 \*"/);
});
