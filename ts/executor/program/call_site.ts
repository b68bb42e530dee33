// Where workflow code called the API. A stack costs about 6 us, so it is taken only on request
// (debug sessions, the pass after a divergence) or for an error. Outside bundles, frames of this
// package are known by their folder. In a bundle, frames of modules that the realm loaded from text
// are the user's; if the bundle includes user code, frames of this package are skipped by number
// (`depth`).
import { stackFrames } from "../../converter/stack.ts";
import { bundled, ownCode } from "../../platform/own_code.ts";

/** A frame with a position; "async Promise.all (index 0)" has none. */
const PLACED = /:\d+:\d+\)?$/;

/** URLs of modules that this realm has loaded. */
const loaded = new Set<string>();

export function noteLoaded(urls: Iterable<string>): void {
  for (const url of urls) loaded.add(url);
}

/** Whether the script is a loaded module of workflow code. */
export const isLoaded = (url: string | null): boolean => url !== null && loaded.has(url);

/** Whether a line of a stack is in such a module. */
export const loadedIn = (line: string): boolean => [...loaded].some((url) => line.includes(`${url}:`));

/**
 * "function (file:line:column)" of the nearest user frame in a stack; "" if unknown. `depth`:
 * number of frames of this package above it, for bundles.
 */
export function userFrame(stack: string | undefined, depth = 0): string {
  const all = stackFrames(stack);
  if (bundled && loaded.size === 0) return namedFrame(all[depth] ?? "");
  const isUsers = bundled
    ? loadedIn
    : (frame: string) => !frame.includes(ownCode) && !/\bnode:|\bext:|\(<anonymous>\)$/.test(frame);
  return namedFrame(all.find(isUsers) ?? "");
}

/**
 * Formats a frame for reports. V8 names anonymous functions in realm code by their call:
 * "Object.eval [as run] (f)" becomes "run (f)", and "Object.eval [as fn] (f)", a call by this
 * package, "f".
 */
function namedFrame(frame: string): string {
  const [, wait = "", name, place] = /^(async )?(.*?) \((.*)\)$/.exec(frame) ?? [];
  if (place === undefined) return frame;
  const [, own = "", as] = /^(.*?)(?: \[as (.*)\])?$/.exec(name!)!;
  const plain = ownName(own);
  const shown = !/^(?:eval|<anonymous>|)$/.test(plain) ? plain : as === "run" ? as : "";
  return shown === "" ? place : `${wait}${shown} (${place})`;
}

/** Removes the receiver. SpiderMonkey names anonymous functions by position: "run/items<". */
const ownName = (name: string): string =>
  name.endsWith("<") ? "" : name.replace(/^.*\//, "").replace(/^(?:Object|FiberStart)\./, "");

/** All user frames, nearest first, one per line, as for `userFrame`; only the nearest in a bundle. */
function userFrames(stack: string | undefined, depth: number): string {
  const all = stackFrames(stack).filter((frame) => PLACED.test(frame));
  if (bundled && loaded.size === 0) return all[depth] ?? "";
  const users = bundled ? all.filter(loadedIn) : all.filter((frame) => !frame.includes(ownCode) && !/\bnode:|\bext:/.test(frame));
  return users.map(plainNames).join("\n");
}

/** User frames in the stack of an error, nearest first, one per line; "" if unknown. */
export function userStack(stack: string | undefined): string {
  if (bundled && loaded.size === 0) return userFrame(stack);
  return userFrames(stack, 0);
}

/**
 * Removes the engine's additions to a function's name: "FiberStart.left [as body] (f)" becomes
 * "left (f)".
 */
function plainNames(text: string): string {
  // Deno's form for evaluated code outside a realm.
  const frame = text.replace(/, <anonymous>(?=:\d+:\d+\)?$)/, "");
  const [, wait = "", name, place] = /^(async )?(.*?) \((.*)\)$/.exec(frame) ?? [];
  if (place === undefined) return frame;
  const plain = ownName(name!.replace(/ \[as [^\]]*\]$/, ""));
  return /^(?:eval|<anonymous>|)$/.test(plain) ? `${wait}${place}` : `${wait}${plain} (${place})`;
}

type CaptureStackTrace = (target: object, above: unknown) => void;

/**
 * The call stack above `above` (a function of this package), including awaits that the engine can
 * follow. Engines record ten frames, and a realm freezes that limit, so frames of this package are
 * skipped if possible. `depth`: frames above it in a bundle.
 */
export function callStack(above: unknown, depth: number): string {
  const holder: { stack?: string } = {};
  const capture = (Error as { captureStackTrace?: CaptureStackTrace }).captureStackTrace;
  if (capture === undefined) return userFrames(new Error().stack, depth + 2);
  capture(holder, above);
  return userFrames(holder.stack, depth);
}

/**
 * The call site of the code that called the API, `depth` frames above the caller of this function.
 * Frames above `above` are skipped if the engine can: it records ten frames in all.
 */
export function callSite(depth: number, above?: unknown): string {
  const capture = (Error as { captureStackTrace?: CaptureStackTrace }).captureStackTrace;
  if (above === undefined || capture === undefined) return userFrame(new Error().stack, depth + 1);
  const holder: { stack?: string } = {};
  capture(holder, above);
  return userFrame(holder.stack, depth - 1);
}
