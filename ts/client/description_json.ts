// JSON form of descriptions: `JSON.stringify(await handle.describe())`. Leaves out protobuf
// messages, whose 64-bit numbers JSON lacks; writes errors, dates, bytes and collections as
// readable text.
import { TemporalFailure } from "../converter/failures.ts";

/** Fields with messages of the service. */
const MESSAGES: ReadonlySet<string> = new Set(["raw", "rawDescription"]);

/** Adds a JSON form to an object; nothing else changes. */
export function withJson<T extends object>(description: T): T {
  const value = (): unknown =>
    Object.fromEntries(
      Object.entries(description).filter(([key]) => !MESSAGES.has(key)).map((
        [key, part],
      ) => [key, jsonOf(part)]),
    );
  return Object.defineProperty(description, "toJSON", { value });
}

function jsonOf(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (value instanceof Uint8Array) {
    return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(""));
  }
  if (value instanceof Error) return errorJson(value);
  if (value instanceof Map || value instanceof Set) return [...value].map(jsonOf);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, jsonOf(part)]));
}

/** Adds an error's message, which is not enumerable, and leaves out the encoded failure. */
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
