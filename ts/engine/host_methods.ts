// The methods of WorkflowService that need no state machine: lists and counts from the store's
// index, and the description of the service. They read committed data.
import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import {
  MemoSchema,
  SearchAttributesSchema,
  WorkflowExecutionSchema,
} from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import type { WorkflowExecutionStatus } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { WorkflowExecutionInfoSchema } from "../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import {
  CountWorkflowExecutionsRequestSchema,
  CountWorkflowExecutionsResponseSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { EngineHead } from "../messages/generated/fields.ts";
import { Fields } from "../messages/wire.ts";
import { Code, type MethodName, ServiceError } from "../service/raw.ts";
import { descriptionMethods } from "./server_description.ts";
import { decodeMessage, encodeMessage } from "./host_bytes.ts";
import { listMethods } from "./list_methods.ts";
import { runMethods, type RunMethodsContext } from "./run_methods.ts";
import type { RunRow } from "./store.ts";
import type { HeldRun } from "../crash_notes/held_runs.ts";
import { storeFailed } from "./refusals.ts";
import { PAUSED } from "./held_status.ts";
import { readHeadFields } from "./visibility/head_fields.ts";
import { parseCount } from "./visibility/parse.ts";
import { STATUS_NAMES } from "./visibility/values.ts";
import type { WorkerList } from "./workers/worker_list.ts";

const utf8 = new TextEncoder();

export type HostMethod = (request: Uint8Array) => Uint8Array | Promise<Uint8Array>;

export interface HostContext extends Omit<RunMethodsContext, "ours"> {
  readonly namespace: string;
  readonly version: string;
  /** Whether workflows can call Nexus operations. Default: false. */
  readonly nexus?: boolean;
  /** Returns the held run; undefined if the run is not held. */
  readonly held?: (runId: string) => HeldRun | undefined;
  /** Serves DescribeTaskQueue. Absent: the service has no polls. */
  readonly queue?: (request: Uint8Array, ours: (namespace: string) => void) => Uint8Array;
  /** Serves UpdateTaskQueueConfig. Absent: the service dispatches no tasks. */
  readonly configure?: (request: Uint8Array, ours: (namespace: string) => void) => Uint8Array;
  /** Absent: the service has no workers. */
  readonly workers?: WorkerList;
}

/** Calls a method that reads the store, and converts errors of the store to ServiceErrors. */
export async function answered(
  method: () => Uint8Array | Promise<Uint8Array>,
): Promise<Uint8Array> {
  try {
    return await method();
  } catch (e) {
    throw e instanceof ServiceError ? e : storeFailed(e as Error);
  }
}

/** Returns a function that throws for names of other namespaces. */
export function namespaceCheck(namespace: string): (name: string) => void {
  return (name) => {
    if (name === "" || name === namespace) return;
    throw new ServiceError(Code.NOT_FOUND, `Namespace ${name} is not found.`, "NamespaceNotFound", {
      namespace: name,
    });
  };
}

/** Returns the methods by name. They throw ServiceErrors and errors of the store. */
export function hostMethods(context: HostContext): { readonly [name in MethodName]?: HostMethod } {
  const { store, namespace, version, nexus = false, queue, configure } = context;
  const ours = namespaceCheck(namespace);
  return {
    ...listMethods({ store, ours, infoOf: (row, head) => listed(row, head, context) }),
    countWorkflowExecutions(bytes) {
      const request = decodeMessage(CountWorkflowExecutionsRequestSchema, bytes);
      ours(request.namespace);
      const { where, byStatus } = parseCount(request.query, store.attributeTypes());
      const groups = byStatus ? countGroups(store.countByStatus(where), STATUS_NAMES) : [];
      const count = byStatus
        ? groups.reduce((sum, group) => sum + group.count, 0n)
        : BigInt(store.count(where));
      return encodeMessage(CountWorkflowExecutionsResponseSchema, { count, groups });
    },
    ...(queue !== undefined && { describeTaskQueue: (bytes: Uint8Array) => queue(bytes, ours) }),
    ...(configure !== undefined &&
      { updateTaskQueueConfig: (bytes: Uint8Array) => configure(bytes, ours) }),
    ...context.workers?.methods(ours),
    ...descriptionMethods({
      namespace,
      version,
      nexus,
      store: store.description.startsWith("memory") ? "memory" : "sqlite",
      attributeTypes: () => store.attributeTypes(),
      ours,
    }),
    ...runMethods({ ...context, ours }),
  };
}

