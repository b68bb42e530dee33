// What every history must satisfy. Only violations that a store cannot accept are damage: events
// that do not decode, missing events, a wrong first or last event, dangling references. Times may
// be out of order on every server (activity starts are written late, clocks differ, resets copy
// events). Oddities are notes.
import { fromBinary } from "@bufbuild/protobuf";
import { EventType } from "../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  type HistoryEvent,
  HistorySchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { checkReferences } from "./check_references.ts";
import { CLOSING_STATUS, eventName, type Findings, noFindings, typeName } from "./findings.ts";

/** The attributes of each event type. A type that is absent is of a newer server, or damaged. */
const ATTRIBUTES: ReadonlyMap<EventType, string> = new Map(
  Object.entries(EventType).flatMap(([name, type]) =>
    type === EventType.UNSPECIFIED ? [] : [[
      type,
      `${
        name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
      }EventAttributes`,
    ]]
  ),
);

/**
 * Decodes the events of encoded Histories; undefined if they do not decode, with the reason in
 * `problems`.
 */
export function decodeEvents(
  parts: readonly Uint8Array[],
  problems: string[],
): HistoryEvent[] | undefined {
  const events: HistoryEvent[] = [];
  for (const part of parts) {
    try {
      for (const event of fromBinary(HistorySchema, part).events) events.push(event);
    } catch (e) {
      problems.push(
        `its history cannot be decoded after event ${events.length}: ${(e as Error).message}`,
      );
      return undefined;
    }
  }
  return events;
}

/** Checks a history by itself. */
export function checkEvents(events: readonly HistoryEvent[]): Findings {
  const found = noFindings();
  const { problems, notes } = found;
  const [first] = events;
  if (first === undefined) return { problems: ["its history is empty"], notes };
  if (first.attributes.case !== "workflowExecutionStartedEventAttributes") {
    problems.push(
      `its history begins with ${typeName(first.eventType)} instead of WORKFLOW_EXECUTION_STARTED`,
    );
  }
  for (const [i, event] of events.entries()) {
    const at = eventName(event, i);
    if (event.eventId !== BigInt(i + 1)) {
      problems.push(`${at} has id ${event.eventId}: the history has missing or repeated events`);
      // Every later event would repeat this problem.
      return found;
    }
    checkAttributes(event, at, found);
    if (event.eventTime === undefined) problems.push(`${at} has no time`);
    if (CLOSING_STATUS[event.eventType] !== undefined && i < events.length - 1) {
      problems.push(`${at} closes the run, and ${events.length - 1 - i} events follow`);
    }
  }
  checkReferences(events, found);
  return found;
}

function checkAttributes(event: HistoryEvent, at: string, { problems, notes }: Findings): void {
  const wanted = ATTRIBUTES.get(event.eventType);
  const has = event.attributes.case;
  if (wanted === undefined) {
    notes.push(
      `${at} has a type that this version of temporalex does not support; it is kept unchanged`,
    );
  } else if (has === undefined) {
    // Attributes in a field of a newer server are kept, though not understood.
    if ((event.$unknown ?? []).length > 0) {
      notes.push(`${at} has attributes that this version of temporalex does not support`);
    } else problems.push(`${at} has no attributes`);
  } else if (has !== wanted) problems.push(`${at} has the attributes of another type (${has})`);
}
