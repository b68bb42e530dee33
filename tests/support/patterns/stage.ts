// Where a scenario of examples/patterns runs: one form of the pattern, on some service.
import type { Client } from "../../../ts/client/mod.ts";

// deno-lint-ignore no-explicit-any
export type Activities = { readonly [name: string]: (...args: any[]) => unknown };

/** A service whose time cannot be skipped. */
export interface RealStage {
  readonly client: Client;
  /** Calls of the pattern's activities so far, oldest first: "name(arguments)". */
  readonly calls: string[];
}

export interface Stage extends RealStage {
  /** Milliseconds since the epoch, in the time of workflows. */
  now(): number;
  /** Lets time pass until timers of the next `ms` milliseconds have fired. */
  advance(ms: number): Promise<void>;
}

/** One pattern: the activities of its workflows, and what both forms must do. */
export interface Pattern {
  readonly activities?: object;
  check(stage: Stage): Promise<void>;
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The functions of a module, which add their calls to `calls`. */
export function recordCalls(module: object, calls: string[]): Activities {
  return Object.fromEntries(
    Object.entries(module).filter(([, value]) => typeof value === "function").map((
      [name, fn],
    ) => [name, (...args: unknown[]) => {
      calls.push(`${name}(${args.map(String).join(", ")})`);
      return (fn as (...args: unknown[]) => unknown)(...args);
    }]),
  );
}

/** The innermost cause of an error: "type: message". */
export function rootCause(error: unknown): string {
  let cause = error as Error & { type?: string };
  while (cause.cause instanceof Error) cause = cause.cause;
  return `${cause.type ?? cause.name}: ${cause.message}`;
}

/** The innermost cause of a rejection; fails if the promise resolves. */
export function rejection(promise: Promise<unknown>): Promise<string> {
  return promise.then((value) => {
    throw new Error(`resolved with ${JSON.stringify(value)}`);
  }, rootCause);
}
