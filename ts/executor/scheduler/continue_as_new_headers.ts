// What a run that continues as new hands to the next one in headers. Signals that are still buffered are delivered first there, in order. A
// cancel request that no code of the run knows of (it came after the event that made run return, or while everything stood in a shield)
// is handed on with its place among them. In the new run all of it comes before what was sent to that run.
// The worker's payload codec must treat these headers like any other payload (headers are not encoded otherwise), which is why each is
// one payload. Beyond the limit the task fails rather than dropping a signal.
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import type { Job } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { WirePayload } from "./encode.ts";
import { WorkflowTaskError } from "./errors.ts";
import type { NativeRun } from "./run.ts";

export const CARRY_HEADER = "temporalex-buffered-signals";
export const CANCEL_HEADER = "temporalex-cancel-requested";
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

/** The headers of the next run: buffered signals, a cancel request and answered updates, as far as there are any. */
export function carryHeaders(run: NativeRun): { [key: string]: WirePayload } {
  return { ...signalsHeader(run), ...cancelHeader(run), ...run.answered.header() };
}

interface CarriedCancel {
  readonly reason: string;
  /** How many of the signals that are handed on came before it. */
  readonly after: number;
}

function cancelHeader({ cancellation, inbox }: NativeRun): { [key: string]: WirePayload } {
  if (cancellation === undefined || cancellation.told) return {};
  const { reason, order } = cancellation;
  const after = inbox.signals().filter((signal) => signal.order < order).length;
  return carried.write(CANCEL_HEADER, { reason, after } satisfies CarriedCancel);
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

/**
 * Puts carried signals first into the inbox of a new run, and has it know the updates that were answered before it. Answers the jobs of what
 * comes after the run's first turn: a carried cancel request and the signals after it.
 */
export function restoreCarried(run: NativeRun, headers: { readonly [key: string]: WirePayload }): Job[] {
  const signals: { name: string; input: WirePayload[] }[] = [];
  const later: Job[] = [];
  carried.read<CarriedSignal[]>(headers, CARRY_HEADER, (all) => {
    for (const { name, input } of all) signals.push({ name, input: input.map(fromText) });
  });
  carried.read<CarriedCancel>(headers, CANCEL_HEADER, ({ reason, after }) => {
    later.push({ eventId: 1, variant: { $case: "cancelWorkflow", value: { reason } } });
    for (const { name: signalName, input } of signals.splice(after)) {
      later.push({ eventId: 1, variant: { $case: "signalWorkflow", value: { signalName, input, identity: "", headers: {} } } });
    }
  });
  for (const { name, input } of signals) run.inbox.pushSignal(name, input);
  run.answered.restore(headers);
  return later;
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
