// Reads some fields of a history's first event, without decoding the rest.
import {
  History,
  HistoryEvent,
  WorkflowExecutionStartedEventAttributes as Started,
  WorkflowType,
} from "./generated/fields.ts";
import { Fields, firstOf, readTextField, timeMs } from "./wire.ts";

/** The start of a run, from its WorkflowExecutionStarted event. */
export interface RunStart {
  /** Start of the run, milliseconds since the epoch. */
  readonly startMs: number;
  readonly workflowType: string;
  /** The original run id; it differs from the current one after a reset. */
  readonly runId: string;
  /** Encoded temporal.api.common.v1.Header; undefined if absent. */
  readonly header: Uint8Array | undefined;
}

/** Returns the id of the first event of an encoded History; 0 if it is empty or does not decode. */
export function firstEventIdOf(history: Uint8Array): number {
  try {
    const at = new Fields(history);
    while (at.next()) {
      if (at.tag !== History.events) continue;
      for (const event = at.inner(); event.next();) {
        if (event.tag === HistoryEvent.eventId) return event.int();
      }
      break;
    }
  } catch {
    // The core rejects it.
  }
  return 0;
}

/**
 * Returns the start of a run from its encoded History; undefined for a later page or undecodable
 * bytes.
 */
export function readRunStart(history: Uint8Array): RunStart | undefined {
  try {
    const event = firstOf(history, History.events);
    return event === undefined ? undefined : startOf(event);
  } catch {
    return undefined;
  }
}

function startOf(event: Uint8Array): RunStart | undefined {
  let startMs = 0;
  let attributes: Fields | undefined;
  for (const at = new Fields(event); at.next();) {
    if (at.tag === HistoryEvent.eventTime) startMs = timeMs(at.bytes());
    else if (at.tag === HistoryEvent.workflowExecutionStartedEventAttributes) {
      attributes = at.inner();
    }
  }
  if (attributes === undefined) return undefined;
  let workflowType = "";
  let runId = "";
  let header: Uint8Array | undefined;
  for (const at = attributes; at.next();) {
    if (at.tag === Started.workflowType) {
      workflowType = readTextField(at.bytes(), WorkflowType.name);
    } else if (at.tag === Started.originalExecutionRunId) runId = at.text();
    else if (at.tag === Started.header) header = at.bytes();
  }
  return { startMs, workflowType, runId, header };
}
