// The times of random schedules are those that Temporal's development server listed for them
// (server_times.json, recorded by tools/schedule_times.mjs from server 1.29).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { canonicalSpec } from "../../../../ts/engine/schedules/canonical.ts";
import { CompiledSpec } from "../../../../ts/engine/schedules/spec.ts";
import { ScheduleSpecSchema } from "../../../../ts/messages/generated/temporal/api/schedule/v1/message_pb.ts";

interface Recorded {
  readonly spec: JsonValue;
  readonly after: string;
  /** Seconds from each time to the next. */
  readonly steps: readonly number[];
}

test("random specs have the times of a server", () => {
  const path = "tests/unit/engine/schedules/server_times.json";
  const recorded = JSON.parse(readFileSync(path, "utf8")) as Recorded[];
  assert.equal(recorded.length, 60);
  for (const { spec, after, steps } of recorded) {
    const compiled = new CompiledSpec(canonicalSpec(fromJson(ScheduleSpecSchema, spec)));
    let at = Date.parse(after);
    const found = steps.map(() => {
      const next = compiled.next(at, "")?.nextMs ?? NaN;
      const step = (next - at) / 1000;
      at = next;
      return step;
    });
    assert.deepEqual(found, steps, JSON.stringify(spec));
  }
});
