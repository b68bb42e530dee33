// What a run that continues as new hands to the next one in headers. Signals that are still buffered are delivered first there, in order.
// The worker's payload codec must treat these headers like any other payload (headers are not encoded otherwise), which is why each is
// one payload. Beyond the limit the task fails rather than dropping a signal.
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import type { WirePayload } from "./encode.ts";
import { WorkflowTaskError } from "./errors.ts";
import type { NativeRun } from "./run.ts";

export const CARRY_HEADER = "temporalex-buffered-signals";
/** Bytes of the header's data. */
export const CARRY_LIMIT = 256 * 1024;

export interface CarriedPayload {
  readonly metadata: { readonly [key: string]: string };
  readonly data: string;
}
interface CarriedSignal {
  readonly name: string;
  readonly input: readonly CarriedPayload[];
}

const utf8 = new TextEncoder();
const text = new TextDecoder();
const JSON_PLAIN = utf8.encode("json/plain");

/** Headers of JSON. */
export const carried = {
  write(name: string, value: unknown): { [key: string]: WirePayload } {
    const data = utf8.encode(JSON.stringify(value));
    return { [name]: { metadata: { encoding: JSON_PLAIN }, data, externalPayloads: [] } };
  },
  /** Gives the header's value to `take`, if it is there; throws what fails the task if it cannot be read. */
  read<T>(headers: { readonly [key: string]: WirePayload }, name: string, take: (value: T) => void): void {
    const payload = headers[name];
    if (payload === undefined) return;
    try {
      take(JSON.parse(text.decode(payload.data)));
    } catch (e) {
      throw new WorkflowTaskError(
        `the header ${name} cannot be read: ${(e as Error).message}; is a payload codec of the previous run missing?`,
        { cause: e },
      );
    }
  },
};

/** The headers of the next run: buffered signals and answered updates, as far as there are any. */
export function carryHeaders(run: NativeRun): { [key: string]: WirePayload } {
  return { ...signalsHeader(run), ...run.answered.header() };
}

function signalsHeader(run: NativeRun): { [key: string]: WirePayload } {
  const signals = run.inbox.signals();
  if (signals.length === 0) return {};
  const header = carried.write(
    CARRY_HEADER,
    signals.map(({ name, input }): CarriedSignal => ({ name, input: input.map(toText) })),
  );
  const size = header[CARRY_HEADER]!.data.length;
  if (size > CARRY_LIMIT) {
    throw new WorkflowTaskError(
      `${signals.length} signals that nothing has received (${size} bytes) do not fit into the ${CARRY_LIMIT} bytes that may be ` +
        `carried over a continue-as-new; receive them before continuing as new`,
    );
  }
  return header;
}

/** Puts carried signals first into the inbox of a new run, and has it know the updates that were answered before it. */
export function restoreCarried(run: NativeRun, headers: { readonly [key: string]: WirePayload }): void {
  carried.read<CarriedSignal[]>(headers, CARRY_HEADER, (signals) => {
    for (const { name, input } of signals) run.inbox.pushSignal(name, input.map(fromText));
  });
  run.answered.restore(headers);
}

export const toBase64 = (bytes: Uint8Array): string => base64Encode(bytes);
export const fromBase64 = (encoded: string): Uint8Array => base64Decode(encoded);

export function toText(payload: WirePayload): CarriedPayload {
  const metadata: { [key: string]: string } = {};
  for (const [key, value] of Object.entries(payload.metadata)) metadata[key] = base64Encode(value);
  return { metadata, data: base64Encode(payload.data) };
}

export function fromText(payload: CarriedPayload): WirePayload {
  const metadata: { [key: string]: Uint8Array } = {};
  for (const [key, value] of Object.entries(payload.metadata)) metadata[key] = base64Decode(value);
  return { metadata, data: base64Decode(payload.data), externalPayloads: [] };
}
