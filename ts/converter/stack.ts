// Stacks of errors in V8's form. V8 writes "Name: message", then lines "    at f (file:1:2)".
// SpiderMonkey and JavaScriptCore write lines "f@file:1:2" without the message. History, logs and
// call sites use V8's form in every engine.
import { append, execPattern, sliceText, splitLines } from "../platform/kept_functions.ts";
import { bundled, ownCode } from "../platform/own_code.ts";
import { MAX_STACK, messageOf, nameOf, safeText, stackOf } from "./thrown.ts";

const MAX_FRAME = 4096;
const V8 = /^\s+at /;
/** The async cause (`async*`, `promise callback*`) precedes the function. */
const OTHERS = /^(?:[A-Za-z ]+\*)*(.*?)@(.*:\d+:\d+)$/;

/** Returns the frames as "f (file:1:2)" or "file:1:2", nearest first; empty without a stack. */
export function stackFrames(stack: string | undefined): string[] {
  const frames: string[] = [];
  const lines = splitLines(stack ?? "");
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    // A line of a message; a long one is slow to match.
    if (line.length > MAX_FRAME) continue;
    const indent = execPattern(V8, line);
    if (indent !== null) append(frames, sliceText(line, indent[0].length));
    else {
      const found = execPattern(OTHERS, line);
      if (found !== null) append(frames, found[1] === "" ? found[2]! : `${found[1]} (${found[2]})`);
    }
  }
  return frames;
}

/** Frames of the runtime, below the user's code. */
const HOST = /(?:^|[ (])(?:node|ext|deno|native):|native code|<anonymous>\)?$|\(index \d+\)$/;

/**
 * Returns the text of Failure.stack_trace, as Temporal's SDK for TypeScript writes it: "Name:
 * message" and a line "    at f (file:1:2)" for each frame of the user's code. Frames of this
 * package are left out, as are those of the runtime below the user's last frame. In a bundle all
 * frames stay, because the package's own are not known. `asWritten`: name and message as in the
 * engine's stack.
 */
export function failureTrace(error: Error, asWritten = false): string {
  const message = messageOf(error);
  const stack = stackOf(error);
  // Lines of the message are not frames, whatever they look like.
  const after = stack.indexOf(message);
  const all = stackFrames(after < 0 ? stack : stack.slice(after + message.length));
  const frames = bundled ? all : all.filter((frame) => !frame.includes(ownCode));
  const last = frames.findLastIndex((frame) => !HOST.test(frame));
  const shown = (last < 0 ? frames : frames.slice(0, last + 1)).map((frame) => `    at ${frame}`);
  const head = asWritten ? headOf(stack, message, after) : undefined;
  return safeText(
    [head ?? (message === "" ? nameOf(error) : `${nameOf(error)}: ${message}`), ...shown].join(
      "\n",
    ),
    MAX_STACK,
  );
}

/**
 * Returns what V8 wrote before the frames: the name at construction. Undefined in other engines.
 */
function headOf(stack: string, message: string, at: number): string | undefined {
  if (message === "") return /^\w+(?=\n\s+at |$)/.exec(stack)?.[0];
  return /^[^\n]+: $/.test(stack.slice(0, Math.max(0, at)))
    ? stack.slice(0, at + message.length)
    : undefined;
}

/** Returns a failure's stack trace as the stack of an error: other SDKs write only the frames. */
export function stackOfFailure(name: string, message: string, trace: string): string {
  return trace === "" || V8.test(trace)
    ? `${name}: ${message}${trace === "" ? "" : `\n${trace}`}`
    : trace;
}

/** Returns the frames of an error's stack: a line "    at f (file:1:2)" for each. */
export function stackTrace(error: Error): string {
  const stack = stackOf(error);
  const at = stack.search(/^\s+at /m);
  return at >= 0
    ? safeText(stack.slice(at), MAX_STACK)
    : stackFrames(stack).map((frame) => `    at ${frame}`).join("\n");
}

/** Returns "Name: message" and the frames. */
export function stackText(error: Error): string {
  const stack = stackOf(error);
  if (/^\s+at /m.test(stack)) return safeText(stack);
  const message = messageOf(error);
  const head = message === "" ? nameOf(error) : `${nameOf(error)}: ${message}`;
  const trace = stackTrace(error);
  return trace === "" ? head : `${head}\n${trace}`;
}
