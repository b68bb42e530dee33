// The methods of batch operations: checks, and the messages of the API.
import { create } from "@bufbuild/protobuf";
import {
  type BatchOperationInfo,
  BatchOperationInfoSchema,
} from "../../messages/generated/temporal/api/batch/v1/message_pb.ts";
import { BatchOperationState } from "../../messages/generated/temporal/api/enums/v1/batch_operation_pb.ts";
import { ExecutionType } from "../../messages/generated/temporal/api/enums/v1/common_pb.ts";
import {
  DescribeBatchOperationRequestSchema,
  DescribeBatchOperationResponseSchema,
  ListBatchOperationsRequestSchema,
  ListBatchOperationsResponseSchema,
  type StartBatchOperationRequest,
  StartBatchOperationRequestSchema,
  StartBatchOperationResponseSchema,
  StopBatchOperationRequestSchema,
  StopBatchOperationResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Code, type MethodName, ServiceError } from "../../service/raw.ts";
import { decodeMessage, encodeMessage, invalid, invalidPageToken } from "../host_bytes.ts";
import { timestampOfMs } from "../schedules/durations.ts";
import type { Condition, Store } from "../store.ts";
import { parseCount } from "../visibility/parse.ts";
import { checkOperation, operationIdentity, operationKind } from "./operations.ts";
import { batchRequest, type BatchState, type BatchTarget, newProgress } from "./state.ts";

const MAX_ID_LENGTH = 1000;
/** A query selects any number. */
const MAX_EXECUTIONS = 1000;
/** Encoded bytes of a request: its input is written to every workflow that is signaled. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;
/** WORKFLOW_EXECUTION_STATUS_RUNNING */
const RUNNING = 1;
const utf8 = new TextEncoder();
const text = new TextDecoder();

export interface BatchMethodsContext {
  readonly store: Store;
  /** Throws for a namespace that the engine does not serve. */
  ours(name: string): void;
  nowMs(): number;
  /** Throws a ServiceError if the row cannot be read. */
  find(jobId: string): BatchState | undefined;
  all(): readonly BatchState[];
  add(state: BatchState): void;
  /** Ends a running operation. */
  stop(state: BatchState): void;
}

export function batchMethods(context: BatchMethodsContext) {
  const { ours, nowMs } = context;
  const find = (jobId: string): BatchState => {
    if (jobId === "") throw invalid("JobId is not set on request.");
    const state = context.find(jobId);
    if (state !== undefined) return state;
    throw new ServiceError(
      Code.NOT_FOUND,
      `batch operation not found for job ID: ${jobId}`,
      "NotFound",
    );
  };
  return {
    startBatchOperation(bytes: Uint8Array) {
      const request = decodeMessage(StartBatchOperationRequestSchema, bytes);
      ours(request.namespace);
      checkRequest(request, bytes.length);
      const total = request.visibilityQuery === ""
        ? batchTargets(request).length
        : context.store.count(batchCondition(context.store, request));
      checkIsFree(context, request.jobId);
      context.add({ jobId: request.jobId, bytes, progress: newProgress(nowMs(), total) });
      return encodeMessage(StartBatchOperationResponseSchema, {});
    },
    stopBatchOperation(bytes: Uint8Array) {
      const request = decodeMessage(StopBatchOperationRequestSchema, bytes);
      ours(request.namespace);
      if (request.jobId !== "" && request.reason === "") {
        throw invalid("Reason is not set on request.");
      }
      const state = find(request.jobId);
      if (state.progress.status !== "running") {
        throw new ServiceError(
          Code.NOT_FOUND,
          `batch operation ${request.jobId} already completed`,
          "NotFound",
        );
      }
      context.stop(state);
      return encodeMessage(StopBatchOperationResponseSchema, {});
    },
    describeBatchOperation(bytes: Uint8Array) {
      const request = decodeMessage(DescribeBatchOperationRequestSchema, bytes);
      ours(request.namespace);
      const state = find(request.jobId);
      const { operation, reason, visibilityQuery, ...rest } = batchRequest(state);
      const { total, complete, failed, status } = state.progress;
      return encodeMessage(DescribeBatchOperationResponseSchema, {
        ...infoOf(state),
        // Workflows that closed meanwhile, or started before a slice, change the number.
        totalOperationCount: BigInt(status === "completed" ? complete + failed : total),
        completeOperationCount: BigInt(complete),
        failureOperationCount: BigInt(failed),
        identity: operationIdentity(operation),
        reason,
        query: visibilityQuery,
        executions: batchTargets(rest).map(({ workflowId, runId }) => ({
          type: ExecutionType.WORKFLOW,
          businessId: workflowId,
          runId,
        })),
      });
    },
    listBatchOperations(bytes: Uint8Array) {
      const request = decodeMessage(ListBatchOperationsRequestSchema, bytes);
      ours(request.namespace);
      if (request.pageSize < 0) throw invalid("the page size must not be negative");
      const size = Math.min(request.pageSize === 0 ? DEFAULT_PAGE : request.pageSize, MAX_PAGE);
      const after = readToken(request.nextPageToken);
      const rest = context.all().map((state) => [placeOf(state), state] as const)
        .sort(([a], [b]) => comparePlaces(a, b))
        .filter(([place]) => after === undefined || comparePlaces(place, after) > 0);
      const page = rest.slice(0, size);
      const last = page.at(-1);
      return encodeMessage(ListBatchOperationsResponseSchema, {
        operationInfo: page.map(([, state]) => infoOf(state)),
        nextPageToken: rest.length > size && last !== undefined
          ? utf8.encode(JSON.stringify(last[0]))
          : new Uint8Array(0),
      });
    },
  } satisfies { readonly [name in MethodName]?: (request: Uint8Array) => Uint8Array };
}

