// The activities of a worker by type name: the property key, never the function's own name, so that
// minifiers change nothing. Accepts several objects, such as module namespaces and class instances.
import { ApplicationFailure } from "../../converter/failures.ts";

/** Activity functions by name. Properties that are not functions are skipped. */
export type Activities = object;

const PREFIXED = Symbol.for("temporalex.prefixed-activities.1");

interface Prefixed {
  readonly [PREFIXED]: { readonly prefix: string; readonly activities: Activities };
}

/**
 * Adds a prefix to the type names of activities. Workflow code calls them with `activities<T>({
 * prefix: "payment." })`: `activities: [shipping, prefixed("payment.", payment)]`.
 */
export function prefixed(prefix: string, activities: Activities): Activities {
  return { [PREFIXED]: { prefix, activities } } satisfies Prefixed;
}

export interface RegisteredActivity {
  // deno-lint-ignore ban-types
  readonly run: Function;
  /** The object that has the method. */
  readonly self: object;
}

/** Rules for activity types without a function. */
export interface UnknownActivities {
  /** Their attempts fail permanently (for tests) instead of waiting for a worker that has them. */
  readonly unknownActivityIsFinal?: boolean;
  /** Some dialects have one function for all types. */
  readonly dialect?: { readonly anyType?: string };
}

/** Names of an object's functions, including those of its class. */
function functionNames(object: object): string[] {
  const names = new Set<string>();
  for (
    let level: object | null = object;
    level !== null && level !== Object.prototype;
    level = Object.getPrototypeOf(level)
  ) {
    for (const name of Object.getOwnPropertyNames(level)) {
      if (
        name !== "constructor" &&
        typeof (object as { [name: string]: unknown })[name] === "function"
      ) names.add(name);
    }
  }
  return [...names];
}

export class ActivityRegistry {
  readonly #activities = new Map<string, RegisteredActivity>();
  readonly #rules: UnknownActivities;
  readonly #elsewhere: readonly string[];

  /** `elsewhere`: types that run in threads. */
  constructor(
    activities: Activities | readonly Activities[],
    rules: UnknownActivities = {},
    elsewhere: readonly string[] = [],
  ) {
    this.#rules = rules;
    this.#elsewhere = elsewhere;
    const items = new Map<string, number>();
    for (
      const [item, entry] of (Array.isArray(activities) ? activities as Activities[] : [activities])
        .entries()
    ) {
      const { prefix, activities: self } = (entry as Partial<Prefixed>)[PREFIXED] ??
        { prefix: "", activities: entry };
      for (const key of functionNames(self)) {
        const name = prefix + key;
        const run = (self as { [name: string]: unknown })[key] as RegisteredActivity["run"];
        const before = this.#activities.get(name);
        if (elsewhere.includes(name) || (before !== undefined && before.run !== run)) {
          const first = before === undefined
            ? "the activities that run in threads"
            : `activities[${items.get(name)}]`;
          throw new TypeError(
            `two activities are named "${name}", in ${first} and activities[${item}]; rename one of them`,
          );
        }
        if (before === undefined) items.set(name, item);
        this.#activities.set(name, { run, self });
      }
    }
  }

  get names(): string[] {
    return [...this.#activities.keys(), ...this.#elsewhere];
  }

  /**
   * Why a local activity of that type cannot run here; undefined if it can. Its workflow task waits
   * then.
   */
  lacks(name: string): string | undefined {
    if (
      this.#rules.unknownActivityIsFinal || this.#found(name) !== undefined ||
      this.#elsewhere.includes(name)
    ) {
      return undefined;
    }
    return `this worker has no local activity "${name}"; ${this.#known()}`;
  }

  #found(name: string): RegisteredActivity | undefined {
    const { anyType } = this.#rules.dialect ?? {};
    return this.#activities.get(name) ??
      (anyType === undefined ? undefined : this.#activities.get(anyType));
  }

  #known(): string {
    return this.names.length === 0 ? "it has no activities" : `it has ${this.names.join(", ")}`;
  }

  /** Returns the activity of that type. Throws a failure that lists the known types. */
  find(name: string): RegisteredActivity {
    const found = this.#found(name);
    if (found !== undefined) return found;
    throw new ApplicationFailure(`this worker has no activity "${name}"; ${this.#known()}`, {
      type: "NotFoundError",
      nonRetryable: this.#rules.unknownActivityIsFinal === true,
    });
  }
}
