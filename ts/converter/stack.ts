// Stacks of errors in one form. V8 writes "Name: message" and then lines "    at f (file:1:2)"; SpiderMonkey and JavaScriptCore write lines
// "f@file:1:2" and nothing of the message. History, logs and call sites have V8's form in every engine.
import { MAX_STACK, messageOf, nameOf, safeText, stackOf } from "./thrown.ts";

const MAX_FRAME = 4096;
const V8 = /^\s+at /;
/** What set the function off (`async*`, `promise callback*`) stands before it. */
const OTHERS = /^(?:[A-Za-z ]+\*)*(.*?)@(.*:\d+:\d+)$/;

/** The frames as "f (file:1:2)" or "file:1:2", nearest first; none where `stack` is none. */
export function stackFrames(stack: string | undefined): string[] {
  const frames: string[] = [];
  for (const line of (stack ?? "").split("\n")) {
    // A line of a message, and a long one costs the expression much.
    if (line.length > MAX_FRAME) continue;
    if (V8.test(line)) frames.push(line.replace(V8, ""));
    else {
      const [, name, place] = OTHERS.exec(line) ?? [];
      if (place !== undefined) frames.push(name === "" ? place : `${name} (${place})`);
    }
  }
  return frames;
}

/** What follows name and message in an error's stack, as Failure.stack_trace has it: "    at f (file:1:2)", a line for each frame. */
export function stackTrace(error: Error): string {
  const stack = stackOf(error);
  const at = stack.search(/^\s+at /m);
  return at >= 0 ? safeText(stack.slice(at), MAX_STACK) : stackFrames(stack).map((frame) => `    at ${frame}`).join("\n");
}

/** "Name: message" and the frames. */
export function stackText(error: Error): string {
  const stack = stackOf(error);
  if (/^\s+at /m.test(stack)) return safeText(stack);
  const message = messageOf(error);
  const head = message === "" ? nameOf(error) : `${nameOf(error)}: ${message}`;
  const trace = stackTrace(error);
  return trace === "" ? head : `${head}\n${trace}`;
}
