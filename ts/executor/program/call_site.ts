// Where workflow code called the API. A stack costs about 6 us, so it is taken only on request
// (debug sessions, the pass after a divergence) or for an error. Outside bundles, frames of this
// package are known by their folder. In a bundle, frames of modules that the realm loaded from text
// are the user's; if the bundle includes user code, frames of this package are skipped by number
// (`depth`).
import { execPattern, includesText, newNames, sliceText } from "../../platform/kept_functions.ts";
import { stackFrames } from "../../converter/stack.ts";
import { bundled, ownCode } from "../../platform/own_code.ts";

/** A frame with a position; "async Promise.all (index 0)" has none. */
const PLACED = /:\d+:\d+\)?$/;

/** URLs of modules that this realm has loaded. */
const loaded = newNames();
let hasLoaded = false;

export function noteLoaded(urls: Iterable<string>): void {
  for (const url of urls) loaded[url] = hasLoaded = true;
}

/** Whether this realm loads modules from text. */
export const hasLoadedModules = (): boolean => hasLoaded;

/** Whether the script is a loaded module of workflow code. */
export const isLoaded = (url: string | null): boolean => url !== null && loaded[url] === true;

/** Whether a line of a stack is in such a module. */
export function loadedIn(line: string): boolean {
  for (const url in loaded) if (includesText(line, `${url}:`)) return true;
  return false;
}

/**
 * "function (file:line:column)" of the nearest user frame in a stack; "" if unknown. `depth`:
 * number of frames of this package above it, for bundles.
 */
export function userFrame(stack: string | undefined, depth = 0): string {
  const all = stackFrames(stack);
  if (bundled && !hasLoaded) return namedFrame(all[depth] ?? "");
  for (let i = 0; i < all.length; i++) {
    if (bundled ? loadedIn(all[i]!) : isOutside(all[i]!, RUNTIME_OR_UNPLACED)) {
      return namedFrame(all[i]!);
    }
  }
  return "";
}

/** Frames of the runtime. */
const RUNTIME = /\bnode:|\bext:/;
const RUNTIME_OR_UNPLACED = /\bnode:|\bext:|\(<anonymous>\)$/;

/** True if a frame belongs neither to this package nor to the runtime. */
const isOutside = (frame: string, runtime: RegExp): boolean =>
  !includesText(frame, ownCode) && execPattern(runtime, frame) === null;

/**
 * "async ", the function's name and the place of "async f (place)"; undefined for a frame without a
 * function.
 */
function partsOf(
  frame: string,
): { readonly wait: string; readonly name: string; readonly place: string } | undefined {
  const found = execPattern(/^(async )?(.*?) \((.*)\)$/, frame);
  return found === null ? undefined : { wait: found[1] ?? "", name: found[2]!, place: found[3]! };
}

const UNNAMED = /^(?:eval|<anonymous>|)$/;

/**
 * Formats a frame for reports. V8 names anonymous functions in realm code by their call:
 * "Object.eval [as run] (f)" becomes "run (f)", and "Object.eval [as fn] (f)", a call by this
 * package, "f".
 */
function namedFrame(frame: string): string {
  const parts = partsOf(frame);
  if (parts === undefined) return frame;
  const found = execPattern(/^(.*?)(?: \[as (.*)\])?$/, parts.name);
  const plain = ownName(found?.[1] ?? "");
  const shown = execPattern(UNNAMED, plain) === null ? plain : found?.[2] === "run" ? "run" : "";
  return shown === "" ? parts.place : `${parts.wait}${shown} (${parts.place})`;
}

/** Removes the receiver. SpiderMonkey names anonymous functions by position: "run/items<". */
const ownName = (name: string): string =>
  execPattern(/<$/, name) !== null
    ? ""
    : withoutMatch(withoutMatch(name, /^.*\//), /^(?:Object|FiberStart)\./);

/** The text without the first match. */
function withoutMatch(text: string, pattern: RegExp): string {
  const found = execPattern(pattern, text);
  return found === null
    ? text
    : sliceText(text, 0, found.index) + sliceText(text, found.index + found[0].length);
}

/**
 * All user frames, nearest first, one per line, as for `userFrame`; only the nearest in a bundle.
 */
function userFrames(stack: string | undefined, depth: number): string {
  const all = stackFrames(stack);
  let placed = 0;
  let users = "";
  for (let i = 0; i < all.length; i++) {
    const frame = all[i]!;
    if (execPattern(PLACED, frame) === null) continue;
    if (bundled && !hasLoaded) {
      if (placed++ === depth) return frame;
    } else if (bundled ? loadedIn(frame) : isOutside(frame, RUNTIME)) {
      users += `${users === "" ? "" : "\n"}${plainNames(frame)}`;
    }
  }
  return users;
}

/** User frames in the stack of an error, nearest first, one per line; "" if unknown. */
export function userStack(stack: string | undefined): string {
  if (bundled && !hasLoaded) return userFrame(stack);
  return userFrames(stack, 0);
}

/**
 * Removes the engine's additions to a function's name: "FiberStart.left [as body] (f)" becomes
 * "left (f)".
 */
function plainNames(text: string): string {
  // Deno's form for evaluated code outside a realm.
  const frame = withoutMatch(text, /, <anonymous>(?=:\d+:\d+\)?$)/);
  const parts = partsOf(frame);
  if (parts === undefined) return frame;
  const { wait, name, place } = parts;
  const plain = ownName(withoutMatch(name, / \[as [^\]]*\]$/));
  return execPattern(UNNAMED, plain) !== null ? `${wait}${place}` : `${wait}${plain} (${place})`;
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
