// The functions that rewritten code calls, handed to each module as `$tx`: those that read and set the slot, and those
// that compiled async generators are made of.
import { type ScopeFrame, SlotContext } from "./context.ts";
import { type AsyncGeneratorHelper, asyncGeneratorHelper } from "./async_generator.ts";

// deno-lint-ignore no-explicit-any
type Callback = (this: unknown, ...args: any[]) => unknown;

export interface RewriteHelper extends AsyncGeneratorHelper {
  /** The value itself: lets an expression begin with a name. */
  v<T>(value: T): T;
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

/** `given`: the slot of modules whose frames are restored; absent where the context is an AsyncLocalStorage. */
export function rewriteHelper(given?: SlotContext): RewriteHelper {
  const slot = given ?? new SlotContext();
  const wrap = <T>(callback: T): T => {
    if (typeof callback !== "function") return callback;
    const frame = slot.current();
    const call = callback as unknown as Callback;
    return function (this: unknown, ...args: unknown[]) {
      return slot.run(frame, () => call.apply(this, args));
    } as unknown as T;
  };
  return {
    ...asyncGeneratorHelper(given),
    v: (value) => value,
    c: () => slot.current(),
    r: (frame, value) => slot.restore(frame, value),
    s: (frame) => slot.restore<void>(frame),
    y: (value) => value,
    w: wrap,
    a: (callbacks) => Array.from(callbacks, wrap),
  };
}
