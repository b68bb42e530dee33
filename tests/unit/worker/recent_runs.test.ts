// The runs that a replacement checks besides those that the service lists: those of the last
// minute, each once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentRuns } from "../../../ts/worker/workflow/recent_runs.ts";
import { ManualTimers } from "../../support/manual_timers.ts";

const run = (runId: string) => ({ workflowId: `w ${runId}`, runId, workflowType: "W" });

test("recent runs are used once, and closed runs are not", async () => {
  const timers = new ManualTimers();
  const recent = new RecentRuns(timers);
  const ids = () => recent.take().map(({ runId }) => runId);
  recent.note(run("old"));
  recent.note(run("again"));
  await timers.advance(1);
  recent.note(run("a minute ago"));
  recent.note(run("again"));
  recent.note(run("closed"));
  await timers.advance(60_000);
  recent.forget("closed");
  recent.note(run("now"));
  assert.deepEqual(ids(), ["a minute ago", "again", "now"]);
  assert.deepEqual(ids(), []);
  recent.note(run("again"));
  assert.deepEqual(recent.take(), [run("again")]);
});
