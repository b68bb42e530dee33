// How a history begins: of its first event a few fields are read, the rest of it not at all.
import { History, HistoryEvent, WorkflowExecutionStartedEventAttributes as Started, WorkflowType } from "./generated/fields.ts";
import { Fields, firstOf, readTextField, timeMs } from "./wire.ts";

/** What a WorkflowExecutionStarted event says of its run. */
export interface RunStart {
  /** When the run was started. Milliseconds since the epoch. */
  readonly startMs: number;
  /** Name of the workflow type. */
  readonly workflowType: string;
  /** The first run of the chain that a reset, a retry or continue-as-new makes: the id that this run began with. */
  readonly runId: string;
  /** Bytes of temporal.api.common.v1.Header; undefined without one. */
  readonly header: Uint8Array | undefined;
}

/** Id of the first event of a History (bytes); 0 for one that has none, or that cannot be read: the core refuses it. */
export function firstEventIdOf(history: Uint8Array): number {
  try {
    const at = new Fields(history);
    while (at.next()) {
      if (at.tag !== History.events) continue;
      for (const event = at.inner(); event.next();) if (event.tag === HistoryEvent.eventId) return event.int();
      break;
    }
  } catch {
    // Below.
  }
  return 0;
}

/** The start of the run whose History begins with it; undefined for a later page, and for bytes that cannot be read. */
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
    else if (at.tag === HistoryEvent.workflowExecutionStartedEventAttributes) attributes = at.inner();
  }
  if (attributes === undefined) return undefined;
  let workflowType = "";
  let runId = "";
  let header: Uint8Array | undefined;
  for (const at = attributes; at.next();) {
    if (at.tag === Started.workflowType) workflowType = readTextField(at.bytes(), WorkflowType.name);
    else if (at.tag === Started.originalExecutionRunId) runId = at.text();
    else if (at.tag === Started.header) header = at.bytes();
  }
  return { startMs, workflowType, runId, header };
}