/** Groups that are not empty, named as in Temporal's API. */
export function countGroups(
  counts: ReadonlyMap<number, number>,
  statuses: readonly (readonly [name: string, status: number])[],
) {
  return statuses.filter(([, value]) => counts.has(value)).map(([name, value]) => {
    const metadata = { encoding: utf8.encode("json/plain"), type: utf8.encode("Keyword") };
    return {
      count: BigInt(counts.get(value)!),
      groupValues: [{ metadata, data: utf8.encode(JSON.stringify(name)) }],
    };
  });
}

function timestamp(ms: number): Timestamp {
  // Times are in microseconds; a double of this size is exact to the microsecond only after
  // rounding.
  const micros = Math.round(ms * 1000);
  const seconds = Math.floor(micros / 1_000_000);
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt(seconds),
    nanos: (micros - seconds * 1_000_000) * 1000,
  };
}

/** A length in ms as a Duration. */
function lengthOf(ms: number): Duration {
  const { seconds, nanos } = timestamp(Math.max(0, ms));
  return { $typeName: "google.protobuf.Duration", seconds, nanos };
}

/** As lists show a run: one that is held is paused. */
function listed(row: RunRow, head: Uint8Array, { namespace, held }: HostContext) {
  const isHeld = row.closeTimeMs === 0 && held?.(row.runId) !== undefined;
  return { ...infoOf(row, head, namespace), ...(isHeld && { status: PAUSED }) };
}

function infoOf(
  row: RunRow,
  head: Uint8Array,
  namespace: string,
): MessageInitShape<typeof WorkflowExecutionInfoSchema> {
  const { stateTransitions, ...fields } = readHeadFields(head);
  const executionTimeMs = fields.executionTimeMs || row.startTimeMs;
  return {
    execution: { workflowId: row.workflowId, runId: row.runId },
    type: { name: row.workflowType },
    taskQueue: row.taskQueue,
    status: row.status as WorkflowExecutionStatus,
    startTime: timestamp(row.startTimeMs),
    executionTime: timestamp(executionTimeMs),
    ...(row.closeTimeMs > 0 && {
      closeTime: timestamp(row.closeTimeMs),
      executionDuration: lengthOf(row.closeTimeMs - executionTimeMs),
    }),
    stateTransitionCount: BigInt(stateTransitions),
    historyLength: BigInt(row.historyLength),
    historySizeBytes: BigInt(Math.round(row.historySizeBytes)),
    firstRunId: row.firstRunId,
    ...familyOf(row, head, namespace),
    memo: fromBinary(MemoSchema, row.memo),
    searchAttributes: fromBinary(SearchAttributesSchema, row.searchAttributes),
  };
}

/** Parent and root are only in the engine's state: the index does not need them. */
function familyOf(row: RunRow, head: Uint8Array, namespace: string) {
  let parent: Uint8Array | undefined;
  let root: Uint8Array | undefined;
  for (const at = new Fields(head); at.next();) {
    if (at.tag === EngineHead.parent) parent = at.bytes();
    else if (at.tag === EngineHead.root) root = at.bytes();
  }
  const execution = (bytes: Uint8Array) => fromBinary(WorkflowExecutionSchema, bytes);
  return {
    ...(parent !== undefined &&
      { parentNamespaceId: namespace, parentExecution: execution(parent) }),
    rootExecution: root === undefined
      ? create(WorkflowExecutionSchema, { workflowId: row.workflowId, runId: row.firstRunId })
      : execution(root),
  };
}
