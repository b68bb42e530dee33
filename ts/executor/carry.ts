// Signals that are still buffered when a run continues as new travel in a header of the new run and are delivered first there, in order.
// The worker's payload codec must treat this header like any other payload (headers are not encoded otherwise), which is why it is one
// payload. Beyond the limit the task fails rather than dropping a signal.
import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import type { WirePayload } from "./encode.ts";
import { WorkflowTaskError } from "./errors.ts";
import type { NativeRun } from "./run.ts";

export const CARRY_HEADER = "temporalex-buffered-signals";
/** Bytes of the header's data. */
export const CARRY_LIMIT = 256 * 1024;

interface CarriedPayload {
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

/** The headers of the next run: the buffered signals, or nothing. */
export function carryHeader(run: NativeRun): { [key: string]: WirePayload } {
  const signals = run.inbox.signals();
  if (signals.length === 0) return {};
  const carried: CarriedSignal[] = signals.map(({ name, input }) => ({ name, input: input.map(toText) }));
  const data = utf8.encode(JSON.stringify(carried));
  if (data.length > CARRY_LIMIT) {
    throw new WorkflowTaskError(
      `${signals.length} signals that nothing has received (${data.length} bytes) do not fit into the ${CARRY_LIMIT} bytes that may be ` +
        `carried over a continue-as-new; receive them before continuing as new`,
    );
  }
  return { [CARRY_HEADER]: { metadata: { encoding: JSON_PLAIN }, data, externalPayloads: [] } };
}

/** Puts carried signals first into the inbox of a new run. */
export function restoreCarried(run: NativeRun, headers: { readonly [key: string]: WirePayload }): void {
  const payload = headers[CARRY_HEADER];
  if (payload === undefined) return;
  let carried: CarriedSignal[];
  try {
    carried = JSON.parse(text.decode(payload.data));
    for (const { name, input } of carried) run.inbox.pushSignal(name, input.map(fromText));
  } catch (e) {
    throw new WorkflowTaskError(
      `the header ${CARRY_HEADER} cannot be read: ${(e as Error).message}; is a payload codec of the previous run missing?`,
      { cause: e },
    );
  }
}

function toText(payload: WirePayload): CarriedPayload {
  const metadata: { [key: string]: string } = {};
  for (const [key, value] of Object.entries(payload.metadata)) metadata[key] = base64Encode(value);
  return { metadata, data: base64Encode(payload.data) };
}

function fromText(payload: CarriedPayload): WirePayload {
  const metadata: { [key: string]: Uint8Array } = {};
  for (const [key, value] of Object.entries(payload.metadata)) metadata[key] = base64Decode(value);
  return { metadata, data: base64Decode(payload.data), externalPayloads: [] };
}
