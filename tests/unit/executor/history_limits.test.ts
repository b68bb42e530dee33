// When the author of a run is warned that its history is large: once at each of two sizes, by
// events or by bytes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HistoryLimits } from "../../../ts/executor/tasks/history_limits.ts";

const run = (runId: string) => ({ workflowType: "W", runId });
const MIB = 1024 * 1024;

test("a large history is reported once, and a second time near the limit", () => {
  const limits = new HistoryLimits();
  const warned = (events: number, bytes: number, id = "r") =>
    limits.check(run(id), events, bytes)?.message;
  assert.equal(warned(10_239, 10 * MIB - 1), undefined);
  assert.match(
    warned(10_240, 0)!,
    /has 10240 events; .*at 51200 events or 50 MiB: return continueAsNew/,
  );
  assert.equal(warned(10_241, 10 * MIB), undefined, "the warning was logged before");
  assert.equal(warned(40_959, 40 * MIB - 1), undefined);
  assert.match(warned(40_959, 40 * MIB)!, /and 40.0 MiB; .*, which is close: /);
  assert.equal(warned(50_000, 45 * MIB), undefined);
  assert.match(warned(1, 10 * MIB, "another")!, /has 1 events and 10.0 MiB/);
  assert.match(warned(40_960, 0, "a third")!, /which is close/);
  limits.forget("r");
  assert.match(warned(40_960, 0)!, /which is close/);
});
