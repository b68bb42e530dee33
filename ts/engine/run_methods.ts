// Methods of WorkflowService on one run that do not need the state machine, except to terminate the
// run first.
import { create, fromBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  DeleteWorkflowExecutionRequestSchema,
  DeleteWorkflowExecutionResponseSchema,
  GetWorkflowExecutionHistoryReverseRequestSchema,
  GetWorkflowExecutionHistoryReverseResponseSchema,
  TerminateWorkflowExecutionRequestSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Code, type MethodName, ServiceError } from "../service/raw.ts";
import { whenFree } from "./commit_retries.ts";
import { decodeMessage, encodeMessage, invalid, invalidPageToken } from "./host_bytes.ts";
import type { PurgeOptions, RunRow, Store } from "./store.ts";

const MAX_PAGE = 256;
/** Run ids of the engine; imported run ids may differ. */
const RUN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Later than any close time, in ms. */
const ANY_TIME = 8e15;
const utf8 = new TextEncoder();
const text = new TextDecoder();

/** Selects closed runs by their ids. */
export function purgeOfRuns(runIds: readonly string[]): PurgeOptions {
  const where = { kind: "in", field: "RunId", values: runIds, negated: false } as const;
  return { closedBefore: ANY_TIME, where, limit: runIds.length };
}

export interface RunMethodsContext {
  readonly store: Store;
  /** Throws for a namespace that the engine does not serve. */
  ours(name: string): void;
  /** Calls the state machine. */
  call(method: MethodName, request: Uint8Array): Promise<Uint8Array>;
  /** Evicts a purged run from memory. */
  forget(runId: string): void;
}

interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}

export function runMethods({ store, ours, call, forget }: RunMethodsContext) {
  const rowOf = (execution: Execution | undefined): RunRow => {
    if (execution === undefined || execution.workflowId === "") {
      throw invalid("WorkflowId is not set on request.");
    }
    const { workflowId, runId } = execution;
    const row = store.load(workflowId, runId === "" ? undefined : runId)?.row;
    if (row === undefined) {
      if (runId !== "" && !RUN_ID.test(runId)) throw invalid("Invalid RunId.");
      throw new ServiceError(
        Code.NOT_FOUND,
        `workflow not found for ID: ${workflowId}`,
        "NotFound",
      );
    }
    return row;
  };
  return {
    /** Last events first. Later pages stay in the run of the first page. */
    getWorkflowExecutionHistoryReverse(bytes: Uint8Array): Uint8Array {
      const request = decodeMessage(GetWorkflowExecutionHistoryReverseRequestSchema, bytes);
      ours(request.namespace);
      const token = readToken(request.nextPageToken);
      const { workflowId, runId, historyLength } = rowOf({
        workflowId: request.execution?.workflowId ?? "",
        runId: token?.runId ?? request.execution?.runId ?? "",
      });
      const to = Math.min(token?.to ?? historyLength, historyLength);
      const size = request.maximumPageSize > 0
        ? Math.min(request.maximumPageSize, MAX_PAGE)
        : MAX_PAGE;
      const from = Math.max(1, to - size + 1);
      const events = store.historyRange(workflowId, runId, from, to).flatMap((batch) =>
        fromBinary(HistorySchema, batch).events
      );
      return encodeMessage(GetWorkflowExecutionHistoryReverseResponseSchema, {
        history: create(HistorySchema, { events: events.reverse() }),
        nextPageToken: from === 1
          ? new Uint8Array(0)
          : utf8.encode(JSON.stringify({ runId, to: from - 1 })),
      });
    },
    /** Terminates the run if it is open, and removes it with its history before it responds. */
    async deleteWorkflowExecution(bytes: Uint8Array): Promise<Uint8Array> {
      const request = decodeMessage(DeleteWorkflowExecutionRequestSchema, bytes);
      ours(request.namespace);
      const { workflowId, runId, closeTimeMs } = rowOf(request.workflowExecution);
      if (closeTimeMs === 0) {
        const terminate = encodeMessage(TerminateWorkflowExecutionRequestSchema, {
          workflowExecution: { workflowId, runId },
          reason: "Delete workflow execution",
          identity: "temporalex",
        });
        // Another caller may have closed the run meanwhile.
        await call("terminateWorkflowExecution", terminate).catch((error: unknown) => {
          if (!(error instanceof ServiceError) || error.code !== Code.NOT_FOUND) throw error;
        });
      }
      const removed = await whenFree(() => store.purge(purgeOfRuns([runId])));
      removed.forEach(forget);
      if (removed.length === 0 && store.load(workflowId, runId) !== undefined) {
        throw new ServiceError(
          Code.UNAVAILABLE,
          `run ${runId} still has pending work and was not removed; retry`,
          "Busy",
        );
      }
      return encodeMessage(DeleteWorkflowExecutionResponseSchema, {});
    },
  } satisfies { [name in MethodName]?: (request: Uint8Array) => Uint8Array | Promise<Uint8Array> };
}

function readToken(token: Uint8Array): { readonly runId: string; readonly to: number } | undefined {
  if (token.length === 0) return undefined;
  try {
    const { runId, to } = JSON.parse(text.decode(token)) as { runId?: unknown; to?: unknown };
    if (typeof runId === "string" && Number.isSafeInteger(to) && (to as number) >= 1) {
      return { runId, to: to as number };
    }
  } catch {
    // Rejected below.
  }
  throw invalidPageToken();
}
