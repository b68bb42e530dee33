// Results of lists and descriptions of workflows.
import { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { LoadedDataConverter } from "../common/data_converter.ts";
import { mapFromPayloads } from "../common/payloads.ts";
import type { PlainMessage } from "../common/plain_proto.ts";
import { decodePriority, type Priority } from "../common/priority.ts";
import { optionalTsToDate, requiredTsToDate } from "../common/proto_time.ts";
import {
  decodeSearchAttributes,
  decodeTypedSearchAttributes,
  searchAttributePayloadConverter,
} from "../common/search_attribute_converters.ts";
import type {
  SearchAttributes,
  SearchAttributeValue,
  TypedSearchAttributes,
} from "../common/search_attributes.ts";

/** A workflow, optionally with a run. */
export interface WorkflowExecution {
  workflowId: string;
  runId?: string;
}

/** Status of a workflow. */
export type WorkflowExecutionStatusName =
  | "UNSPECIFIED"
  | "RUNNING"
  | "COMPLETED"
  | "FAILED"
  | "CANCELLED"
  | "TERMINATED"
  | "CONTINUED_AS_NEW"
  | "TIMED_OUT"
  | "PAUSED"
  | "UNKNOWN";

/** A run in a list. */
export interface WorkflowExecutionInfo {
  type: string;
  workflowId: string;
  runId: string;
  taskQueue: string;
  status: { code: number; name: WorkflowExecutionStatusName };
  /** Number of events. */
  historyLength: number;
  /** Size of the history in bytes. */
  historySize?: number;
  startTime: Date;
  /** Time of the first workflow task. */
  executionTime?: Date;
  /** Time of the end. */
  closeTime?: Date;
  memo?: Record<string, unknown>;
  /** Search attributes without types. */
  searchAttributes: SearchAttributes;
  typedSearchAttributes: TypedSearchAttributes;
  parentExecution?: Required<WorkflowExecution>;
  /** First workflow of its chain of parents. */
  rootExecution?: Required<WorkflowExecution>;
  /** The message of the service. */
  raw: PlainMessage;
  /** Priority of the tasks. */
  priority?: Priority;
}

/** A run in detail. */
export type WorkflowExecutionDescription = WorkflowExecutionInfo & {
  /** Further lines for user interfaces. */
  staticDetails: () => Promise<string | undefined>;
  /** One line for user interfaces. */
  staticSummary: () => Promise<string | undefined>;
};

/** Counts, by group if the query has groups. */
export interface CountWorkflowExecution {
  /** Total number of runs. */
  count: number;
  groups: { count: number; groupValues: SearchAttributeValue[] }[];
}

const STATUS = new Map<number, string>(
  Object.entries(WorkflowExecutionStatus).map(([name, code]) => [code, name]),
);

function statusName(code: number): WorkflowExecutionStatusName {
  const name = STATUS.get(code);
  if (name === undefined) return "UNKNOWN";
  return (name === "CANCELED" ? "CANCELLED" : name) as WorkflowExecutionStatusName;
}

const execution = (raw: PlainMessage | null | undefined): Required<WorkflowExecution> | undefined =>
  raw ? { workflowId: raw.workflowId, runId: raw.runId } : undefined;

/** Converts a run from a message. */
export function executionInfo(
  raw: PlainMessage,
  { payloadConverter }: LoadedDataConverter,
  embedded: PlainMessage,
  namespace: string,
): WorkflowExecutionInfo {
  const { workflowId, runId } = raw.execution ?? {};
  const fields = raw.searchAttributes?.indexedFields;
  const context = { type: "workflow", namespace, workflowId } as const;
  return {
    type: raw.type?.name ?? "",
    workflowId,
    runId,
    taskQueue: raw.taskQueue,
    status: { code: raw.status, name: statusName(raw.status) },
    historyLength: raw.historyLength.toNumber(),
    historySize: raw.historySizeBytes?.toNumber() || undefined,
    startTime: requiredTsToDate(raw.startTime, "startTime"),
    executionTime: optionalTsToDate(raw.executionTime),
    closeTime: optionalTsToDate(raw.closeTime),
    memo: mapFromPayloads(payloadConverter, raw.memo?.fields, context),
    searchAttributes: decodeSearchAttributes(fields),
    typedSearchAttributes: decodeTypedSearchAttributes(fields),
    parentExecution: execution(raw.parentExecution),
    rootExecution: execution(raw.rootExecution),
    raw: embedded,
    priority: decodePriority(raw.priority),
  } as WorkflowExecutionInfo;
}

/** Converts counts from a message. */
export function decodeCount(raw: PlainMessage): CountWorkflowExecution {
  return {
    count: raw.count.toNumber(),
    groups: raw.groups.map((group: PlainMessage) => ({
      count: group.count.toNumber(),
      groupValues: group.groupValues.map((value: PlainMessage) =>
        searchAttributePayloadConverter.fromPayload(value)
      ),
    })),
  };
}

/** Response of a description. */
export type DescribeWorkflowExecutionResponse = PlainMessage;
/** Request for events. */
export type GetWorkflowExecutionHistoryRequest = PlainMessage;
/** A run in lists and descriptions. */
export type RawWorkflowExecutionInfo = PlainMessage;
/** Response to a cancel request. */
export type RequestCancelWorkflowExecutionResponse = PlainMessage;
/** Request of a start. */
export type StartWorkflowExecutionRequest = PlainMessage;
/** Response to a termination. */
export type TerminateWorkflowExecutionResponse = PlainMessage;
