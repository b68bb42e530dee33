// The current run and fiber. One activation at a time per realm, one turn at a time in it, and every microtask of a
// turn has run when its hop resolves: so a plain variable is right for the whole turn, and free functions (`sleep(...)`) need no ctx
// argument and no AsyncLocalStorage, which browsers do not have. It lies under Symbol.for on globalThis, so that two copies of this
// package in one realm share it.
import type { LogLevel } from "./program.ts";

/** Code of the user that must return at once and may not use the workflow API: what the guard and the primitives ask about. */
export type Closure = "validator" | "query" | "sideEffect" | "updateState" | "until" | "schema" | "log";

/** What replaced globals (Date, Math.random, crypto) are made of while a run is being activated. */
export interface RunClock {
  /** Workflow time, milliseconds since the epoch. */
  readonly timeMs: number;
  readonly isReplaying: boolean;
  /** A native program: its primitives keep `fiber`. */
  readonly isNative?: boolean;
  /** Where call sites are recorded: the user's line of a call that goes on in functions of ours; "" otherwise. */
  readonly site?: string;
  /** The user's line that said last that the run continues as new; undefined: none has. */
  readonly continuedAt?: string | undefined;
  /** A handler of an update was set here. */
  noteHandler?(name: string): void;
  random(): number;
  randomBytes(length: number): Uint8Array;
  /** Fails the open workflow task with this error, whatever workflow code catches. */
  fail?(error: Error): void;
  /** Whose code runs, for debug sessions; programs that have no fiber. */
  fiberNow?(): object | undefined;
  /** Writes a line to the run's log; programs that have no fiber. */
  logLine?(level: "debug" | "info" | "warn" | "error", message: string): void;
}

/** The fiber of a native run, as far as the task loop and the guard know it. */
export interface TurnOwner {
  /** `run of workflow "Cart"`, `handler of update "add"`, ... */
  readonly label: string;
  /** The user's line that called a primitive last; "" where call sites are not recorded. */
  readonly lastSite: string;
  readonly run: RunClock & {
    fail(error: Error): void;
    readonly log: { write(level: LogLevel, message: string): void };
  };
}

export interface Current {
  /** Set from the start of an activation to its end, for programs of every kind. */
  run: RunClock | undefined;
  /** Set during a turn of a native program. */
  fiber: TurnOwner | undefined;
  /** Set while a closure of the user runs in the executor. In a `sideEffect` the guard must give real time and entropy. */
  closure: Closure | undefined;
  /** What the validator or schema that runs has tried of what it must not: its update is rejected, also when it catches the errors. */
  refusals?: Error[] | undefined;
}

/** A turn of workflow code begins. Another realm of this thread may wait for the microtasks of a closure, which are fenced. */
export function beginTurn(fiber: TurnOwner): void {
  current.fiber = fiber;
  current.closure = undefined;
}

/** Closures that run on replay, too. */
const OF_THE_RUN: ReadonlySet<Closure> = new Set(["sideEffect", "updateState", "until"]);

/** Code of this kind was refused something. What is not noted here, or with the run, is the closure's own business. */
export function noteRefused(error: Error): "noted" | "fails the task" {
  const { closure } = current;
  if (closure === "validator" || closure === "schema") current.refusals?.push(error);
  return closure === undefined || OF_THE_RUN.has(closure) ? "fails the task" : "noted";
}

const key = Symbol.for("temporalex.slot.1");
const holder = globalThis as unknown as { [key]?: Current };

/** The realm's. */
export const current: Current = holder[key] ??= { run: undefined, fiber: undefined, closure: undefined };

/** Runs a closure of the user, of which `current` says so; closures do not nest in code that awaits. */
export function inClosure<T>(closure: Closure, call: () => T): T {
  const before = current.closure;
  current.closure = closure;
  try {
    return call();
  } finally {
    current.closure = before;
  }
}

/** Async functions in a closure that nothing waits for are followed over so many awaits. */
const GENERATIONS = 64;

/**
 * As `inClosure`, for closures that do not run on replay and return into the turn of a fiber: the microtasks that they leave are theirs,
 * too. Microtasks run in the order in which they were queued, so those of the closure lie between one that is queued before the call and
 * one that is queued after it; and what they queue in turn lies between two that those queue.
 */
export function inClosureWithMicrotasks<T>(closure: Closure, call: () => T, generations: number = GENERATIONS): T {
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
