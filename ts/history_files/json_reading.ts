// The position of the reader of JSON histories, and its errors.
import { WireBuffer } from "./wire_buffer.ts";

/**
 * The file does not contain a readable history. The message states the problem and its position.
 */
export class HistoryFileError extends Error {
  override name = "HistoryFileError";
  /**
   * If events are missing: the history up to there, as bytes of temporal.api.history.v1.History.
   */
  readonly before: Uint8Array | undefined;

  constructor(message: string, options: ErrorOptions & { readonly before?: Uint8Array } = {}) {
    super(message, options);
    this.before = options.before;
  }
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The output of the reader, with counts. */
export class JsonReading {
  readonly to = new WireBuffer();
  /** Number of decoded payloads that were encoded again. */
  decodedPayloads = 0;
  /** Nesting depth of messages at the current position. */
  depth = 0;
  /** Number of written fields of the outermost message's oneof. */
  chosen = 0;
  /** Position in the file: field names and indices. */
  readonly path: (string | number)[] = [];

  /** "events[3].attributes.input" */
  get place(): string {
    return this.path.map((part, i) =>
      typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`
    ).join("");
  }
}

export function isObject(json: Json | undefined): json is { [key: string]: Json } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

export const shortened = (path: string): string =>
  path.length > 160 ? `${path.slice(0, 157)}...` : path;

/** User data is not included in errors, which are printed in logs and CI. */
const PRIVATE: ReadonlySet<string> = new Set(["payloads", "a payload", "bytes (base64)"]);

export function fail(into: JsonReading, json: Json, wanted: string): HistoryFileError {
  const text = JSON.stringify(json) ?? "undefined";
  const found = PRIVATE.has(wanted)
    ? kindOf(json)
    : text.length > 60
    ? `${text.slice(0, 57)}...`
    : text;
  const { place } = into;
  return new HistoryFileError(
    `${place === "" ? "the history" : shortened(place)} should be ${wanted}, but is ${found}`,
  );
}

const kindOf = (json: Json): string =>
  json === null
    ? "null"
    : Array.isArray(json)
    ? "a list"
    : typeof json === "string"
    ? "a text"
    : isObject(json)
    ? "an object"
    : `a ${typeof json}`;
