// The name and the fields of a refusal, as gRPC carries them: one of Temporal's messages where it has one for the case, which every SDK
// knows, else google.rpc.ErrorInfo. Both are written and read here by hand: they are strings by field number.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { OPERATION_ABORTED } from "../service/raw.ts";

/** A detail on the wire. */
export interface RawDetail {
  readonly type: string;
  readonly value: Uint8Array;
}

export interface NamedRefusal {
  readonly reason: string;
  readonly metadata: { readonly [key: string]: string };
  /** Bytes of the Failure that a failed query's refusal brings. */
  readonly failure?: Uint8Array | undefined;
  /** Of a refused multi-operation: how each of its operations fared, in their order. */
  readonly operations?: readonly OperationStatus[] | undefined;
}

/** How one operation of several fared. */
export interface OperationStatus {
  /** gRPC status code; 0 for one that went well. */
  readonly code: number;
  readonly message: string;
  readonly detail: NamedRefusal | undefined;
}

const TEMPORAL = "temporal.api.errordetails.v1.";
const ERROR_INFO = "google.rpc.ErrorInfo";
/** Its field 1 is a Failure. */
const QUERY_FAILED = "QueryFailedFailure";
const DOMAIN = "temporalex";
/** Its field 1 is a status for each operation: code, message, details. */
const MULTI_OPERATION = "MultiOperationExecutionFailure";
/** What an operation has that was given up because of another one. It lies in another package than its kind. */
const ABORTED = "temporal.api.failure.v1.MultiOperationExecutionAborted";

/** Fields of temporal.api.errordetails.v1 that programs ask for, by message and field number: text, or (`cause`) the number of an enum's value. */
const FIELDS: { readonly [type: string]: { readonly [field: number]: string } } = {
  WorkflowExecutionAlreadyStartedFailure: { 1: "start_request_id", 2: "run_id" },
  NamespaceNotFoundFailure: { 1: "namespace" },
  NamespaceNotActiveFailure: { 1: "namespace", 2: "current_cluster", 3: "active_cluster" },
  NewerBuildExistsFailure: { 1: "default_build_id" },
  PermissionDeniedFailure: { 1: "reason" },
  WorkflowNotReadyFailure: {},
  QueryFailedFailure: {},
  ResourceExhaustedFailure: { 1: "cause" },
  NotFoundFailure: {},
};

/** What a refusal's details say; undefined for details that are not known. Temporal's names are those of its messages without "Failure". */
export function readDetail({ type, value }: RawDetail): NamedRefusal | undefined {
  if (type === ERROR_INFO) return readErrorInfo(value);
  if (type === ABORTED) return { reason: OPERATION_ABORTED, metadata: {} };
  if (type === `${TEMPORAL}${MULTI_OPERATION}`) return readMultiOperation(value);
  if (!type.startsWith(TEMPORAL)) return undefined;
  const name = type.slice(TEMPORAL.length);
  const metadata: { [key: string]: string } = {};
  let failure: Uint8Array | undefined;
  const reader = new BinaryReader(value);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const key = FIELDS[name]?.[number];
    if (key !== undefined && wireType === WireType.LengthDelimited) metadata[key] = reader.string();
    else if (key !== undefined && wireType === WireType.Varint) metadata[key] = String(reader.int32());
    else if (name === QUERY_FAILED && number === 1 && wireType === WireType.LengthDelimited) failure = reader.bytes();
    else reader.skip(wireType, number);
  }
  return { reason: name.replace(/Failure$/, ""), metadata, ...(failure !== undefined && { failure }) };
}

function readMultiOperation(value: Uint8Array): NamedRefusal {
  const operations: OperationStatus[] = [];
  const reader = new BinaryReader(value);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.LengthDelimited) operations.push(readStatus(reader.bytes()));
    else reader.skip(wireType, number);
  }
  return { reason: MULTI_OPERATION.replace(/Failure$/, ""), metadata: {}, operations };
}

