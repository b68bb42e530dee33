// What lists and descriptions of workflows show.
import { WorkflowExecutionStatus } from "../../api/generated/temporal/api/enums/v1/workflow_pb.ts";
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
import type { SearchAttributes, SearchAttributeValue, TypedSearchAttributes } from "../common/search_attributes.ts";

/** A workflow, and perhaps its run. */
export interface WorkflowExecution {
  /** Id of the workflow. */
  workflowId: string;
  /** Its run. */
  runId?: string;
}

/** How a workflow stands. */
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

/** One run, as `list` shows it. */
export interface WorkflowExecutionInfo {
  /** Name of the workflow type. */
  type: string;
  /** Id of the workflow. */
  workflowId: string;
  /** Its run. */
  runId: string;
  /** Queue of its tasks. */
  taskQueue: string;
  /** How it stands. */
  status: { code: number; name: WorkflowExecutionStatusName };
  /** Number of events. */
  historyLength: number;
  /** Size of its history in bytes. */
  historySize?: number;
  /** When it was started. */
  startTime: Date;
  /** When its first task was due. */
  executionTime?: Date;
  /** When it ended. */
  closeTime?: Date;
  /** Kept with it. */
  memo?: Record<string, unknown>;
  /** Older form of search attributes. */
  searchAttributes: SearchAttributes;
  /** Search attributes. */
  typedSearchAttributes: TypedSearchAttributes;
  /** The workflow that started it. */
  parentExecution?: Required<WorkflowExecution>;
  /** The first one of its parents. */
  rootExecution?: Required<WorkflowExecution>;
  /** The message. */
  raw: PlainMessage;
  /** Order among tasks. */
  priority?: Priority;
}

/** One run, as `describe` shows it. */
export type WorkflowExecutionDescription = WorkflowExecutionInfo & {
  /** Lines for people. */
  staticDetails: () => Promise<string | undefined>;
  /** A line for people. */
  staticSummary: () => Promise<string | undefined>;
};

/** Counts, by groups where the query has some. */
export interface CountWorkflowExecution {
  /** All. */
  count: number;
  /** By group. */
  groups: { count: number; groupValues: SearchAttributeValue[] }[];
}

const STATUS = new Map<number, string>(Object.entries(WorkflowExecutionStatus).map(([name, code]) => [code, name]));

function statusName(code: number): WorkflowExecutionStatusName {
  const name = STATUS.get(code);
  if (name === undefined) return "UNKNOWN";
  return (name === "CANCELED" ? "CANCELLED" : name) as WorkflowExecutionStatusName;
}

const execution = (raw: PlainMessage | null | undefined): Required<WorkflowExecution> | undefined =>
  raw ? { workflowId: raw.workflowId, runId: raw.runId } : undefined;

/** One run of its message. */
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

/** Counts of their message. */
export function decodeCount(raw: PlainMessage): CountWorkflowExecution {
  return {
    count: raw.count.toNumber(),
    groups: raw.groups.map((group: PlainMessage) => ({
      count: group.count.toNumber(),
      groupValues: group.groupValues.map((value: PlainMessage) => searchAttributePayloadConverter.fromPayload(value)),
    })),
  };
}

/** The answer to a description. */
export type DescribeWorkflowExecutionResponse = PlainMessage;
/** The question for events. */
export type GetWorkflowExecutionHistoryRequest = PlainMessage;
/** What lists and descriptions say of a run. */
export type RawWorkflowExecutionInfo = PlainMessage;
/** The answer to a cancel request. */
export type RequestCancelWorkflowExecutionResponse = PlainMessage;
/** The request of a start. */
export type StartWorkflowExecutionRequest = PlainMessage;
/** The answer to a termination. */
export type TerminateWorkflowExecutionResponse = PlainMessage;
