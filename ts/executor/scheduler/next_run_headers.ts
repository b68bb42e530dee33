// Headers that a run passes to the run that continues it: names, and JSON with payloads as values.
// Each is one payload, so that the worker's payload codec can encode it; headers are otherwise not
// encoded.
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import type { WirePayload } from "../program/encode.ts";
import { WorkflowTaskError } from "../program/errors.ts";
import type { SignalItem } from "./inbox.ts";

export const BUFFERED_SIGNALS_HEADER = "temporalex-buffered-signals";
export const CANCEL_REQUEST_HEADER = "temporalex-cancel-requested";
export const ANSWERED_UPDATES_HEADER = "temporalex-answered-updates";
/** Present: the last argument is the state of a workflow with `carry`. */
export const CARRY_HEADER = "temporalex-carry";
/** Maximum size of a header's data, in bytes. */
export const HEADER_LIMIT = 256 * 1024;

export interface PayloadText {
  readonly metadata: { readonly [key: string]: string };
  readonly data: string;
}
const utf8 = new TextEncoder();
const text = new TextDecoder();
const JSON_PLAIN = utf8.encode("json/plain");

/** Headers with JSON values. */
export const jsonHeader = {
  write(name: string, value: unknown): { [key: string]: WirePayload } {
    const data = utf8.encode(JSON.stringify(value));
    return { [name]: { metadata: { encoding: JSON_PLAIN }, data, externalPayloads: [] } };
  },
  /**
   * Calls `take` with the header's value, if present. Throws an error that fails the task if
   * unreadable.
   */
  read<T>(
    headers: { readonly [key: string]: WirePayload },
    name: string,
    take: (value: T) => void,
  ): void {
    const payload = headers[name];
    if (payload === undefined) return;
    try {
      take(JSON.parse(text.decode(payload.data)));
    } catch (e) {
      throw new WorkflowTaskError(
        `the header ${name} cannot be read: ${
          (e as Error).message
        }; check that the payload codec of the previous run is set`,
        { cause: e },
      );
    }
  },
};

export const toBase64 = (bytes: Uint8Array): string => base64Encode(bytes);
export const headerBytes = (encoded: string): Uint8Array => base64Decode(encoded);

export function toText(payload: WirePayload): PayloadText {
  const metadata: { [key: string]: string } = {};
  for (const [key, value] of Object.entries(payload.metadata)) metadata[key] = base64Encode(value);
  return { metadata, data: base64Encode(payload.data) };
}

export function fromText(payload: PayloadText): WirePayload {
  const metadata: { [key: string]: Uint8Array } = {};
  for (const [key, value] of Object.entries(payload.metadata)) metadata[key] = base64Decode(value);
  return { metadata, data: base64Decode(payload.data), externalPayloads: [] };
}

/**
 * Whether the buffered signals fit into the next run's header, leaving half of it for later ones.
 */
export function signalsFit(signals: readonly SignalItem[]): boolean {
  let bytes = 0;
  for (const { name, input } of signals) {
    bytes += name.length + 32;
    for (const { data } of input) bytes += data.length * 4 / 3 + 128;
  }
  return bytes <= HEADER_LIMIT / 2;
}
