// `assert` of Node for workflow code of the official SDK, as a global and as a module, in every
// runtime. A failed assertion throws an AssertionError, which fails the workflow task like every
// error that is not a failure.
import { deepEqual } from "./deep_equal.ts";

export interface AssertionErrorOptions {
  message?: string | undefined;
  actual?: unknown;
  expected?: unknown;
  operator?: string;
}

/** Error of a failed assertion. */
export class AssertionError extends Error {
  override name = "AssertionError";
  readonly code = "ERR_ASSERTION";
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator: string;
  readonly generatedMessage: boolean;

  constructor({ message, actual, expected, operator = "fail" }: AssertionErrorOptions) {
    super(message ?? compared(operator, actual, expected));
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
    this.generatedMessage = message === undefined;
  }
}

/** A text, or an error that is thrown instead. */
type Message = string | Error;
type Expected = RegExp | ((error: unknown) => unknown) | object;

function failWith(message: Message | undefined, options: AssertionErrorOptions): never {
  if (message instanceof Error) throw message;
  throw new AssertionError({ ...options, message });
}

function ok(value: unknown, message?: Message): asserts value {
  if (!value) {
    failWith(message ?? "The expression evaluated to a falsy value", {
      actual: value,
      expected: true,
      operator: "==",
    });
  }
}

type Comparison = (actual: unknown, expected: unknown, message?: Message) => void;

function comparison(
  operator: string,
  holds: (actual: unknown, expected: unknown) => boolean,
): Comparison {
  return (actual, expected, message) => {
    if (!holds(actual, expected)) failWith(message, { actual, expected, operator });
  };
}

// deno-lint-ignore eqeqeq
const loosely = (a: unknown, b: unknown): boolean => a == b || (a !== a && b !== b);

function throws(fn: () => unknown, expected?: Expected | string, message?: Message): void {
  let thrown: unknown;
  try {
    fn();
  } catch (error) {
    thrown = error;
    return judge(thrown, expected, message);
  }
  failWith(formatMessage(expected, message) ?? "Missing expected exception.", {
    operator: "throws",
  });
}

function doesNotThrow(fn: () => unknown, expected?: Expected | string, message?: Message): void {
  try {
    fn();
  } catch (error) {
    unwanted(error, formatMessage(expected, message), "doesNotThrow");
  }
}

async function rejects(
  promise: PromiseLike<unknown> | (() => PromiseLike<unknown>),
  expected?: Expected | string,
  message?: Message,
) {
  try {
    await (typeof promise === "function" ? promise() : promise);
  } catch (error) {
    return judge(error, expected, message);
  }
  failWith(formatMessage(expected, message) ?? "Missing expected rejection.", {
    operator: "rejects",
  });
}

async function doesNotReject(
  promise: PromiseLike<unknown> | (() => PromiseLike<unknown>),
  expected?: Expected | string,
  message?: Message,
): Promise<void> {
  try {
    await (typeof promise === "function" ? promise() : promise);
  } catch (error) {
    unwanted(error, formatMessage(expected, message), "doesNotReject");
  }
}

const formatMessage = (
  expected: Expected | string | undefined,
  message: Message | undefined,
): Message | undefined => typeof expected === "string" ? expected : message;

function unwanted(error: unknown, message: Message | undefined, operator: string): never {
  const said = error instanceof Error ? error.message : formatValue(error);
  failWith(message ?? `Got unwanted exception.\nActual message: "${said}"`, {
    actual: error,
    operator,
  });
}

/** Checks what was thrown against a class, a message, properties, or a function. */
function judge(
  error: unknown,
  expected: Expected | string | undefined,
  message: Message | undefined,
): void {
  if (expected === undefined || typeof expected === "string") return;
  if (expected instanceof RegExp) {
    if (!expected.test(String(error))) {
      failWith(message, { actual: error, expected, operator: "throws" });
    }
    return;
  }
  if (typeof expected === "function") {
    const { prototype } = expected as { prototype?: object };
    if (prototype !== undefined && error instanceof (expected as unknown as new () => object)) {
      return;
    }
    if (prototype instanceof Error || expected === Error as unknown) throw error;
    if ((expected as (error: unknown) => unknown)(error) === true) return;
    failWith(message ?? "The validation function did not return true", {
      actual: error,
      expected,
      operator: "throws",
    });
  }
  for (const [key, value] of Object.entries(expected)) {
    const actual = (error as { [key: string]: unknown } | undefined)?.[key];
    const same = value instanceof RegExp && typeof actual === "string"
      ? value.test(actual)
      : deepEqual(actual, value, true);
    if (!same) failWith(message, { actual: error, expected, operator: "throws" });
  }
  for (const key of ["name", "message"] as const) {
    if (!(expected instanceof Error)) continue;
    if ((error as Error)[key] !== expected[key]) {
      failWith(message, { actual: error, expected, operator: "throws" });
    }
  }
}

