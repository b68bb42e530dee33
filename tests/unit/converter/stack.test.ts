import { test } from "node:test";
import assert from "node:assert/strict";
import { fromFailure, toFailure } from "../../../ts/converter/failure_converter.ts";
import { ApplicationFailure } from "../../../ts/converter/failures.ts";
import {
  failureTrace,
  stackFrames,
  stackOfFailure,
  stackText,
  stackTrace,
} from "../../../ts/converter/stack.ts";
import { ownCode } from "../../../ts/platform/own_code.ts";
import { runActivity } from "../../../ts/testing/mod.ts";

/** An error as SpiderMonkey makes it: its stack has no name and no message. */
function spiderMonkey(message: string, lines: string[]): Error {
  const error = new TypeError(message);
  error.stack = lines.join("\n");
  return error;
}

test("stacks of V8 and SpiderMonkey are normalized to one form", () => {
  const error = spiderMonkey("a@b:1:2 is odd", [
    "charge@file:///app/shop.ts:3:9",
    "async*run@file:///app/shop.ts:9:15",
    "promise callback*@http://127.0.0.1:8080/realm.js:7:1",
    "#private/<@http://127.0.0.1:8080/realm.js line 3 > eval:1:2",
    "",
  ]);
  const frames = [
    "charge (file:///app/shop.ts:3:9)",
    "run (file:///app/shop.ts:9:15)",
    "http://127.0.0.1:8080/realm.js:7:1",
    "#private/< (http://127.0.0.1:8080/realm.js line 3 > eval:1:2)",
  ];
  assert.deepEqual(stackFrames(error.stack), frames);
  assert.equal(stackTrace(error), frames.map((frame) => `    at ${frame}`).join("\n"));
  assert.equal(stackText(error), `TypeError: a@b:1:2 is odd\n${stackTrace(error)}`);
});

test("a stack of V8 is unchanged, also with a multi-line message", () => {
  const error = new RangeError("one\ntwo");
  error.stack =
    "RangeError: one\ntwo\n    at f (file:///a.ts:1:2)\n    at async g (file:///b.ts:3:4)";
  assert.deepEqual(stackFrames(error.stack), [
    "f (file:///a.ts:1:2)",
    "async g (file:///b.ts:3:4)",
  ]);
  assert.equal(stackTrace(error), "    at f (file:///a.ts:1:2)\n    at async g (file:///b.ts:3:4)");
  assert.equal(stackText(error), error.stack);
});

test("the stack of an error without frames is its name and message", () => {
  for (const stack of [undefined, "", "Error: gone"]) {
    const error = Object.defineProperty(new Error("gone"), "stack", { value: stack });
    assert.deepEqual([stackFrames(stack), stackTrace(error), stackText(error)], [
      [],
      "",
      "Error: gone",
    ]);
  }
});

test("Failure.stack_trace: name and message, the user's frames, no frame of this package or of the runtime below", async () => {
  const error = new TypeError("odd\n    at a line of the message");
  error.stack = [
    "Error: odd\n    at a line of the message",
    "    at readFileSync (node:fs:441:20)",
    "    at charge (file:///app/shop.ts:3:9)",
    `    at callActivity (${ownCode}activity/context.ts:9:9)`,
    "    at async pay (file:///app/shop.ts:9:9)",
    `    at async ActivityExecution.run (${ownCode}worker/activities/activity_execution.ts:9:9)`,
    "    at async Promise.all (index 0)",
    "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)",
  ].join("\n");
  const trace = [
    "TypeError: odd\n    at a line of the message",
    "    at readFileSync (node:fs:441:20)",
    "    at charge (file:///app/shop.ts:3:9)",
    "    at async pay (file:///app/shop.ts:9:9)",
  ].join("\n");
  assert.equal(failureTrace(error), trace);
  assert.equal(toFailure(error).stackTrace, trace);
  assert.equal(
    fromFailure(toFailure(error)).stack,
    trace,
    "as Temporal's SDK for TypeScript has it",
  );
  const bare = new ApplicationFailure("");
  bare.stack = `Error\n    at f (${ownCode}x.ts:1:1)\n    at g (node:internal:1:1)`;
  assert.equal(failureTrace(bare), "ApplicationFailure\n    at g (node:internal:1:1)");

  // An error that an activity throws: its own lines, and nothing between them and the runner of
  // this test.
  const thrown = await runActivity(() => {
    throw new RangeError("too much");
  }, []).catch((e: Error) => e);
  const lines = failureTrace(thrown as Error).split("\n");
  assert.equal(lines[0], "RangeError: too much");
  assert.match(lines[1]!, /stack\.test\.[jt]s:\d+:\d+/);
  assert.ok(lines.every((line) => !line.includes(ownCode)), lines.join("\n"));
});

test("stack traces of SDKs that contain only frames are completed with name and message", () => {
  const frames = "    at f (file:///a.ts:1:2)";
  assert.equal(
    stackOfFailure("ApplicationFailure", "no", frames),
    `ApplicationFailure: no\n${frames}`,
  );
  assert.equal(
    stackOfFailure("ApplicationFailure", "no", `Error: no\n${frames}`),
    `Error: no\n${frames}`,
  );
});
