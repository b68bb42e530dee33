// The state of a batch operation: its request, and its progress as JSON. Both are a row of the store.
import {
  type StartBatchOperationRequest,
  StartBatchOperationRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { decodeMessage, encodeMessage } from "../host_bytes.ts";
import type { BatchWrite, ListPosition, StoredBatch } from "../store.ts";
import { operationKind } from "./operations.ts";

/** A workflow to which an operation is applied. An empty run id means the current run. */
export interface BatchTarget {
  readonly workflowId: string;
  readonly runId: string;
}

/** How far an operation is. */
export interface BatchProgress {
  /** "stopped": by StopBatchOperation. "failed": its query is not valid any more. */
  status: "running" | "completed" | "stopped" | "failed";
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  /** Milliseconds since the epoch; 0 while it runs. */
  closeMs: number;
  /** Workflows that were selected at the start. */
  total: number;
  complete: number;
  failed: number;
  /** The place in the list of executions. */
  index: number;
  /** The place in the list of the query; null: the beginning. */
  after: ListPosition | null;
  /** All workflows of the list were visited. */
  listed: boolean;
  /** Closed runs that are removed after the commit. */
  removing: readonly BatchTarget[];
  /** Attempts to remove them. */
  attempts: number;
  /** Time of the next slice: now, or later because of a limit of the rate. */
  nextMs: number;
}

/** A batch operation in memory. */
export interface BatchState {
  readonly jobId: string;
  /** Encoded StartBatchOperationRequest; without payloads once it has ended. */
  bytes: Uint8Array;
  readonly progress: BatchProgress;
}

/** The progress of an operation that starts now. */
export function newProgress(nowMs: number, total: number): BatchProgress {
  return {
    status: "running",
    startMs: nowMs,
    closeMs: 0,
    total,
    complete: 0,
    failed: 0,
    index: 0,
    after: null,
    listed: false,
    removing: [],
    attempts: 0,
    nextMs: nowMs,
  };
}

export function batchRequest({ bytes }: BatchState): StartBatchOperationRequest {
  return decodeMessage(StartBatchOperationRequestSchema, bytes);
}

/** Whether all workflows were visited, and runs were removed that are not counted yet. */
export function isRemovalDue({ listed, removing, attempts }: BatchProgress): boolean {
  return listed && removing.length > 0 && attempts === 0;
}

/** Returns the request without its payloads; undefined if it has none. */
export function withoutPayloads(state: BatchState): Uint8Array | undefined {
  const request = batchRequest(state);
  const { operation: { case: name, value } } = request;
  if (name === "signalOperation" && (value.input !== undefined || value.header !== undefined)) {
    delete value.input;
    delete value.header;
  } else if (name === "terminationOperation" && value.details !== undefined) delete value.details;
  else return undefined;
  return encodeMessage(StartBatchOperationRequestSchema, request);
}

/** The change of a row. `withRequest`: the request is new or has changed. */
export function encodeBatch(
  { jobId, bytes, progress }: BatchState,
  withRequest: boolean,
): BatchWrite {
  const state = JSON.stringify(progress);
  return withRequest ? { jobId, state, request: bytes } : { jobId, state };
}

const STATUSES: { readonly [status in BatchProgress["status"]]: true } = {
  running: true,
  completed: true,
  stopped: true,
  failed: true,
};

/** Throws an Error for a damaged row. */
export function decodeBatch({ jobId, request, state }: StoredBatch): BatchState {
  const progress = JSON.parse(state) as BatchProgress | null;
  const wrong = progress === null ? "progress" : wrongPart(progress);
  if (progress === null || wrong !== undefined) {
    throw new Error(`invalid ${wrong} in the row of table temporalex_batch_operations`);
  }
  const decoded = { jobId, bytes: request, progress };
  const { operation } = batchRequest(decoded);
  if (operationKind(operation).type === undefined) {
    throw new Error(`the operation "${operation.case ?? "none"}" is not supported`);
  }
  return decoded;
}

/** Returns the name of a part that has an invalid value. */
function wrongPart(progress: BatchProgress): string | undefined {
  if (!Object.hasOwn(STATUSES, progress.status ?? "")) return "status";
  for (const name of ["startMs", "nextMs", "closeMs"] as const) {
    // Times can have fractions of milliseconds.
    const time = progress[name];
    if (!Number.isFinite(time) || Math.abs(time) > Number.MAX_SAFE_INTEGER) return name;
  }
  for (const name of ["index", "total", "complete", "failed", "attempts"] as const) {
    if (!Number.isSafeInteger(progress[name]) || progress[name] < 0) return name;
  }
  if (progress.closeMs < 0) return "closeMs";
  if (typeof progress.listed !== "boolean") return "listed";
  const { after, removing } = progress as { after: unknown; removing: unknown };
  const isPosition = Array.isArray(after) && after.length === 2 && after.every(isNumber);
  if (after !== null && !isPosition) return "after";
  return Array.isArray(removing) && removing.every(isTarget) ? undefined : "removing";
}

function isNumber(value: unknown): boolean {
  return Number.isFinite(value);
}

function isTarget(value: unknown): boolean {
  const { workflowId, runId } = (value ?? {}) as { [name: string]: unknown };
  return typeof workflowId === "string" && typeof runId === "string";
}
