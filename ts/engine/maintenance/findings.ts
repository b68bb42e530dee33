// What checks find of a run, and the names that their sentences use.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { EventType } from "../../api/generated/temporal/api/enums/v1/event_type_pb.ts";
import { WorkflowExecutionStatus } from "../../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { HistoryEvent } from "../../api/generated/temporal/api/history/v1/message_pb.ts";

/** What a check finds of one run: sentences for people. */
export interface Findings {
  /** What is wrong: the run cannot be read, or not trusted. */
  readonly problems: string[];
  /** What is odd, and may be so. */
  readonly notes: string[];
}

export const noFindings = (): Findings => ({ problems: [], notes: [] });

/** Status of a run whose history ends with such an event. */
export const CLOSING_STATUS: { readonly [type in EventType]?: WorkflowExecutionStatus } = {
  [EventType.WORKFLOW_EXECUTION_COMPLETED]: WorkflowExecutionStatus.COMPLETED,
  [EventType.WORKFLOW_EXECUTION_FAILED]: WorkflowExecutionStatus.FAILED,
  [EventType.WORKFLOW_EXECUTION_TIMED_OUT]: WorkflowExecutionStatus.TIMED_OUT,
  [EventType.WORKFLOW_EXECUTION_CANCELED]: WorkflowExecutionStatus.CANCELED,
  [EventType.WORKFLOW_EXECUTION_TERMINATED]: WorkflowExecutionStatus.TERMINATED,
  [EventType.WORKFLOW_EXECUTION_CONTINUED_AS_NEW]: WorkflowExecutionStatus.CONTINUED_AS_NEW,
};

const nameOf = (names: { readonly [name: string]: number }, value: number): string =>
  Object.keys(names).find((name) => names[name] === value) ?? `type ${value}`;
export const typeName = (type: EventType): string => nameOf(EventType, type);
export const statusEnumName = (status: number): string => nameOf(WorkflowExecutionStatus, status);
/** An event as messages name it. */
export const eventName = (event: HistoryEvent, index: number): string => `event ${index + 1} (${typeName(event.eventType)})`;
/** Microseconds, which the engine counts in. */
export const micros = (time: Timestamp): number => Number(time.seconds) * 1e6 + Math.round(time.nanos / 1000);
