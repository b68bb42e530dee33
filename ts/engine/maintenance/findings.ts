// Findings of checks, and the names in their messages.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { EventType } from "../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";

/** Findings of one run, as sentences. */
export interface Findings {
  /** Damage: the run cannot be read, or not trusted. */
  readonly problems: string[];
  /** Oddities that are not damage. */
  readonly notes: string[];
}

export const noFindings = (): Findings => ({ problems: [], notes: [] });

/** The status of a run by the type of its last event. */
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
/** Returns an event as messages name it. */
export const eventName = (event: HistoryEvent, index: number): string =>
  `event ${index + 1} (${typeName(event.eventType)})`;
/** Microseconds, the engine's unit of time. */
export const micros = (time: Timestamp): number =>
  Number(time.seconds) * 1e6 + Math.round(time.nanos / 1000);
