// The current run and fiber. A realm has one activation at a time, one turn at a time in it, and a
// turn's microtasks have run when its hop resolves. So a variable is valid for the whole turn,
// without AsyncLocalStorage, which browsers lack. It is under Symbol.for on globalThis, shared by
// two copies of this package in one realm.
import type { MessageKind } from "./definition_sites.ts";
import type { LogLevel } from "./program.ts";

/** User code that must return synchronously and may not use the workflow API. */
export type Closure =
  | "validator"
  | "query"
  | "sideEffect"
  | "updateState"
  | "until"
  | "schema"
  | "log";

/** Sources of the replaced globals (Date, Math.random, crypto) during an activation. */
export interface RunClock {
  /** Workflow time, milliseconds since the epoch. */
  readonly timeMs: number;
  readonly isReplaying: boolean;
  /** A native program, whose primitives maintain `fiber`. */
  readonly isNative?: boolean;
  /**
   * If call sites are recorded: the user's line of a call that continues in this package; ""
   * otherwise.
   */
  readonly site?: string;
  /** The user's line that last requested continue-as-new; undefined if none did. */
  readonly continuedAt?: string | undefined;
  /** Called when code sets a handler or waits for a signal. */
  noteHandler?(kind: MessageKind, name: string): void;
  random(): number;
  randomBytes(length: number): Uint8Array;
  /** Fails the open workflow task with this error, even if workflow code catches it. */
  fail?(error: Error): void;
  /** The running fiber, for debug sessions; for programs without fibers. */
  fiberNow?(): object | undefined;
  /** Writes to the run's log; for programs without fibers. */
  logLine?(level: "debug" | "info" | "warn" | "error", message: string): void;
}

/** The fiber of a native run, as far as the task loop and the guard use it. */
export interface TurnOwner {
  /** `run of workflow "Cart"`, `handler of update "add"`, ... */
  readonly label: string;
  /** The user's line that last called a primitive; "" if call sites are not recorded. */
  readonly lastSite: string;
  readonly run: RunClock & {
    fail(error: Error): void;
    readonly log: { write(level: LogLevel, message: string): void };
  };
}

export interface Current {
  /** Set during an activation, for programs of every kind. */
  run: RunClock | undefined;
  /** Set during a turn of a native program. */
  fiber: TurnOwner | undefined;
  /**
   * Set while user code runs in a closure. In `sideEffect` the guard allows real time and entropy.
   */
  closure: Closure | undefined;
  /**
   * Forbidden calls of the running validator or schema: the update is rejected even if they are
   * caught.
   */
  refusals?: Error[] | undefined;
}

/**
 * Starts a turn of workflow code. Microtasks of a closure in another realm of this thread are
 * fenced.
 */
export function beginTurn(fiber: TurnOwner): void {
  current.fiber = fiber;
  current.closure = undefined;
}

/** Closures that also run on replay. */
const OF_THE_RUN: ReadonlySet<Closure> = new Set(["sideEffect", "updateState", "until"]);

/** Records a forbidden call of the current closure. Returns whether it fails the task. */
export function noteRefused(error: Error): "noted" | "fails the task" {
  const { closure } = current;
  if (closure === "validator" || closure === "schema") current.refusals?.push(error);
  return closure === undefined || OF_THE_RUN.has(closure) ? "fails the task" : "noted";
}

const key = Symbol.for("temporalex.slot.1");
const holder = globalThis as unknown as { [key]?: Current };

/** The realm's current run and fiber. */
export const current: Current = holder[key] ??= {
  run: undefined,
  fiber: undefined,
  closure: undefined,
};

/** Runs user code as a closure. Closures do not nest across awaits. */
export function inClosure<T>(closure: Closure, call: () => T): T {
  const before = current.closure;
  current.closure = closure;
  try {
    return call();
  } finally {
    current.closure = before;
  }
}

/** Maximum awaits over which async functions of a closure are followed. */
const GENERATIONS = 64;

/**
 * Like `inClosure`, for closures that do not run on replay and return into the turn of a fiber:
 * their microtasks are attributed to them. Microtasks run in queue order, so those of the closure
 * are between one queued before the call and one queued after it; the same holds for what they
 * queue.
 */
export function inClosureWithMicrotasks<T>(
  closure: Closure,
  call: () => T,
  generations: number = GENERATIONS,
): T {
  let before: Closure | undefined;
  const { refusals } = current;
  const open = (left: number) =>
    void done.then(() => {
      before = current.closure;
      current.closure = closure;
      current.refusals = refusals;
      if (left > 0) open(left - 1);
    });
  const close = (left: number) =>
    void done.then(() => {
      current.closure = before;
      if (left > 0) close(left - 1);
    });
  open(generations);
  try {
    return inClosure(closure, call);
  } finally {
    close(generations);
  }
}

const done: Promise<void> = Promise.resolve();
