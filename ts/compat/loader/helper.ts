// The functions that rewritten code calls, handed to each module as `$tx`. They do nothing but read and set the slot.
import type { ScopeFrame, SlotContext } from "../context.ts";

// deno-lint-ignore no-explicit-any
type Callback = (this: unknown, ...args: any[]) => unknown;

export interface RewriteHelper {
  /** The current frame. */
  c(): ScopeFrame | undefined;
  /** Puts a frame back and answers the value. */
  r<T>(frame: ScopeFrame | undefined, value: T): T;
  /** Puts a frame back. */
  s(frame: ScopeFrame | undefined): void;
  /** The value that a generator was resumed with; the second argument only evaluates an assignment. */
  y<T>(value: T, frame: ScopeFrame | undefined): T;
  /** A callback that runs in the frame in which it was registered. Anything but a function passes through. */
  w<T>(callback: T): T;
  /** The same for spread arguments. */
  a(callbacks: Iterable<unknown>): unknown[];
}

export function rewriteHelper(slot: SlotContext): RewriteHelper {
  const wrap = <T>(callback: T): T => {
    if (typeof callback !== "function") return callback;
    const frame = slot.current();
    const call = callback as unknown as Callback;
    return function (this: unknown, ...args: unknown[]) {
      return slot.run(frame, () => call.apply(this, args));
    } as unknown as T;
  };
  return {
    c: () => slot.current(),
    r: (frame, value) => slot.restore(frame, value),
    s: (frame) => slot.restore<void>(frame),
    y: (value) => value,
    w: wrap,
    a: (callbacks) => Array.from(callbacks, wrap),
  };
}
