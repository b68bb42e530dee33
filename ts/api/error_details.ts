// Reason and fields of an error as gRPC details: one of Temporal's messages if it has one for the
// case, else google.rpc.ErrorInfo.
import * as fields from "../messages/generated/fields.ts";
import {
  Any,
  ErrorInfo,
  MapEntry,
  MultiOperationExecutionFailure,
  QueryFailedFailure,
  RpcStatus,
} from "../messages/generated/fields.ts";
import { Fields, Message } from "../messages/wire.ts";
import { OPERATION_ABORTED } from "../service/raw.ts";

/** An encoded detail. */
export interface RawDetail {
  readonly type: string;
  readonly value: Uint8Array;
}

export interface NamedRefusal {
  readonly reason: string;
  readonly metadata: { readonly [key: string]: string };
  /** The encoded Failure of a failed query. */
  readonly failure?: Uint8Array | undefined;
  /** For a failed multi-operation: the status of each operation, in order. */
  readonly operations?: readonly OperationStatus[] | undefined;
}

/** The status of one operation of several. */
export interface OperationStatus {
  /** gRPC status code; 0 for success. */
  readonly code: number;
  readonly message: string;
  readonly detail: NamedRefusal | undefined;
}

const TEMPORAL = "temporal.api.errordetails.v1.";
const ERROR_INFO = "google.rpc.ErrorInfo";
/** Has a Failure. */
const QUERY_FAILED = "QueryFailedFailure";
const DOMAIN = "temporalex";
/** Has a status for each operation: code, message, details. */
const MULTI_OPERATION = "MultiOperationExecutionFailure";
/**
 * The detail of an operation that was aborted because of another one. Its package differs from the
 * others.
 */
const ABORTED = "temporal.api.failure.v1.MultiOperationExecutionAborted";

/**
 * Messages of temporal.api.errordetails.v1 with their used fields: texts, or (`cause`) an enum
 * value.
 */
const NAMED: { readonly [type: string]: { readonly [field: string]: number } } = {
  ActivityExecutionAlreadyStartedFailure: fields.ActivityExecutionAlreadyStartedFailure,
  WorkflowExecutionAlreadyStartedFailure: fields.WorkflowExecutionAlreadyStartedFailure,
  NamespaceNotFoundFailure: fields.NamespaceNotFoundFailure,
  NamespaceNotActiveFailure: fields.NamespaceNotActiveFailure,
  NamespaceInvalidStateFailure: fields.NamespaceInvalidStateFailure,
  NewerBuildExistsFailure: fields.NewerBuildExistsFailure,
  PermissionDeniedFailure: fields.PermissionDeniedFailure,
  WorkflowNotReadyFailure: {},
  QueryFailedFailure: {},
  ResourceExhaustedFailure: fields.ResourceExhaustedFailure,
  NotFoundFailure: {},
};
const CAUSE = fields.ResourceExhaustedFailure.cause;

/** Keys and tags of a message; keys as in the metadata of errors: start_request_id. */
function metadataFields(
  type: string,
): readonly (readonly [key: string, tag: number])[] | undefined {
  const named = NAMED[type];
  return named &&
    Object.entries(named).map(([name, tag]) =>
      [name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), tag] as const
    );
}

/**
 * Reads a detail; undefined for an unknown type. The reason is the message's name without
 * "Failure".
 */
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
    for (const [key, tag] of known) {
      if (tag === at.tag) {
        metadata[key] = at.hasLength ? at.text() : String(at.int());
      }
    }
    if (name === QUERY_FAILED && at.tag === QueryFailedFailure.failure) failure = at.bytes();
  }
  return {
    reason: name.replace(/Failure$/, ""),
    metadata,
    ...(failure !== undefined && { failure }),
  };
}

function readMultiOperation(value: Uint8Array): NamedRefusal {
  const operations: OperationStatus[] = [];
  for (const at = new Fields(value); at.next();) {
    if (at.tag === MultiOperationExecutionFailure.statuses) operations.push(readStatus(at.bytes()));
  }
  return { reason: MULTI_OPERATION.replace(/Failure$/, ""), metadata: {}, operations };
}

/** Reads a google.rpc.Status. Throws for bytes that do not decode. */
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
        (any) =>
          any.text(Any.typeUrl, `type.googleapis.com/${raw.type}`).bytes(Any.value, raw.value),
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

/** Returns the detail with the reason and fields of an error; undefined without reason. */
export function writeDetail(
  { reason, metadata, failure, operations }: NamedRefusal,
): RawDetail | undefined {
  if (reason === "") return undefined;
  if (reason === OPERATION_ABORTED) return { type: ABORTED, value: new Uint8Array(0) };
  if (operations !== undefined) {
    return { type: `${TEMPORAL}${MULTI_OPERATION}`, value: writeMultiOperation(operations) };
  }
  const known = metadataFields(`${reason}Failure`);
  const detail = new Message();
  if (known !== undefined) {
    for (const [key, tag] of known) {
      const value = metadata[key];
      if (value === undefined) continue;
      if (key === "cause") detail.int(CAUSE, Number(value) || 0);
      else detail.text(tag, value);
    }
    if (failure !== undefined && `${reason}Failure` === QUERY_FAILED) {
      detail.bytes(QueryFailedFailure.failure, failure);
    }
    return { type: `${TEMPORAL}${reason}Failure`, value: detail.finish() };
  }
  detail.text(ErrorInfo.reason, reason).text(ErrorInfo.domain, DOMAIN);
  for (const [key, text] of Object.entries(metadata)) {
    detail.message(
      ErrorInfo.metadata,
      (entry) => entry.text(MapEntry.key, key).text(MapEntry.value, text),
    );
  }
  return { type: ERROR_INFO, value: detail.finish() };
}