/** A google.rpc.Status. Throws for bytes that are none. */
export function readStatus(value: Uint8Array): OperationStatus {
  let code = 0, message = "";
  let detail: NamedRefusal | undefined;
  const reader = new BinaryReader(value);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.Varint) code = reader.int32();
    else if (number === 2 && wireType === WireType.LengthDelimited) message = reader.string();
    else if (number === 3 && wireType === WireType.LengthDelimited) detail ??= readAny(reader.bytes());
    else reader.skip(wireType, number);
  }
  return { code, message, detail };
}

/** google.protobuf.Any */
function readAny(any: Uint8Array): NamedRefusal | undefined {
  let url = "", value: Uint8Array = new Uint8Array(0);
  const reader = new BinaryReader(any);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.LengthDelimited) url = reader.string();
    else if (number === 2 && wireType === WireType.LengthDelimited) value = reader.bytes();
    else reader.skip(wireType, number);
  }
  return readDetail({ type: url.slice(url.lastIndexOf("/") + 1), value });
}

function writeMultiOperation(operations: readonly OperationStatus[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { code, message, detail } of operations) {
    writer.tag(1, WireType.LengthDelimited).fork();
    if (code !== 0) writer.tag(1, WireType.Varint).int32(code);
    if (message !== "") writer.tag(2, WireType.LengthDelimited).string(message);
    const raw = detail === undefined ? undefined : writeDetail(detail);
    if (raw !== undefined) {
      writer.tag(3, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(`type.googleapis.com/${raw.type}`);
      writer.tag(2, WireType.LengthDelimited).bytes(raw.value).join();
    }
    writer.join();
  }
  return writer.finish();
}

function readErrorInfo(value: Uint8Array): NamedRefusal {
  const metadata: { [key: string]: string } = {};
  let reason = "";
  const reader = new BinaryReader(value);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.LengthDelimited) reason = reader.string();
    else if (number === 3 && wireType === WireType.LengthDelimited) {
      const end = reader.uint32() + reader.pos;
      let key = "", text = "";
      while (reader.pos < end) {
        const [field, wire] = reader.tag();
        if (field === 1 && wire === WireType.LengthDelimited) key = reader.string();
        else if (field === 2 && wire === WireType.LengthDelimited) text = reader.string();
        else reader.skip(wire, field);
      }
      metadata[key] = text;
    } else reader.skip(wireType, number);
  }
  return { reason, metadata };
}

/** The detail that carries a refusal's name and fields; undefined for one that has no name. */
export function writeDetail({ reason, metadata, failure, operations }: NamedRefusal): RawDetail | undefined {
  if (reason === "") return undefined;
  if (reason === OPERATION_ABORTED) return { type: ABORTED, value: new Uint8Array(0) };
  if (operations !== undefined) return { type: `${TEMPORAL}${MULTI_OPERATION}`, value: writeMultiOperation(operations) };
  const fields = FIELDS[`${reason}Failure`];
  const writer = new BinaryWriter();
  if (fields !== undefined) {
    for (const [number, key] of Object.entries(fields)) {
      const value = metadata[key];
      if (value === undefined) continue;
      if (key === "cause") writer.tag(Number(number), WireType.Varint).int32(Number(value) || 0);
      else writer.tag(Number(number), WireType.LengthDelimited).string(value);
    }
    if (failure !== undefined && `${reason}Failure` === QUERY_FAILED) writer.tag(1, WireType.LengthDelimited).bytes(failure);
    return { type: `${TEMPORAL}${reason}Failure`, value: writer.finish() };
  }
  writer.tag(1, WireType.LengthDelimited).string(reason).tag(2, WireType.LengthDelimited).string(DOMAIN);
  for (const [key, text] of Object.entries(metadata)) {
    writer.tag(3, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(key).tag(2, WireType.LengthDelimited).string(text).join();
  }
  return { type: ERROR_INFO, value: writer.finish() };
}
