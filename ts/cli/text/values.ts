// Values on the command line: arguments as JSON texts that reach the service unchanged, payloads as
// readable text.
import { resolve } from "node:path";
import {
  jsonPayloadConverter,
  type Payload,
  type PayloadConverter,
} from "../../converter/payload.ts";
import { nestedTooDeep } from "../../history_files/json_nesting.ts";
import type { Call } from "../frame/command.ts";
import { UsageError } from "../frame/errors.ts";
import { printable } from "../frame/printable.ts";
import type { INPUT_OPTIONS } from "../service/options.ts";

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** Parses "key=value". */
export function keyValue(option: string, text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`${option} is written key=value, not "${text}"`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Quotes a text as one word of a shell command. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** A payload that is sent byte for byte. */
export class Encoded {
  readonly payload: Payload;

  constructor(payload: Payload) {
    this.payload = payload;
  }
}

/**
 * Shows payloads of unknown encodings (encrypted, or of other languages) and truncated JSON instead
 * of failing the command.
 */
export class CliConverter implements PayloadConverter {
  toPayload(value: unknown): Payload {
    return value instanceof Encoded ? value.payload : jsonPayloadConverter.toPayload(value);
  }

  fromPayload(payload: Payload): unknown {
    try {
      // No encoder writes such a value.
      const isJson = text.decode(payload.metadata["encoding"]).startsWith("json/");
      if (isJson && nestedTooDeep(text.decode(payload.data)) !== undefined) {
        throw new RangeError("nested too deep");
      }
      return jsonPayloadConverter.fromPayload(payload);
    } catch {
      const metadata = Object.entries(payload.metadata).map(([key, value]) =>
        [key, text.decode(value)] as const
      );
      return { metadata: Object.fromEntries(metadata), data: payload.data };
    }
  }
}

/** Returns the arguments of --input and related options. */
export async function readInputs({ options, io }: Call<typeof INPUT_OPTIONS>): Promise<Encoded[]> {
  const { input, inputFile, inputMeta, inputBase64 } = options;
  if (input.length > 0 && inputFile.length > 0) {
    throw new UsageError("--input and --input-file cannot be given together");
  }
  if (inputFile.filter((file) => file === "-").length > 1) {
    throw new UsageError("standard input can be one argument only");
  }
  const sources = inputFile.length === 0
    ? input.map((value) => ({ name: "--input", bytes: utf8.encode(value) }))
    : await Promise.all(inputFile.map(async (file) => ({
      name: file === "-" ? "standard input" : file,
      bytes: file === "-" ? await io.stdin() : await readFile(file, io),
    })));
  // A repeated key belongs to the next argument.
  const metas = new Map<string, string[]>();
  for (const pair of inputMeta) {
    const [key, value] = keyValue("--input-meta", pair);
    metas.set(key, [...metas.get(key) ?? [], value]);
  }
  return sources.map(({ name, bytes }, i) => {
    const data = inputBase64 ? fromBase64(name, bytes) : bytes;
    const meta = [...metas].map(([key, values]) =>
      [key, values[Math.min(i, values.length - 1)]!] as const
    );
    const metadata: { [key: string]: string } = {
      encoding: "json/plain",
      ...Object.fromEntries(meta),
    };
    if (metadata["encoding"] === "json/plain") checkJson(name, data);
    return new Encoded({
      metadata: Object.fromEntries(
        Object.entries(metadata).map(([key, value]) => [key, utf8.encode(value)]),
      ),
      data,
    });
  });
}

async function readFile(file: string, io: Call["io"]): Promise<Uint8Array> {
  try {
    return await io.read(resolve(io.cwd, file));
  } catch (e) {
    throw new UsageError(`${file} cannot be read: ${(e as Error).message}`);
  }
}

function fromBase64(name: string, bytes: Uint8Array): Uint8Array {
  try {
    return Uint8Array.from(atob(text.decode(bytes).trim()), (c) => c.charCodeAt(0));
  } catch {
    throw new UsageError(`${name} is not base64`);
  }
}

/** Encodes a JSON text as an argument, byte for byte. */
export function encodeInput(option: string, json: string): Encoded {
  const data = utf8.encode(json);
  checkJson(option, data);
  return new Encoded({ metadata: { encoding: utf8.encode("json/plain") }, data });
}

function checkJson(name: string, bytes: Uint8Array): void {
  const value = text.decode(bytes);
  refuseDeep(name, value);
  try {
    JSON.parse(value);
  } catch (e) {
    // Common mistake: a bare word, or quotes removed by the shell.
    const hint = name.startsWith("--") && /^[^{["\d-][^"]*$/.test(value)
      ? `; a text needs its own quotes: ${name} '${JSON.stringify(value)}'`
      : "";
    throw new UsageError(`${name} is not JSON: ${(e as Error).message}${hint}`);
  }
}

/** Rejects nesting at which encoders and decoders of most languages fail. */
function refuseDeep(name: string, json: string): void {
  const deep = nestedTooDeep(json);
  if (deep !== undefined) {
    throw new UsageError(
      `${name} cannot be used: ${deep}; pass a flatter value, or one text that holds it`,
    );
  }
}

/** Returns `key=json` pairs of an option as an object. */
export function jsonPairs(
  option: string,
  pairs: readonly string[],
): { [key: string]: unknown } | undefined {
  if (pairs.length === 0) return undefined;
  return Object.fromEntries(pairs.map((pair) => {
    const [key, value] = keyValue(option, pair);
    refuseDeep(`${option} ${key}`, value);
    try {
      return [key, JSON.parse(value) as unknown];
    } catch (e) {
      throw new UsageError(
        `${option} ${key}: the value is not JSON: ${
          (e as Error).message
        }; a text needs its own quotes: '${key}=${JSON.stringify(value)}'`,
      );
    }
  }));
}

/** Formats a value as JSON; approximates values that JSON lacks. */
export function showValue(value: unknown, indent?: number): string {
  if (value === undefined) return "";
  const json = JSON.stringify(value, (_, inner: unknown) => {
    if (inner instanceof Uint8Array) {
      return btoa(Array.from(inner, (byte) => String.fromCharCode(byte)).join(""));
    }
    return typeof inner === "bigint" ? String(inner) : inner;
  }, indent);
  // JSON keeps C1 controls and bidirectional marks, which terminals interpret. The escapes are
  // JSON's.
  return printable(json ?? String(value));
}

export function showValues(values: readonly unknown[]): string {
  return values.map((value) => value === undefined ? "undefined" : showValue(value)).join(", ");
}
