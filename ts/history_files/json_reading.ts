// Where the reader of JSON histories is, and how it says what it finds there.
import { WireBuffer } from "./wire_buffer.ts";

/** A file that holds no history that can be read; the message says what is wrong and where. */
export class HistoryFileError extends Error {
  override name = "HistoryFileError";
  /** Where events are missing: the history up to there, bytes of temporal.api.history.v1.History. */
  readonly before: Uint8Array | undefined;

  constructor(message: string, options: ErrorOptions & { readonly before?: Uint8Array } = {}) {
    super(message, options);
    this.before = options.before;
  }
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What is written, and how it went. */
export class JsonReading {
  readonly to = new WireBuffer();
  /** Payloads that were decoded, and have been encoded again. */
  decodedPayloads = 0;
  /** Messages inside each other at the place that is read. */
  depth = 0;
  /** Fields of the outermost message's choice that were written. */
  chosen = 0;
  /** Where in the file: names of fields, and indexes. */
  readonly path: (string | number)[] = [];

  /** "events[3].attributes.input" */
  get place(): string {
    return this.path.map((part, i) => typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`).join("");
  }
}

export function isObject(json: Json | undefined): json is { [key: string]: Json } {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

export const shortened = (path: string): string => path.length > 160 ? `${path.slice(0, 157)}...` : path;

/** What belongs to the user is not shown: errors go to logs and to CI. */
const PRIVATE: ReadonlySet<string> = new Set(["payloads", "a payload", "bytes (base64)"]);

export function fail(into: JsonReading, json: Json, wanted: string): HistoryFileError {
  const text = JSON.stringify(json) ?? "undefined";
  const found = PRIVATE.has(wanted) ? kindOf(json) : text.length > 60 ? `${text.slice(0, 57)}...` : text;
  const { place } = into;
  return new HistoryFileError(`${place === "" ? "the history" : shortened(place)} should be ${wanted}, but is ${found}`);
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
