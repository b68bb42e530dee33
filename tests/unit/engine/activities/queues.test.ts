// Deadlines of standalone activities: each activity is due once, at its latest deadline, and a
// heartbeat that moves no deadline takes no memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testSeed } from "../../../support/seed.ts";
import { Agenda } from "../../../../ts/engine/activities/queues.ts";
import {
  createInfo,
  type LiveActivity,
  newActivityProgress,
} from "../../../../ts/engine/activities/state.ts";

const newActivity = (activityId: string): LiveActivity => ({
  info: createInfo({ activityId }),
  progress: newActivityProgress("r", 0, 0),
  outcome: undefined,
  queued: undefined,
  deadlineMs: Infinity,
});

test("an unchanged deadline adds nothing", () => {
  const agenda = new Agenda(), activity = newActivity("a");
  for (let i = 0; i < 1000; i++) agenda.set(activity, 50);
  assert.equal(agenda.size, 1);
  assert.equal(agenda.takeDue(50), activity);
  agenda.set(activity, 50);
  assert.equal(agenda.takeDue(50), activity, "it is due again");
  assert.equal(agenda.takeDue(1000), undefined);
});

test("activities are due in the order of their latest deadlines, each once", () => {
  const deadline = fc.oneof(fc.nat(20), fc.constant(Infinity));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(7), deadline), { maxLength: 60 }), (changes) => {
      const agenda = new Agenda();
      const all = Array.from({ length: 8 }, (_, i) => newActivity(`a${i}`));
      for (const [index, atMs] of changes) agenda.set(all[index]!, atMs);
      const expected = all.map(({ deadlineMs }) => deadlineMs).filter((ms) => ms !== Infinity)
        .sort((a, b) => a - b);
      const found: number[] = [];
      for (let atMs = agenda.nextMs(); atMs !== Infinity; atMs = agenda.nextMs()) {
        found.push(atMs);
        agenda.takeDue(Infinity);
      }
      assert.deepEqual(found, expected);
    }),
    { seed: testSeed() },
  );
});
