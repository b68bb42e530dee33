// Values that are thrown, returned or logged to do harm: proxies whose traps throw, revoked ones,
// hostile getters, circles, sizes. A plan is plain data, so that a property can shrink it;
// `hostile` makes the value.
import fc from "fast-check";
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TimeoutFailure,
} from "../../ts/converter/failures.ts";

const BASES: { readonly [name: string]: () => Error } = {
  Error: () => new Error("plain"),
  TypeError: () => new TypeError("of a type"),
  ApplicationFailure: () => new ApplicationFailure("application", { type: "T" }),
  CancelledFailure: () => new CancelledFailure("cancelled"),
  TimeoutFailure: () => new TimeoutFailure("late", "HEARTBEAT"),
  ActivityFailure: () => new ActivityFailure("activity", { activityType: "a", activityId: "1" }),
};

const isSpiderMonkey = "InternalError" in globalThis;

const boom = (): never => {
  throw new Error("trap");
};
const TRAPS = ["get", "has", "getPrototypeOf", "ownKeys", "getOwnPropertyDescriptor"] as const;
const FIELDS = [
  "name",
  "message",
  "stack",
  "cause",
  "details",
  "type",
  "nonRetryable",
  "nextRetryDelayMs",
  "failure",
  "source",
  "code",
];
/**
 * What many causes lie below: made once of each class, because a field that is a getter makes its
 * value at each read.
 */
const deepCauses = new Map<string, Error>();
function deepCause(of: string, wrap: (text: string, cause: Error) => Error): Error {
  let made = deepCauses.get(of);
  if (made === undefined) {
    made = new Error("end");
    for (let i = 0; i < 20_000; i++) made = wrap(`c${i}`, made);
    deepCauses.set(of, made);
  }
  return made;
}

const VALUES: { readonly [name: string]: () => unknown } = {
  null: () => null,
  undefined: () => undefined,
  number: () => -0,
  nan: () => NaN,
  huge: () => Number.MAX_VALUE,
  bigint: () => 10n,
  symbol: () => Symbol("s"),
  function: () => () => 1,
  bytes: () => new Uint8Array([255, 255, 255]),
  text: () => "text",
  long: () => "\ud800m\0".repeat(100_000),
  nullPrototype: () => Object.create(null),
  toString: () => ({ toString: boom, toJSON: boom, [Symbol.toPrimitive]: boom }),
  circle: () => {
    const circle: unknown[] = [];
    circle.push(circle);
    return circle;
  },
  revoked: () => {
    const { proxy, revoke } = Proxy.revocable(new Error("x"), {});
    revoke();
    return proxy;
  },
  endless: () => {
    const get = () => endless;
    // SpiderMonkey's own code (instanceof, its console) follows such a prototype without end; the
    // others stop.
    const endless: object = new Proxy(
      new Error("endless"),
      isSpiderMonkey ? { get } : { get, getPrototypeOf: get },
    );
    return endless;
  },
  deep: () =>
    new Error("top", { cause: deepCause("error", (text, cause) => new Error(text, { cause })) }),
  deepFailure: () =>
    new ApplicationFailure("top", {
      cause: deepCause("failure", (text, cause) => new ApplicationFailure(text, { cause })),
    }),
};

/** What a hostile value is made from. */
export type HostilePlan =
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "trap"; readonly base: string; readonly traps: readonly string[] }
  | { readonly kind: "field"; readonly base: string; readonly field: string; readonly how: string }
  | { readonly kind: "self"; readonly base: string; readonly through: number };

export function hostile(plan: HostilePlan): unknown {
  if (plan.kind === "value") return VALUES[plan.value]!();
  const error = BASES[plan.base]!();
  switch (plan.kind) {
    case "trap":
      return new Proxy(error, Object.fromEntries(plan.traps.map((trap) => [trap, boom])));
    case "field":
      Object.defineProperty(
        error,
        plan.field,
        plan.how === "throws" ? { get: boom } : { get: VALUES[plan.how]! },
      );
      return error;
    case "self": {
      let last: Error = error;
      for (let i = 0; i < plan.through; i++) {
        last = new ApplicationFailure(`between ${i}`, { cause: last });
      }
      Object.defineProperty(error, "cause", { value: last });
      return error;
    }
  }
}

/** Values that are large, and slow to make: only the random plans have them. */
const LARGE = ["long", "deep", "deepFailure"];
const SMALL = ["throws", ...Object.keys(VALUES).filter((name) => !LARGE.includes(name))];

/** A failure of each class with each of its fields replaced by each small value. */
export const everyHostileField: readonly HostilePlan[] = Object.keys(BASES).flatMap((base) =>
  FIELDS.flatMap((field) => SMALL.map((how) => ({ kind: "field" as const, base, field, how })))
);

const bases = fc.constantFrom(...Object.keys(BASES));

export const hostilePlans: fc.Arbitrary<HostilePlan> = fc.oneof(
  fc.record({
    kind: fc.constant("value" as const),
    value: fc.constantFrom(...Object.keys(VALUES)),
  }),
  fc.record({
    kind: fc.constant("trap" as const),
    base: bases,
    traps: fc.subarray([...TRAPS], { minLength: 1 }),
  }),
  fc.record({
    kind: fc.constant("field" as const),
    base: bases,
    field: fc.constantFrom(...FIELDS),
    how: fc.constantFrom("throws", ...Object.keys(VALUES)),
  }),
  fc.record({
    kind: fc.constant("self" as const),
    base: bases,
    through: fc.integer({ min: 0, max: 40 }),
  }),
);
