// The order in which the tasks of one run are worked on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RunTurns } from "../../../ts/worker/workflow/run_turns.ts";

test("tasks of a run are processed in order of arrival, and runs do not wait for each other", async () => {
  const turns = new RunTurns();
  const order: string[] = [];
  const wait = (name: string) => turns.enter("run")!.then(() => void order.push(name));
  assert.equal(turns.enter("run"), undefined, "the first has its turn at once");
  const waiting = [wait("second"), wait("third"), wait("fourth")];
  assert.equal(turns.enter("another run"), undefined);
  for (const [i, each] of waiting.entries()) {
    assert.equal(order.length, i);
    turns.leave("run");
    await each;
  }
  assert.deepEqual(order, ["second", "third", "fourth"]);
  turns.leave("run");
  assert.equal(turns.enter("run"), undefined, "no task is left");
});