/** In the order and with the words of a server. */
function checkRequest(request: StartBatchOperationRequest, bytes: number): void {
  const { jobId, reason, visibilityQuery, operation } = request;
  const count = request.executions.length + request.targetExecutions.length;
  if (operation.case === undefined || reason === "" || (visibilityQuery === "" && count === 0)) {
    throw invalid(
      "must provide required parameters: BatchType/Reason/Namespace/Query/Executions",
    );
  }
  if (visibilityQuery !== "" && count > 0) {
    throw invalid("batch query and executions are mutually exclusive");
  }
  if (count > MAX_EXECUTIONS) {
    throw invalid(
      `${count} executions in a batch operation: the limit is ${MAX_EXECUTIONS}; select them by a query`,
    );
  }
  if (bytes > MAX_REQUEST_BYTES) {
    throw invalid(`the request has ${bytes} bytes; the limit is ${MAX_REQUEST_BYTES}`);
  }
  checkOperation(operation);
  if (jobId === "") throw invalid("JobId is not set on request.");
  if (utf8.encode(jobId).length > MAX_ID_LENGTH) throw invalid("JobId length exceeds limit.");
  if (jobId.includes("\0")) throw invalid("JobId contains a NUL character.");
  const { maxOperationsPerSecond: most } = request;
  if (!Number.isFinite(most) || most < 0) {
    throw invalid(`invalid max_operations_per_second: ${most}; 0 means no limit`);
  }
  const activity = request.targetExecutions.find(({ type }) => type === ExecutionType.ACTIVITY);
  if (activity !== undefined) {
    throw invalid(
      `execution "${activity.businessId}" is an activity without a workflow, which the embedded engine does not have`,
    );
  }
}

/** As on a server, one operation runs at a time, and ids of kept operations are not reused. */
function checkIsFree(context: BatchMethodsContext, jobId: string): void {
  if (context.all().some(({ progress }) => progress.status === "running")) {
    throw new ServiceError(
      Code.RESOURCE_EXHAUSTED,
      "Max concurrent batch operations is reached",
      "ResourceExhausted",
      { cause: "2" },
    );
  }
  if (context.find(jobId) !== undefined) {
    throw new ServiceError(
      Code.ALREADY_EXISTS,
      `batch operation ${jobId} already exists; use another job ID`,
      "WorkflowExecutionAlreadyStarted",
    );
  }
}

/** The listed workflows of a request. */
export function batchTargets(
  { executions, targetExecutions }: Pick<
    StartBatchOperationRequest,
    "executions" | "targetExecutions"
  >,
): readonly BatchTarget[] {
  return [
    ...executions.map(({ workflowId, runId }) => ({ workflowId, runId })),
    ...targetExecutions.map(({ businessId, runId }) => ({ workflowId: businessId, runId })),
  ];
}

/** The workflows that a query selects. Throws a ServiceError for an invalid query. */
export function batchCondition(
  store: Pick<Store, "attributeTypes">,
  { visibilityQuery, operation }: StartBatchOperationRequest,
): Condition {
  const { where, byStatus } = parseCount(visibilityQuery, store.attributeTypes());
  if (byStatus || where === undefined) {
    throw invalid(`invalid query of a batch operation: "${visibilityQuery}" selects no workflows`);
  }
  if (!operationKind(operation).isOfOpen) return where;
  const open: Condition = { kind: "compare", field: "ExecutionStatus", op: "=", value: RUNNING };
  return { kind: "and", parts: [where, open] };
}

const STATES = {
  running: BatchOperationState.RUNNING,
  completed: BatchOperationState.COMPLETED,
  stopped: BatchOperationState.FAILED,
  failed: BatchOperationState.FAILED,
} as const;

function infoOf(state: BatchState): Omit<BatchOperationInfo, "$typeName"> {
  const { status, startMs, closeMs } = state.progress;
  const { $typeName: _, ...info } = create(BatchOperationInfoSchema, {
    jobId: state.jobId,
    state: STATES[status],
    startTime: timestampOfMs(startMs),
    ...(closeMs > 0 && { closeTime: timestampOfMs(closeMs) }),
    operationType: operationKind(batchRequest(state).operation).type!,
  });
  return info;
}

/** Running operations first, then those that ended last. */
type Place = readonly [closeMs: number, startMs: number, jobId: string];

function placeOf({ jobId, progress: { closeMs, startMs } }: BatchState): Place {
  return [closeMs === 0 ? Number.MAX_SAFE_INTEGER : closeMs, startMs, jobId];
}

function comparePlaces(a: Place, b: Place): number {
  return b[0] - a[0] || b[1] - a[1] || (a[2] === b[2] ? 0 : a[2] < b[2] ? -1 : 1);
}

function readToken(token: Uint8Array): Place | undefined {
  if (token.length === 0) return undefined;
  try {
    const place = JSON.parse(text.decode(token)) as Place;
    const [closeMs, startMs, jobId] = place;
    if (Number.isFinite(closeMs) && Number.isFinite(startMs) && typeof jobId === "string") {
      return place;
    }
  } catch {
    // Rejected below.
  }
  throw invalidPageToken();
}
