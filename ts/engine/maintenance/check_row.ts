// What must hold between a history, the row of its run, and the state that the core keeps.
import { EngineHead } from "../../messages/generated/fields.ts";
import { intOf } from "../../messages/wire.ts";
import { runIdIn } from "../../converter/history_run.ts";
import { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { RunRow } from "../store.ts";
import {
  CLOSING_STATUS,
  type Findings,
  micros,
  noFindings,
  statusEnumName,
  typeName,
} from "./findings.ts";

/**
 * Kinds of the items that are orders of a run to another one, and callbacks
 * (core-rs/src/engine/state/run.rs, `kind`). The numbers are stored.
 */
const ORDER = 9;
const CALLBACK = 21;

/** `items`: what is stored of the run in addition to row and history. */
export function checkRow(
  row: RunRow,
  events: readonly HistoryEvent[],
  items: readonly { readonly kind: number }[],
): Findings {
  const found = noFindings();
  const { problems, notes } = found;
  const first = events[0];
  const last = events[events.length - 1];
  if (first === undefined || last === undefined) return found;
  if (events.length !== row.historyLength) {
    problems.push(`it has ${events.length} events, but its row has ${row.historyLength}`);
  }
  if (first.attributes.case === "workflowExecutionStartedEventAttributes") {
    const { workflowType, workflowId } = first.attributes.value;
    const differs = (what: string, history: string, stored: string, into = problems) => {
      if (history !== "" && history !== stored) {
        into.push(`its history has the ${what} "${history}", and its row "${stored}"`);
      }
    };
    differs("workflow type", workflowType?.name ?? "", row.workflowType);
    differs("workflow id", workflowId, row.workflowId);
    // An imported history may be a copy of another run's beginning without saying so (a reset
    // before any task).
    differs("run id", runIdIn(events), row.runId, notes);
    const starts = startTimes(events, row.runId);
    if (starts.length > 0 && !starts.some((us) => Math.abs(us / 1000 - row.startTimeMs) <= 1)) {
      problems.push("its row and its history have different start times");
    }
  }
  const status = CLOSING_STATUS[last.eventType];
  if (row.status === WorkflowExecutionStatus.RUNNING) {
    if (status !== undefined) {
      problems.push(
        `its history ends with ${typeName(last.eventType)}, but its row has it as open`,
      );
    }
    if (row.closeTimeMs !== 0) problems.push("it is open, but has a close time");
    return found;
  }
  if (status !== row.status) {
    problems.push(
      `its history ends with ${typeName(last.eventType)}, and its row has the status ${
        statusEnumName(row.status)
      }`,
    );
  }
  if (row.closeTimeMs === 0) problems.push("it is closed, but has no close time");
  // Notifications to its parent or children may wait for a store that could not read them.
  const calls = items.some(({ kind }) => kind === CALLBACK);
  const notifies = calls || items.some(({ kind }) => kind === ORDER);
  if (row.ready && !notifies || row.wakeAtMs !== 0 && !calls) {
    problems.push("it is closed, but its row has pending work for the engine");
  }
  return found;
}

/** In microseconds: the first event, and the reset that made the run. */
function startTimes(events: readonly HistoryEvent[], runId: string): number[] {
  const reset = events.findLast(({ attributes }) =>
    attributes.case === "workflowTaskFailedEventAttributes" && attributes.value.newRunId === runId
  );
  return [events[0], reset].flatMap((event) =>
    event?.eventTime === undefined ? [] : [micros(event.eventTime)]
  );
}

/** Checks that the core's state matches the row. The core has already decoded the state. */
export function checkHead(row: RunRow, head: Uint8Array): string[] {
  let status: number;
  let next: number;
  try {
    status = intOf(head, EngineHead.status);
    next = intOf(head, EngineHead.nextEventId);
  } catch (e) {
    return [`its state cannot be decoded: ${(e as Error).message}`];
  }
  const problems: string[] = [];
  if (status !== row.status) {
    problems.push(
      `its state has the status ${statusEnumName(status)}, and its row ${
        statusEnumName(row.status)
      }`,
    );
  }
  if (next !== row.historyLength + 1) {
    problems.push(
      `its state continues at event ${next}, but its row has ${row.historyLength} events`,
    );
  }
  return problems;
}
