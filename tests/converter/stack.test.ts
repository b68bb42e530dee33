import { test } from "node:test";
import assert from "node:assert/strict";
import { stackFrames, stackText, stackTrace } from "../../ts/converter/stack.ts";

/** An error as SpiderMonkey makes it: its stack has no name and no message. */
function spiderMonkey(message: string, lines: string[]): Error {
  const error = new TypeError(message);
  error.stack = lines.join("\n");
  return error;
}

test("stacks of V8 and SpiderMonkey have one form", () => {
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

test("a stack of V8 stays as it is, with a message of several lines too", () => {
  const error = new RangeError("one\ntwo");
  error.stack = "RangeError: one\ntwo\n    at f (file:///a.ts:1:2)\n    at async g (file:///b.ts:3:4)";
  assert.deepEqual(stackFrames(error.stack), ["f (file:///a.ts:1:2)", "async g (file:///b.ts:3:4)"]);
  assert.equal(stackTrace(error), "    at f (file:///a.ts:1:2)\n    at async g (file:///b.ts:3:4)");
  assert.equal(stackText(error), error.stack);
});

test("an error without frames is its name and message", () => {
  for (const stack of [undefined, "", "Error: gone"]) {
    const error = Object.defineProperty(new Error("gone"), "stack", { value: stack });
    assert.deepEqual([stackFrames(stack), stackTrace(error), stackText(error)], [[], "", "Error: gone"]);
  }
});
