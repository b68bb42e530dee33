// How a history begins: of its first event a few fields are read, the rest of it not at all.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** What a WorkflowExecutionStarted event says of its run. */
export interface RunStart {
  /** When the run was started. Milliseconds since the epoch. */
  readonly startMs: number;
  /** Name of the workflow type. */
  readonly workflowType: string;
  /** The first run of the chain that a reset, a retry or continue-as-new makes: the id that this run began with. */
  readonly runId: string;
  /** Bytes of temporal.api.common.v1.Header; undefined without one. */
  readonly header: Uint8Array | undefined;
}

/** Milliseconds of a google.protobuf.Timestamp. */
export function timestampMs(bytes: Uint8Array): number {
  const reader = new BinaryReader(bytes);
  let ms = 0;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) ms += Number(reader.int64()) * 1000;
    else if (field === 2) ms += reader.int32() / 1e6;
    else reader.skip(type, field);
  }
  return ms;
}

/** The name in a message that has one in field 1. */
export function nameIn(bytes: Uint8Array): string {
  const reader = new BinaryReader(bytes);
  let name = "";
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) name = reader.string();
    else reader.skip(type, field);
  }
  return name;
}

/** The first event of a History (bytes); undefined when there is none. */
function firstEvent(history: Uint8Array): Uint8Array | undefined {
  const reader = new BinaryReader(history);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1 && type === WireType.LengthDelimited) return reader.bytes();
    reader.skip(type, field);
  }
  return undefined;
}

/** Id of the first event of a History; 0 for one that has none, or that cannot be read: the core refuses it. */
export function firstEventIdOf(history: Uint8Array): number {
  try {
    const event = firstEvent(history);
    if (event === undefined) return 0;
    const reader = new BinaryReader(event);
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === 1) return Number(reader.int64());
      reader.skip(type, field);
    }
    return 0;
  } catch {
    return 0;
  }
}

/** The start of the run whose History begins with it; undefined for a later page, and for bytes that cannot be read. */
export function readRunStart(history: Uint8Array): RunStart | undefined {
  try {
    const event = firstEvent(history);
    return event === undefined ? undefined : startOf(event);
  } catch {
    return undefined;
  }
}

function startOf(event: Uint8Array): RunStart | undefined {
  const reader = new BinaryReader(event);
  let startMs = 0;
  let attributes: Uint8Array | undefined;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 2) startMs = timestampMs(reader.bytes());
    else if (field === 6) attributes = reader.bytes();
    else reader.skip(type, field);
  }
  return attributes === undefined ? undefined : { startMs, ...startedOf(attributes) };
}

/** Of WorkflowExecutionStartedEventAttributes. */
function startedOf(attributes: Uint8Array): Omit<RunStart, "startMs"> {
  let workflowType = "";
  let runId = "";
  let header: Uint8Array | undefined;
  const reader = new BinaryReader(attributes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) workflowType = nameIn(reader.bytes());
    else if (field === 14) runId = reader.string();
    else if (field === 25) header = reader.bytes();
    else reader.skip(type, field);
  }
  return { workflowType, runId, header };
}
