// signals(...) and timers(...): declare the signals and timers of a workflow together. The key
// `threatDetected` has the name "threat_detected", as in histories of other languages and on the
// command line.
import { rejectUnknownOptions } from "../base/option_names.ts";
import { MESSAGE_OPTIONS, type MessageOptions, type Signal, signal } from "./messages.ts";

/** The arguments of a signal in {@link signals}. Made by {@link payload}. */
export interface SignalPayload<A extends unknown[] = []> {
  /** Description and validators, as for `signal`. */
  readonly options: MessageOptions<A>;
}

/** The signals of a table, by key. */
export type Signals<T> = {
  readonly [K in keyof T]: T[K] extends SignalPayload<infer A> ? Signal<A> : never;
};

/** A parsed signal: its key in the table, and its arguments. */
export type ParsedSignal<S> = {
  readonly [K in keyof S]: S[K] extends Signal<infer A> ? { readonly key: K; readonly args: A }
    : never;
}[keyof S];

/**
 * Declares the arguments of a signal: several (`payload<[enemy: number, distance: number]>()`), one
 * object, or none.
 *
 * @example
 * payload<[{ speed: number; alertRange: number }]>({ description: "how it walks and how far it sees" })
 */
export function payload(options?: MessageOptions<[]>): SignalPayload;
export function payload<A extends unknown[]>(options?: MessageOptions<A>): SignalPayload<A>;
export function payload(options: MessageOptions<[]> = {}): SignalPayload {
  rejectUnknownOptions("payload", options, MESSAGE_OPTIONS);
  return Object.freeze({ options });
}

/**
 * Declares the signals of a workflow. Their names are the keys in snake_case.
 *
 * @example
 * export const patrolSignals = signals({
 *   threatDetected: payload<[enemyId: number]>(), // "threat_detected"
 *   standDown: payload(),
 *   configure: payload<[{ speed: number; alertRange: number }]>(),
 * });
 * await select([on(patrolSignals.threatDetected, ([enemyId]) => fight(enemyId)), timer("1 minute", () => undefined)]);
 */
// deno-lint-ignore no-explicit-any
export function signals<T extends { readonly [key: string]: SignalPayload<any> }>(
  table: T,
): Signals<T> {
  const made: { [key: string]: unknown } = {};
  for (const [key, wire] of wireNames("signal", Object.keys(table))) {
    const { options } = (table[key] ?? {}) as Partial<SignalPayload>;
    if (options === undefined) {
      throw new TypeError(`signal "${key}" needs payload<[...]>() with the types of its arguments`);
    }
    made[key] = signal(wire, options);
  }
  return Object.freeze(made) as Signals<T>;
}

/**
 * Declares the names of a workflow's timers: each key in snake_case, for `timer(name, duration)`.
 *
 * @example
 * export const patrolTimers = timers("startPatrol", "arrival"); // { startPatrol: "start_patrol", arrival: "arrival" }
 * await select([on(standDown, stop), timer(patrolTimers.arrival, "5s", walk)]);
 */
export function timers<const K extends string>(...keys: K[]): { readonly [N in K]: string } {
  return Object.freeze(Object.fromEntries(wireNames("timer", keys))) as {
    readonly [N in K]: string;
  };
}

/**
 * Returns the signal of a table with this name, and its arguments; undefined for an unknown name.
 *
 * @example
 * const parsed = parseSignal(patrolSignals, "threat_detected", [42]);
 * if (parsed?.key === "threatDetected") console.log(parsed.args[0]);
 */
export function parseSignal<S extends object>(
  table: S,
  name: string,
  args: readonly unknown[],
): ParsedSignal<S> | undefined {
  for (const [key, message] of Object.entries(table)) {
    if ((message as { readonly name?: unknown }).name === name) {
      return { key, args: [...args] } as unknown as ParsedSignal<S>;
    }
  }
  return undefined;
}

/** Returns the key of the timer with this name; undefined for an unknown name. */
export function parseTimer<T extends { readonly [key: string]: string }>(
  table: T,
  name: string,
): keyof T | undefined {
  return Object.keys(table).find((key) => table[key] === name);
}

/** Returns keys with their names. Throws a TypeError if two keys have the same name. */
export function wireNames(kind: string, keys: readonly string[]): [key: string, wire: string][] {
  const seen = new Map<string, string>();
  return keys.map((key) => {
    const wire = snakeCase(key);
    const other = seen.get(wire);
    if (other !== undefined) {
      throw new TypeError(`${kind}s "${other}" and "${key}" would both be named "${wire}"`);
    }
    seen.set(wire, key);
    return [key, wire];
  });
}

/**
 * "threatDetected" and "ThreatDetected" become "threat_detected", "hpBelow50" "hp_below50",
 * "aiURLSeen" "ai_url_seen".
 */
function snakeCase(key: string): string {
  return key.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
}