function matching(operator: string, wanted: boolean) {
  return (text: string, expression: RegExp, message?: Message): void => {
    if (typeof text === "string" && (text.search(expression) >= 0) === wanted) return;
    failWith(
      message ??
        `The input ${formatValue(text)} ${
          wanted ? "did not match" : "was expected not to match"
        } ${expression}`,
      {
        actual: text,
        expected: expression,
        operator,
      },
    );
  };
}

function fail(message: Message = "Failed"): never {
  return failWith(message, { operator: "fail" });
}

function ifError(value: unknown): void {
  if (value !== null && value !== undefined) {
    failWith(
      `ifError got unwanted exception: ${
        value instanceof Error ? value.message : formatValue(value)
      }`,
      {
        actual: value,
        operator: "ifError",
      },
    );
  }
}

const strict = {
  AssertionError,
  ok,
  fail,
  ifError,
  throws,
  doesNotThrow,
  rejects,
  doesNotReject,
  match: matching("match", true),
  doesNotMatch: matching("doesNotMatch", false),
  equal: comparison("strictEqual", Object.is),
  notEqual: comparison("notStrictEqual", (a, b) => !Object.is(a, b)),
  strictEqual: comparison("strictEqual", Object.is),
  notStrictEqual: comparison("notStrictEqual", (a, b) => !Object.is(a, b)),
  deepEqual: comparison("deepStrictEqual", (a, b) => deepEqual(a, b, true)),
  notDeepEqual: comparison("notDeepStrictEqual", (a, b) => !deepEqual(a, b, true)),
  deepStrictEqual: comparison("deepStrictEqual", (a, b) => deepEqual(a, b, true)),
  notDeepStrictEqual: comparison("notDeepStrictEqual", (a, b) => !deepEqual(a, b, true)),
};

const loose = {
  ...strict,
  equal: comparison("==", loosely),
  notEqual: comparison("!=", (a, b) => !loosely(a, b)),
  deepEqual: comparison("deepEqual", (a, b) => deepEqual(a, b, false)),
  notDeepEqual: comparison("notDeepEqual", (a, b) => !deepEqual(a, b, false)),
};

type Assert = typeof ok & typeof loose & {
  readonly strict: typeof ok & typeof strict & { readonly strict: unknown };
};

const call = (value: unknown, message?: Message): void => ok(value, message);
const strictAssert = Object.assign(
  (value: unknown, message?: Message): void => ok(value, message),
  strict,
) as Assert["strict"];
Object.assign(strictAssert, { strict: strictAssert });

/** The function with its methods. */
export const assert: Assert = Object.assign(call, loose, { strict: strictAssert }) as Assert;

/** Node's text before two one-line values. */
const SENTENCES: { readonly [operator: string]: string } = {
  strictEqual: "Expected values to be strictly equal:",
  deepStrictEqual: "Expected values to be strictly deep-equal:",
};

/**
 * Returns the message of a failed comparison. For values that are not objects it equals Node's
 * text, which is recorded in histories; Node's text for objects varies by version.
 */
function compared(operator: string, actual: unknown, expected: unknown): string {
  const sentence = Object.hasOwn(SENTENCES, operator) ? SENTENCES[operator] : undefined;
  if (sentence === undefined || isObject(actual) || isObject(expected)) {
    return `${formatValue(actual)} ${operator} ${formatValue(expected)}`;
  }
  const [a, b] = [quoted(actual), quoted(expected)];
  if (a.length + b.length <= 12 && (actual !== 0 || expected !== 0)) {
    return `${sentence}\n\n${a} !== ${b}\n`;
  }
  return `${sentence}\n+ actual - expected\n\n+ ${a}\n- ${b}`;
}

const isObject = (value: unknown): boolean =>
  (typeof value === "object" && value !== null) || typeof value === "function";

/** Formats a value that is not an object, like Node. */
function quoted(value: unknown): string {
  if (typeof value === "string" && !value.includes("'")) {
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"')}'`;
  }
  return Object.is(value, -0) ? "-0" : formatValue(value);
}

function formatValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null || value instanceof RegExp) return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
