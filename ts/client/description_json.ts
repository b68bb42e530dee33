// Descriptions as JSON: what `JSON.stringify(await handle.describe())` writes. The protobuf messages, which hold 64-bit numbers that JSON
// does not know, stay out; errors, dates, bytes and collections are written as people read them.
import { TemporalFailure } from "../converter/failures.ts";

/** The parts of a description that are messages of the service. */
const MESSAGES: ReadonlySet<string> = new Set(["raw", "rawDescription"]);

/** Gives an object the form that JSON.stringify writes; nothing else of it changes. */
export function withJson<T extends object>(description: T): T {
  const value = (): unknown =>
    Object.fromEntries(
      Object.entries(description).filter(([key]) => !MESSAGES.has(key)).map(([key, part]) => [key, jsonOf(part)]),
    );
  return Object.defineProperty(description, "toJSON", { value });
}

function jsonOf(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (value instanceof Uint8Array) return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(""));
  if (value instanceof Error) return errorJson(value);
  if (value instanceof Map || value instanceof Set) return [...value].map(jsonOf);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, jsonOf(part)]));
}

/** An error's message is no enumerable property of it; of a failure the bytes that it was read from are left out. */
function errorJson(error: Error): unknown {
  const { failure: _bytes, ...fields } = error as Error & { failure?: unknown };
  const own = error instanceof TemporalFailure ? jsonOf(fields) as object : {};
  return {
    name: error.name,
    message: error.message,
    ...own,
    ...(error.cause === undefined ? {} : { cause: jsonOf(error.cause) }),
  };
}
