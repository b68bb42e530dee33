// Summaries of history events with decoded payloads. Events that close an activity or a timer show
// its name, though history has only the number of the opening event.
import { type JsonValue, toJson } from "@bufbuild/protobuf";
import type { Failure } from "../../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { EventType } from "../../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  CancelExternalWorkflowExecutionFailedCause,
  SignalExternalWorkflowExecutionFailedCause,
  StartChildWorkflowExecutionFailedCause,
} from "../../../messages/generated/temporal/api/enums/v1/failed_cause_pb.ts";
import {
  type HistoryEvent,
  HistoryEventSchema,
} from "../../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { durationMs, timestampDate } from "../../../messages/well_known.ts";
import { shownActivity } from "../../../converter/procedure_names.ts";
import { enumName } from "../../../converter/enums.ts";
import { decodePayload } from "../../../history_files/payload_json.ts";
import { readTimerName, readTimerSummary } from "../../../debug/timer_name.ts";
import type { Payload } from "../../../converter/payload.ts";
import { showMs } from "../../text/times.ts";
import { CliConverter, showValue, showValues } from "../../text/values.ts";

const LONGEST = 160;
const converter = new CliConverter();

const short = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST - 3)}...` : text;
const values = (payloads: { readonly payloads: readonly Payload[] } | undefined): string =>
  short(showValues((payloads?.payloads ?? []).map((payload) => converter.fromPayload(payload))));
const result = (payloads: { readonly payloads: readonly Payload[] } | undefined): string => {
  const text = values(payloads);
  return text === "" || text === "undefined" ? "" : `= ${text}`;
};

/** Formats names with values. */
const record = (payloads: { readonly [name: string]: Payload } | undefined): string =>
  short(
    Object.entries(payloads ?? {}).map(([name, payload]) =>
      `${name} ${values({ payloads: [payload] })}`
    ).join(", "),
  );

/** A failure in one line: type, message and cause. */
function failureText(failure: Failure | undefined): string {
  const parts: string[] = [];
  for (let f = failure; f !== undefined; f = f.cause) {
    const info = f.failureInfo;
    const type = info.case === "applicationFailureInfo" && info.value.type !== ""
      ? `${info.value.type}: `
      : "";
    const text = `${type}${f.message}`;
    if (f.message !== "" && !parts.includes(text)) parts.push(text);
  }
  return short(parts.join(" / "));
}

/** Converts "WORKFLOW_TASK_STARTED" to "WorkflowTaskStarted". */
const camel = (name: string): string =>
  name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

export class EventTexts {
  readonly #names = new Map<bigint, string>();

  name(event: HistoryEvent): string {
    return camel(enumName(EventType, event.eventType) ?? `EVENT_${event.eventType}`);
  }

  time(event: HistoryEvent): string {
    return event.eventTime === undefined ? "" : timestampDate(event.eventTime).toISOString();
  }

  /** Summary of an event; "" if the name is sufficient. */
  summary(event: HistoryEvent): string {
    return this.#ofWorkflow(event) ?? this.#ofWork(event) ?? this.#ofOthers(event) ?? "";
  }

  /** Name of what the event with this number opened. */
  #opened(id: bigint): string {
    return this.#names.get(id) ?? `(event ${id})`;
  }

  /** Events of the workflow itself and its incoming messages. */
  #ofWorkflow(event: HistoryEvent): string | undefined {
    const { attributes } = event;
    switch (attributes.case) {
      case "workflowExecutionStartedEventAttributes": {
        const { workflowType, input, taskQueue, attempt, continuedExecutionRunId } =
          attributes.value;
        const again = continuedExecutionRunId !== ""
          ? `, continued from ${continuedExecutionRunId}`
          : attempt > 1
          ? `, attempt ${attempt}`
          : "";
        return `${workflowType?.name ?? ""}(${values(input)}) on ${taskQueue?.name ?? ""}${again}`;
      }
      case "workflowExecutionCompletedEventAttributes":
        return result(attributes.value.result);
      case "workflowExecutionFailedEventAttributes":
        return failureText(attributes.value.failure);
      case "workflowExecutionTerminatedEventAttributes":
        return attributes.value.reason;
      case "workflowExecutionCanceledEventAttributes":
        return values(attributes.value.details);
      case "workflowExecutionContinuedAsNewEventAttributes": {
        const { workflowType, input, newExecutionRunId } = attributes.value;
        return `${workflowType?.name ?? ""}(${values(input)}) in run ${newExecutionRunId}`;
      }
      case "workflowExecutionCancelRequestedEventAttributes":
        return attributes.value.cause;
      case "workflowExecutionSignaledEventAttributes":
        return `${attributes.value.signalName}(${values(attributes.value.input)})`;
      case "workflowExecutionUpdateAcceptedEventAttributes": {
        const { acceptedRequest, protocolInstanceId } = attributes.value;
        const name = `${acceptedRequest?.input?.name ?? ""}(${
          values(acceptedRequest?.input?.args)
        })`;
        this.#names.set(event.eventId, acceptedRequest?.input?.name ?? "");
        return `${name}, id ${protocolInstanceId}`;
      }
      case "workflowExecutionUpdateCompletedEventAttributes": {
        const { outcome, acceptedEventId } = attributes.value;
        const value = outcome?.value;
        return `${this.#opened(acceptedEventId)} ${
          value?.case === "failure" ? failureText(value.value) : result(value?.value)
        }`;
      }
      case "upsertWorkflowSearchAttributesEventAttributes":
        return record(attributes.value.searchAttributes?.indexedFields);
      case "workflowPropertiesModifiedEventAttributes":
        return record(attributes.value.upsertedMemo?.fields);
      default:
        return undefined;
    }
  }

  /** Events of tasks, activities, timers and markers. */
  #ofWork(event: HistoryEvent): string | undefined {
    const { attributes } = event;
    switch (attributes.case) {
      case "workflowTaskFailedEventAttributes":
        return failureText(attributes.value.failure);
      case "activityTaskScheduledEventAttributes": {
        const { activityId, activityType, input } = attributes.value;
        const shown = shownActivity(activityType?.name ?? "");
        this.#names.set(event.eventId, shown);
        return `${shown}(${values(input)}), id ${activityId}`;
      }
      case "activityTaskStartedEventAttributes": {
        const { scheduledEventId, attempt, lastFailure } = attributes.value;
        const before = lastFailure === undefined ? "" : `, after ${failureText(lastFailure)}`;
        return `${this.#opened(scheduledEventId)}${
          attempt > 1 ? `, attempt ${attempt}` : ""
        }${before}`;
      }
      case "activityTaskCompletedEventAttributes":
        return `${this.#opened(attributes.value.scheduledEventId)} ${
          result(attributes.value.result)
        }`;
      case "activityTaskFailedEventAttributes":
      case "activityTaskTimedOutEventAttributes":
        return `${this.#opened(attributes.value.scheduledEventId)}: ${
          failureText(attributes.value.failure)
        }`;
      case "activityTaskCanceledEventAttributes":
      case "activityTaskCancelRequestedEventAttributes":
        return this.#opened(attributes.value.scheduledEventId);
      case "timerStartedEventAttributes": {
        const { timerId, startToFireTimeout } = attributes.value;
        const summary = readTimerSummary(event.userMetadata?.summary, converter);
        const name = readTimerName(summary);
        this.#names.set(event.eventId, `timer ${name || timerId}`);
        const said = name === "" && summary !== "" ? `: ${short(summary)}` : "";
        const took = startToFireTimeout === undefined ? "" : showMs(durationMs(startToFireTimeout));
        return `timer ${name === "" ? timerId : `${name}, id ${timerId}`}, ${took}${said}`;
      }
      case "timerFiredEventAttributes":
      case "timerCanceledEventAttributes":
        return this.#names.get(attributes.value.startedEventId) ??
          `timer ${attributes.value.timerId}`;
      case "markerRecordedEventAttributes": {
        const { markerName, details } = attributes.value;
        const shown = Object.entries(details).map(([key, payloads]) =>
          `${key} ${values(payloads)}`
        );
        return short([markerName, ...shown].join(", "));
      }
      default:
        return undefined;
    }
  }

  /** Events of child workflows and messages to other workflows. */
  #ofOthers(event: HistoryEvent): string | undefined {
    const { attributes } = event;
    switch (attributes.case) {
      case "childWorkflowExecutionStartedEventAttributes":
      case "childWorkflowExecutionCompletedEventAttributes":
      case "childWorkflowExecutionCanceledEventAttributes":
      case "childWorkflowExecutionTimedOutEventAttributes":
      case "childWorkflowExecutionTerminatedEventAttributes":
      case "childWorkflowExecutionFailedEventAttributes": {
        const { workflowExecution, workflowType } = attributes.value;
        const end = "result" in attributes.value
          ? ` ${result(attributes.value.result)}`
          : "failure" in attributes.value
          ? `: ${failureText(attributes.value.failure)}`
          : "";
        return `${workflowType?.name ?? ""} ${workflowExecution?.workflowId ?? ""}${end}`;
      }
      case "startChildWorkflowExecutionInitiatedEventAttributes":
        return `${attributes.value.workflowType?.name ?? ""}(${
          values(attributes.value.input)
        }), id ${attributes.value.workflowId}`;
      case "startChildWorkflowExecutionFailedEventAttributes": {
        const { workflowType, workflowId, cause } = attributes.value;
        return `${workflowType?.name ?? ""} ${workflowId}: ${
          enumName(StartChildWorkflowExecutionFailedCause, cause) ?? ""
        }`;
      }
      case "signalExternalWorkflowExecutionInitiatedEventAttributes": {
        const { signalName, input, workflowExecution } = attributes.value;
        this.#names.set(event.eventId, `${signalName} to ${workflowExecution?.workflowId ?? ""}`);
        return `${signalName}(${values(input)}) to ${workflowExecution?.workflowId ?? ""}`;
      }
      case "requestCancelExternalWorkflowExecutionInitiatedEventAttributes": {
        const { workflowExecution, reason } = attributes.value;
        this.#names.set(event.eventId, workflowExecution?.workflowId ?? "");
        return `${workflowExecution?.workflowId ?? ""}${reason === "" ? "" : `: ${reason}`}`;
      }
      case "externalWorkflowExecutionSignaledEventAttributes":
      case "externalWorkflowExecutionCancelRequestedEventAttributes":
        return this.#opened(attributes.value.initiatedEventId);
      case "signalExternalWorkflowExecutionFailedEventAttributes": {
        const { initiatedEventId, cause } = attributes.value;
        return `${this.#opened(initiatedEventId)}: ${
          enumName(SignalExternalWorkflowExecutionFailedCause, cause) ?? ""
        }`;
      }
      case "requestCancelExternalWorkflowExecutionFailedEventAttributes": {
        const { initiatedEventId, cause } = attributes.value;
        return `${this.#opened(initiatedEventId)}: ${
          enumName(CancelExternalWorkflowExecutionFailedCause, cause) ?? ""
        }`;
      }
      default:
        return undefined;
    }
  }

  /** All fields with decoded payloads. */
  details(event: HistoryEvent): string {
    const json = toJson(HistoryEventSchema, event) as { [name: string]: JsonValue };
    const attributes = Object.entries(json).find(([name]) => name.endsWith("Attributes"))?.[1] ??
      {};
    return (showValue(readable(attributes), 2)).replace(/^/gm, "  ");
  }
}

/** Replaces payloads in a message's JSON by their values. */
function readable(json: JsonValue): unknown {
  if (Array.isArray(json)) return json.map(readable);
  if (typeof json !== "object" || json === null) return json;
  if (typeof json["metadata"] === "object" && "encoding" in (json["metadata"] as object)) {
    const payload = decodePayload(json)?.payload;
    if (payload !== undefined) return converter.fromPayload(payload);
  }
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, readable(value)]));
}
