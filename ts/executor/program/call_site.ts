// Where workflow code called the API. Taking a stack costs about 6 us, so it is done only when it is asked for (debug sessions, the pass
// after a divergence) or when an error is about to be reported anyway. As files of its own, this package knows its frames by their
// folder. In a bundle frames of modules that a realm has loaded from text are the user's; where the user's code is in the bundle too, and
// names are minified, frames of ours are known by their number.
import { stackFrames } from "../../converter/stack.ts";
import { bundled, ownCode } from "../../platform/own_code.ts";

/** A frame that names a line of a file; "async Promise.all (index 0)" names none. */
const PLACED = /:\d+:\d+\)?$/;

/** URLs of modules that this realm has loaded. */
const loaded = new Set<string>();

export function noteLoaded(urls: Iterable<string>): void {
  for (const url of urls) loaded.add(url);
}

/** The script is a module of workflow code that this realm has loaded. */
export const isLoaded = (url: string | null): boolean => url !== null && loaded.has(url);

/** The line of a stack names such a module. */
export const loadedIn = (line: string): boolean => [...loaded].some((url) => line.includes(`${url}:`));

/**
 * "function (file:line:column)" of the user's nearest frame in a stack, or "" when there is none. `depth`: how many frames of ours lie over
 * it, for bundles.
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
 * A frame by the name that its function has in reports. V8 names a function without a name, in code of a realm, for how it was called:
 * "Object.eval [as run] (f)" is "run (f)", and "Object.eval [as fn] (f)", called by a name of ours, is "f".
 */
function namedFrame(frame: string): string {
  const [, wait = "", name, place] = /^(async )?(.*?) \((.*)\)$/.exec(frame) ?? [];
  if (place === undefined) return frame;
  const [, own = "", as] = /^(.*?)(?: \[as (.*)\])?$/.exec(name!)!;
  const plain = ownName(own);
  const shown = !/^(?:eval|<anonymous>|)$/.test(plain) ? plain : as === "run" ? as : "";
  return shown === "" ? place : `${wait}${shown} (${place})`;
}

/** Without what it was called on. SpiderMonkey names a function without a name for where it stands: "run/items<". */
const ownName = (name: string): string =>
  name.endsWith("<") ? "" : name.replace(/^.*\//, "").replace(/^(?:Object|FiberStart)\./, "");

/** All frames of the user's, nearest first, a line for each; as `userFrame` otherwise. Where a bundle hides which are whose: the nearest. */
function userFrames(stack: string | undefined, depth: number): string {
  const all = stackFrames(stack).filter((frame) => PLACED.test(frame));
  if (bundled && loaded.size === 0) return all[depth] ?? "";
  const users = bundled ? all.filter(loadedIn) : all.filter((frame) => !frame.includes(ownCode) && !/\bnode:|\bext:/.test(frame));
  return users.map(plainNames).join("\n");
}

/** Frames of the user's in the stack of an error, nearest first, one per line; "" if none is known. */
export function userStack(stack: string | undefined): string {
  if (bundled && loaded.size === 0) return userFrame(stack);
  return userFrames(stack, 0);
}

/** A frame without what the engine adds to a function's name: "Object.eval [as run] (f)" is "f", "FiberStart.left [as body] (f)" is "left (f)". */
function plainNames(text: string): string {
  // Deno's form for evaluated code outside of a realm.
  const frame = text.replace(/, <anonymous>(?=:\d+:\d+\)?$)/, "");
  const [, wait = "", name, place] = /^(async )?(.*?) \((.*)\)$/.exec(frame) ?? [];
  if (place === undefined) return frame;
  const plain = ownName(name!.replace(/ \[as [^\]]*\]$/, ""));
  return /^(?:eval|<anonymous>|)$/.test(plain) ? `${wait}${place}` : `${wait}${plain} (${place})`;
}

type CaptureStackTrace = (target: object, above: unknown) => void;

/**
 * Where the caller of `above` (a function of ours) was called from, through every await that the engine can follow. Engines give ten
 * frames, and a realm is sealed with that, so frames of ours are left out where the engine can do it. `depth`: frames over it in a bundle.
 */
export function callStack(above: unknown, depth: number): string {
  const holder: { stack?: string } = {};
  const capture = (Error as { captureStackTrace?: CaptureStackTrace }).captureStackTrace;
  if (capture === undefined) return userFrames(new Error().stack, depth + 2);
  capture(holder, above);
  return userFrames(holder.stack, depth);
}

/**
 * The call site of the code that called into the API: `depth` frames over the caller of this function. Frames over `above`, a function of
 * ours, are left out where the engine can do it: it gives ten in all.
 */
export function callSite(depth: number, above?: unknown): string {
  const capture = (Error as { captureStackTrace?: CaptureStackTrace }).captureStackTrace;
  if (above === undefined || capture === undefined) return userFrame(new Error().stack, depth + 1);
  const holder: { stack?: string } = {};
  capture(holder, above);
  return userFrame(holder.stack, depth - 1);
}
