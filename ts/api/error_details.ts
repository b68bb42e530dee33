// The name and the fields of a refusal, as gRPC carries them: one of Temporal's messages where it has one for the case, which every SDK
// knows, else google.rpc.ErrorInfo.
import * as fields from "./generated/fields.ts";
import { Any, ErrorInfo, MapEntry, MultiOperationExecutionFailure, QueryFailedFailure, RpcStatus } from "./generated/fields.ts";
import { Fields, Message } from "./wire.ts";
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
/** It has a Failure. */
const QUERY_FAILED = "QueryFailedFailure";
const DOMAIN = "temporalex";
/** It has a status for each operation: code, message, details. */
const MULTI_OPERATION = "MultiOperationExecutionFailure";
/** What an operation has that was given up because of another one. It lies in another package than its kind. */
const ABORTED = "temporal.api.failure.v1.MultiOperationExecutionAborted";

/** Messages of temporal.api.errordetails.v1 with the fields that programs ask for: texts, or (`cause`) the number of an enum's value. */
const NAMED: { readonly [type: string]: { readonly [field: string]: number } } = {
  WorkflowExecutionAlreadyStartedFailure: fields.WorkflowExecutionAlreadyStartedFailure,
  NamespaceNotFoundFailure: fields.NamespaceNotFoundFailure,
  NamespaceNotActiveFailure: fields.NamespaceNotActiveFailure,
  NewerBuildExistsFailure: fields.NewerBuildExistsFailure,
  PermissionDeniedFailure: fields.PermissionDeniedFailure,
  WorkflowNotReadyFailure: {},
  QueryFailedFailure: {},
  ResourceExhaustedFailure: fields.ResourceExhaustedFailure,
  NotFoundFailure: {},
};
const CAUSE = fields.ResourceExhaustedFailure.cause;

/** Names and fields of a message, the names as the metadata of refusals has them: start_request_id. */
function metadataFields(type: string): readonly (readonly [key: string, tag: number])[] | undefined {
  const named = NAMED[type];
  return named &&
    Object.entries(named).map(([name, tag]) => [name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), tag] as const);
}

/** What a refusal's details say; undefined for details that are not known. Temporal's names are those of its messages without "Failure". */
export function readDetail({ type, value }: RawDetail): NamedRefusal | undefined {
  if (type === ERROR_INFO) return readErrorInfo(value);
  if (type === ABORTED) return { reason: OPERATION_ABORTED, metadata: {} };
  if (type === `${TEMPORAL}${MULTI_OPERATION}`) return readMultiOperation(value);
  if (!type.startsWith(TEMPORAL)) return undefined;
  const name = type.slice(TEMPORAL.length);
  const metadata: { [key: string]: string } = {};
  let failure: Uint8Array | undefined;
  const known = metadataFields(name) ?? [];
  for (const at = new Fields(value); at.next();) {
    for (const [key, tag] of known) if (tag === at.tag) metadata[key] = at.hasLength ? at.text() : String(at.int());
    if (name === QUERY_FAILED && at.tag === QueryFailedFailure.failure) failure = at.bytes();
  }
  return { reason: name.replace(/Failure$/, ""), metadata, ...(failure !== undefined && { failure }) };
}

function readMultiOperation(value: Uint8Array): NamedRefusal {
  const operations: OperationStatus[] = [];
  for (const at = new Fields(value); at.next();) {
    if (at.tag === MultiOperationExecutionFailure.statuses) operations.push(readStatus(at.bytes()));
  }
  return { reason: MULTI_OPERATION.replace(/Failure$/, ""), metadata: {}, operations };
}

/** A google.rpc.Status. Throws for bytes that are none. */
export function readStatus(value: Uint8Array): OperationStatus {
  let code = 0, message = "";
  let detail: NamedRefusal | undefined;
  for (const at = new Fields(value); at.next();) {
    if (at.tag === RpcStatus.code) code = at.int();
    else if (at.tag === RpcStatus.message) message = at.text();
    else if (at.tag === RpcStatus.details) detail ??= readAny(at.inner());
  }
  return { code, message, detail };
}

/** google.protobuf.Any */
function readAny(at: Fields): NamedRefusal | undefined {
  let url = "", value: Uint8Array = new Uint8Array(0);
  while (at.next()) {
    if (at.tag === Any.typeUrl) url = at.text();
    else if (at.tag === Any.value) value = at.bytes();
  }
  return readDetail({ type: url.slice(url.lastIndexOf("/") + 1), value });
}

function writeMultiOperation(operations: readonly OperationStatus[]): Uint8Array {
  const failure = new Message();
  for (const { code, message, detail } of operations) {
    failure.message(MultiOperationExecutionFailure.statuses, (status) => {
      if (code !== 0) status.int(RpcStatus.code, code);
      if (message !== "") status.text(RpcStatus.message, message);
      const raw = detail === undefined ? undefined : writeDetail(detail);
      if (raw === undefined) return;
      status.message(
        RpcStatus.details,
        (any) => any.text(Any.typeUrl, `type.googleapis.com/${raw.type}`).bytes(Any.value, raw.value),
      );
    });
  }
  return failure.finish();
}

function readErrorInfo(value: Uint8Array): NamedRefusal {
  const metadata: { [key: string]: string } = {};
  let reason = "";
  for (const at = new Fields(value); at.next();) {
    if (at.tag === ErrorInfo.reason) reason = at.text();
    else if (at.tag === ErrorInfo.metadata) {
      let key = "", text = "";
      for (const of = at.inner(); of.next();) {
        if (of.tag === MapEntry.key) key = of.text();
        else if (of.tag === MapEntry.value) text = of.text();
      }
      metadata[key] = text;
    }
  }
  return { reason, metadata };
}

/** The detail that carries a refusal's name and fields; undefined for one that has no name. */
export function writeDetail({ reason, metadata, failure, operations }: NamedRefusal): RawDetail | undefined {
  if (reason === "") return undefined;
  if (reason === OPERATION_ABORTED) return { type: ABORTED, value: new Uint8Array(0) };
  if (operations !== undefined) return { type: `${TEMPORAL}${MULTI_OPERATION}`, value: writeMultiOperation(operations) };
  const known = metadataFields(`${reason}Failure`);
  const detail = new Message();
  if (known !== undefined) {
    for (const [key, tag] of known) {
      const value = metadata[key];
      if (value === undefined) continue;
      if (key === "cause") detail.int(CAUSE, Number(value) || 0);
      else detail.text(tag, value);
    }
    if (failure !== undefined && `${reason}Failure` === QUERY_FAILED) detail.bytes(QueryFailedFailure.failure, failure);
    return { type: `${TEMPORAL}${reason}Failure`, value: detail.finish() };
  }
  detail.text(ErrorInfo.reason, reason).text(ErrorInfo.domain, DOMAIN);
  for (const [key, text] of Object.entries(metadata)) {
    detail.message(ErrorInfo.metadata, (entry) => entry.text(MapEntry.key, key).text(MapEntry.value, text));
  }
  return { type: ERROR_INFO, value: detail.finish() };
}
