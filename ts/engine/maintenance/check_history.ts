// What must hold of a history whatever wrote it, and between a history and the row of its run.
import { fromBinary } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { EventType } from "../../temporal/generated/temporal/api/enums/v1/event_type_pb.ts";
import { WorkflowExecutionStatus } from "../../temporal/generated/temporal/api/enums/v1/workflow_pb.ts";
import { type HistoryEvent, HistorySchema } from "../../temporal/generated/temporal/api/history/v1/message_pb.ts";
import type { RunRow } from "../store.ts";

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
export const statusName = (status: number): string => nameOf(WorkflowExecutionStatus, status);
/** Microseconds, which the engine counts in. */
export const micros = (time: Timestamp): number => Number(time.seconds) * 1e6 + Math.round(time.nanos / 1000);

/** The events of encoded Histories; undefined, with the reason in `problems`, when they do not decode. */
export function decodeEvents(parts: readonly Uint8Array[], problems: string[]): HistoryEvent[] | undefined {
  const events: HistoryEvent[] = [];
  for (const part of parts) {
    try {
      events.push(...fromBinary(HistorySchema, part).events);
    } catch (e) {
      problems.push(`its history does not decode behind event ${events.length}: ${(e as Error).message}`);
      return undefined;
    }
  }
  return events;
}

/** Problems of a history by itself: its beginning, the numbers and times of its events, what stands behind its end. */
export function checkEvents(events: readonly HistoryEvent[]): string[] {
  const [first] = events;
  if (first === undefined) return ["its history is empty"];
  const problems: string[] = [];
  if (first.attributes.case !== "workflowExecutionStartedEventAttributes") {
    problems.push(`its history begins with ${typeName(first.eventType)} instead of WORKFLOW_EXECUTION_STARTED`);
  }
  let last = -Infinity;
  let taskBegan = Infinity;
  for (const [i, event] of events.entries()) {
    const at = `event ${i + 1} (${typeName(event.eventType)})`;
    if (event.eventId !== BigInt(i + 1)) {
      problems.push(`${at} has the number ${event.eventId}: the history has a gap, or events twice`);
      break;
    }
    if (event.attributes.case === undefined) problems.push(`${at} has no attributes`);
    if (event.eventTime === undefined) problems.push(`${at} has no time`);
    else {
      const time = timestampMs(event.eventTime);
      // What came while a task was in work keeps its time, and stands behind the end of the task.
      if (time < Math.min(last, taskBegan)) problems.push(`${at} lies before the event before it`);
      last = Math.max(last, time);
      if (event.attributes.case === "workflowTaskStartedEventAttributes") taskBegan = time;
    }
    if (CLOSING_STATUS[event.eventType] !== undefined && i < events.length - 1) {
      problems.push(`${at} closes the run, and ${events.length - 1 - i} events follow`);
    }
  }
  return problems;
}

/** Kind of the items that are orders of a run to another one (core-rs/src/engine/state.rs, `kind`); the number is stored. */
const ORDER = 9;

/** Problems between the row of a run and its history. `items`: what is stored of it beside them. */
export function checkRow(row: RunRow, events: readonly HistoryEvent[], items: readonly { readonly kind: number }[]): string[] {
  const problems: string[] = [];
  const first = events[0];
  const last = events[events.length - 1];
  if (first === undefined || last === undefined) return problems;
  if (events.length !== row.historyLength) problems.push(`it has ${events.length} events, and its row says ${row.historyLength}`);
  if (first.attributes.case === "workflowExecutionStartedEventAttributes") {
    const { workflowType, originalExecutionRunId, workflowId } = first.attributes.value;
    const differs = (what: string, history: string, stored: string) => {
      if (history !== "" && history !== stored) {
        problems.push(`its history has the ${what} "${history}", and its row "${stored}"`);
      }
    };
    differs("workflow type", workflowType?.name ?? "", row.workflowType);
    differs("run id", originalExecutionRunId, row.runId);
    differs("workflow id", workflowId, row.workflowId);
    if (first.eventTime !== undefined && Math.abs(micros(first.eventTime) / 1000 - row.startTimeMs) > 1) {
      problems.push("its row has another start time than its history");
    }
  }
  const status = CLOSING_STATUS[last.eventType];
  if (row.status === WorkflowExecutionStatus.RUNNING) {
    if (status !== undefined) {
      problems.push(`its history ends with ${typeName(last.eventType)}, and its row says that it is open`);
    }
    if (row.closeTimeMs !== 0) problems.push("it is open, and has a close time");
  } else {
    if (status !== row.status) {
      problems.push(
        `its history ends with ${typeName(last.eventType)}, and its row has the status ${statusName(row.status)}`,
      );
    }
    if (row.closeTimeMs === 0) problems.push("it is closed, and has no close time");
    // What it has to tell its parent or its children may wait for a store that could not read them.
    const tells = items.some(({ kind }) => kind === ORDER);
    if (row.ready && !tells || row.wakeAtMs !== 0) {
      problems.push("it is closed, and its row says that the engine has something to do for it");
    }
  }
  return problems;
}
