// The synchronous "current run and strand" slot. One activation at a time per realm, one turn at a time in it, and every microtask of a
// turn has run when its hop resolves: so a plain variable is right for the whole turn, and free functions (`sleep(...)`) need no ctx
// argument and no AsyncLocalStorage, which browsers do not have. It lies under Symbol.for on globalThis, so that two copies of this
// package in one realm share it.
import type { Strand } from "./strand.ts";

/** Code of the user that must return at once and may not use the workflow API: what the guard and the primitives ask about. */
export type Closure = "validator" | "query" | "sideEffect" | "updateState" | "schema";

/** What replaced globals (Date, Math.random, crypto) are made of while a run is being activated. */
export interface RunClock {
  /** Workflow time, milliseconds since the epoch. */
  readonly timeMs: number;
  readonly isReplaying: boolean;
  /** A native program: its primitives keep `strand`. */
  readonly isNative?: boolean;
  random(): number;
  randomBytes(length: number): Uint8Array;
  /** Fails the open workflow task with this error, whatever workflow code catches. */
  fail?(error: Error): void;
}

export interface Slot {
  /** Set from the start of an activation to its end, for programs of every kind. */
  run: RunClock | undefined;
  /** Set during a turn of a native program. */
  strand: Strand | undefined;
  /** Set while a closure of the user runs in the executor. In a `sideEffect` the guard must give real time and entropy. */
  closure: Closure | undefined;
}

const key = Symbol.for("temporalex.slot.1");
const holder = globalThis as unknown as { [key]?: Slot };

/** The realm's slot. */
export const slot: Slot = holder[key] ??= { run: undefined, strand: undefined, closure: undefined };

/** Runs a closure of the user with the slot saying so; closures do not nest in code that awaits. */
export function inClosure<T>(closure: Closure, call: () => T): T {
  const before = slot.closure;
  slot.closure = closure;
  try {
    return call();
  } finally {
    slot.closure = before;
  }
}
