// Following a replay line by line: reports stop when the replay ends, and a later replay's watcher
// stays.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LineProbes } from "../../../ts/executor/program/line_probe.ts";
import type { Activation } from "../../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { LineTracer } from "../../../ts/executor/tasks/line_trace.ts";
import { type LineAt, LineFollower } from "../../../ts/executor/tasks/line_follower.ts";

test("a follower reports from its task on and until its end", () => {
  const probes = new LineProbes();
  const [hit] = probes.add({
    url: "main.ts",
    points: [{ line: 3, column: 5, kind: "statement", name: "", variables: [] }],
  });
  const heard: LineAt[] = [];
  const follower = new LineFollower(probes, { task: 4, after: 0 }, (at) => heard.push(at));
  follower.begin(3);
  hit(0, 0);
  assert.deepEqual(heard, [], "the task before");
  follower.begin(4);
  hit(0, 0);
  assert.deepEqual(heard.map(({ ran }) => ran), [1]);
  follower.end();
  assert.equal(probes.watcher, undefined);
  hit(0, 0);
  assert.equal(heard.length, 1, "after the end");
});

test("a follower that ends leaves the watcher of another replay", () => {
  const probes = new LineProbes();
  const first = new LineFollower(probes, { task: 1, after: 0 }, () => {});
  const second = new LineFollower(probes, { task: 1, after: 0 }, () => {});
  first.begin(1);
  second.begin(1);
  first.end();
  assert.equal(probes.watcher, second);
});

test("a trace keeps values of up to 4096 characters whole, and the beginning of longer ones", () => {
  const probes = new LineProbes();
  const [hit] = probes.add({
    url: "main.ts",
    points: [{ line: 3, column: 5, kind: "statement", name: "", variables: ["text"] }],
  });
  const tracer = new LineTracer(probes);
  const textsOf = (value: string) => {
    tracer.begin({ jobs: [], startedEventId: 3 } as unknown as Activation);
    hit(0, () => value);
    tracer.end();
    return tracer.trace.texts;
  };
  const [whole, cut] = ["w".repeat(4000), "c".repeat(5000)];
  assert.ok(textsOf(whole).includes(JSON.stringify(whole)));
  const kept = textsOf(cut).find((text) => text.startsWith('"ccc'));
  assert.match(kept ?? "", /^"c{4000,4096}…"$/);
});
