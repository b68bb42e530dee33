// The state of a batch operation: its request, and its progress as JSON. Both are a row of the store.
import {
  type StartBatchOperationRequest,
  StartBatchOperationRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { decodeMessage } from "../host_bytes.ts";
import type { BatchWrite, ListPosition, StoredBatch } from "../store.ts";

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
  /** Encoded StartBatchOperationRequest. */
  readonly bytes: Uint8Array;
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

/** The change of a row. `isNew`: with its request, which does not change later. */
export function encodeBatch({ jobId, bytes, progress }: BatchState, isNew: boolean): BatchWrite {
  const state = JSON.stringify(progress);
  return isNew ? { jobId, state, request: bytes } : { jobId, state };
}

/** Throws an Error for a damaged row. */
export function decodeBatch({ jobId, request, state }: StoredBatch): BatchState {
  const progress = JSON.parse(state) as BatchProgress;
  const { status, startMs, nextMs, index, removing } = progress;
  if (
    typeof status !== "string" || !Number.isFinite(startMs) || !Number.isFinite(nextMs) ||
    !Number.isSafeInteger(index) || !Array.isArray(removing)
  ) throw new Error("parts of its row are missing");
  const decoded = { jobId, bytes: request, progress };
  batchRequest(decoded);
  return decoded;
}
