// Functions called by rewritten code, passed to each module as `$tx`: access to the slot, and parts
// of compiled async generators.
import { type ScopeFrame, SlotContext } from "./context.ts";
import { type AsyncGeneratorHelper, asyncGeneratorHelper } from "./async_generator.ts";

// deno-lint-ignore no-explicit-any
type Callback = (this: unknown, ...args: any[]) => unknown;

export interface RewriteHelper extends AsyncGeneratorHelper {
  /** Returns the value: lets an expression begin with a name. */
  v<T>(value: T): T;
  /** Returns the current frame. */
  c(): ScopeFrame | undefined;
  /** Restores a frame and returns the value. */
  r<T>(frame: ScopeFrame | undefined, value: T): T;
  /** Restores a frame. */
  s(frame: ScopeFrame | undefined): void;
  /**
   * Returns the value with which a generator was resumed; the second argument only evaluates an
   * assignment.
   */
  y<T>(value: T, frame: ScopeFrame | undefined): T;
  /** Returns a callback that runs in the current frame. Other values are returned unchanged. */
  w<T>(callback: T): T;
  /** Same as `w` for spread arguments. */
  a(callbacks: Iterable<unknown>): unknown[];
}

/**
 * `given`: the slot of modules with restored frames; undefined if the context is an
 * AsyncLocalStorage.
 */
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
