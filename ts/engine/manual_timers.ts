// Timers that fire on request, for tests. A timer's name is the summary of its TimerStarted event;
// the state machine does not keep it, so it is read from the history.
import { fromBinary } from "@bufbuild/protobuf";
import { SearchAttributesSchema } from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import { HistorySchema } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { SignalWorkflowExecutionRequestSchema } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { TIMERS } from "../converter/belonging_names.ts";
import { defaultPayloadConverter } from "../converter/payload.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { encodeMessage } from "./host_bytes.ts";
import type { EmbeddedEngineOptions } from "./options.ts";
import type { Store } from "./store.ts";

interface OpenTimer {
  readonly id: string;
  /** Undefined: the timer has no name, or a codec has encoded it. */
  readonly name: string | undefined;
}

/**
 * Returns the core's request that fires the oldest open timer with a name, else the timer with that
 * id. Throws ServiceErrors: FAILED_PRECONDITION if the workflow's timers fire when due, NOT_FOUND
 * if the workflow or timer does not exist.
 */
export function fireTimerRequest(
  store: Store,
  options: Pick<EmbeddedEngineOptions, "timers" | "namespace">,
  workflowId: string,
  name: string,
  runId?: string,
): Uint8Array {
  const row = store.load(workflowId, runId)?.row;
  if (row === undefined) {
    throw new ServiceError(Code.NOT_FOUND, `workflow "${workflowId}" not found`, "NotFound");
  }
  if (options.timers !== "manual" && !startedByHand(row.searchAttributes)) {
    throw new ServiceError(
      Code.FAILED_PRECONDITION,
      `timer "${name}" of workflow "${workflowId}" fires when it is due; fireTimer needs a workflow that was started with ` +
        `timers: "manual", or a test engine with manual timers`,
    );
  }
  const open = openTimers(store, workflowId, row.runId, row.historyLength);
  const timer = open.find((one) => one.name === name) ?? open.find((one) => one.id === name);
  if (timer === undefined) {
    const names = open.map((one) =>
      one.name === undefined ? `one without a name (id ${one.id})` : `"${one.name}"`
    );
    throw new ServiceError(
      Code.NOT_FOUND,
      `workflow "${workflowId}" has no open timer "${name}"; open timers: ${
        names.length === 0 ? "none" : names.join(", ")
      }`,
      "NotFound",
    );
  }
  return encodeMessage(SignalWorkflowExecutionRequestSchema, {
    namespace: options.namespace ?? "default",
    workflowExecution: { workflowId, runId: row.runId },
    signalName: timer.id,
  });
}

function startedByHand(attributes: Uint8Array): boolean {
  return textOf(fromBinary(SearchAttributesSchema, attributes).indexedFields[TIMERS]) === "manual";
}

function openTimers(
  store: Store,
  workflowId: string,
  runId: string,
  historyLength: number,
): OpenTimer[] {
  const open = new Map<string, OpenTimer>();
  for (const batch of store.historyRange(workflowId, runId, 1, historyLength)) {
    for (const { attributes, userMetadata } of fromBinary(HistorySchema, batch).events) {
      if (attributes.case === "timerStartedEventAttributes") {
        const id = attributes.value.timerId;
        open.set(id, { id, name: textOf(userMetadata?.summary) });
      } else if (
        attributes.case === "timerFiredEventAttributes" ||
        attributes.case === "timerCanceledEventAttributes"
      ) {
        open.delete(attributes.value.timerId);
      }
    }
  }
  return [...open.values()];
}

function textOf(
  payload: Parameters<typeof defaultPayloadConverter.fromPayload>[0] | undefined,
): string | undefined {
  if (payload === undefined) return undefined;
  try {
    const text = defaultPayloadConverter.fromPayload(payload);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}
