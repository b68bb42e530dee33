// The engine's replies to calls: bodies with the history ranges that they name, or errors.
import type {
  Reply,
  RpcError,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { type Code, ServiceError } from "../service/raw.ts";
import { appendHistory } from "./history_bytes.ts";
import { notFound, storeFailed } from "./refusals.ts";
import type { Store } from "./store.ts";

interface Answerable {
  resolve(response: Uint8Array): void;
  reject(error: ServiceError): void;
}

/** Converts an error of the core. */
export function replyError(error: RpcError): ServiceError {
  const failure = error.detail.length > 0 ? error.detail : undefined;
  return new ServiceError(error.code as Code, error.message, error.reason, error.metadata, {
    failure,
  });
}

/** Settles the call if it still waits. History comes from the store. */
export function replyTo(
  call: Answerable | undefined,
  { error, history, body }: Reply,
  store: Store,
): void {
  if (call === undefined) return;
  if (error !== undefined) return call.reject(replyError(error));
  if (history === undefined) return call.resolve(body);
  const { workflowId, runId, fromEventId, toEventId, fieldNumber, tail } = history;
  try {
    const parts = fromEventId === 0
      ? []
      : store.historyRange(workflowId, runId, fromEventId, toEventId);
    call.resolve(appendHistory(body, fieldNumber, [...parts, tail]));
  } catch (e) {
    call.reject(
      isPurged(store, workflowId, runId) ? notFound(workflowId) : storeFailed(e as Error),
    );
  }
}

function isPurged(store: Store, workflowId: string, runId: string): boolean {
  try {
    return store.load(workflowId, runId) === undefined;
  } catch {
    return false;
  }
}
