// Assertions for runtime-neutral cases: the few of node:assert/strict that they need, in every
// runtime.

class AssertionFailed extends Error {
  override name = "AssertionFailed";
}

function fail(message: string | undefined, what: string): never {
  throw new AssertionFailed(message === undefined ? what : `${message}: ${what}`);
}

/** A readable, order-independent text of plain data; equal texts are equal data. */
function show(value: unknown): string {
  if (value === undefined) return "undefined";
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Uint8Array) {
    return `bytes ${Array.from(value, (b) => b.toString(16).padStart(2, "0")).join("")}`;
  }
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (Array.isArray(value)) return `[${value.map(show).join(", ")}]`;
  if (value instanceof Map) return `Map ${show([...value])}`;
  if (value instanceof Set) return `Set ${show([...value])}`;
  if (typeof value === "object" && value !== null) {
    const keys = Object.keys(value).filter((key) =>
      (value as { [k: string]: unknown })[key] !== undefined
    ).sort();
    return `{ ${
      keys.map((key) => `${key}: ${show((value as { [k: string]: unknown })[key])}`).join(", ")
    } }`;
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

export function ok(value: unknown, message?: string): asserts value {
  if (!value) fail(message, `expected a true value, got ${show(value)}`);
}

export function equal(actual: unknown, expected: unknown, message?: string): void {
  if (!Object.is(actual, expected)) {
    fail(message, `expected ${show(expected)}, got ${show(actual)}`);
  }
}

export function deepEqual(actual: unknown, expected: unknown, message?: string): void {
  const a = show(actual);
  const e = show(expected);
  if (a !== e) fail(message, `\n  expected ${e}\n  got      ${a}`);
}

export function match(text: string, pattern: RegExp, message?: string): void {
  if (!pattern.test(text)) fail(message, `expected ${pattern}, got ${JSON.stringify(text)}`);
}

export function throws(call: () => unknown, pattern: RegExp, message?: string): void {
  try {
    call();
  } catch (e) {
    return match(`${(e as Error).name}: ${(e as Error).message}`, pattern, message);
  }
  fail(message, "expected a throw");
}

export async function rejects(
  promise: Promise<unknown>,
  pattern: RegExp,
  message?: string,
): Promise<void> {
  try {
    await promise;
  } catch (e) {
    return match(`${(e as Error).name}: ${(e as Error).message}`, pattern, message);
  }
  fail(message, "expected a rejection");
}
