// The history's side: the steps of each workflow task, in the same form as the code's commands.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { readEventSubject } from "../command_keys.ts";
import { formatExactDuration } from "../values.ts";
import {
  type KnownStep,
  makeStep,
  type MarkerData,
  readMarkerData,
  type StepPlan,
} from "./steps.ts";

/** A step with its event. */
export interface HistoryStep extends KnownStep {
  readonly event: HistoryEvent;
  /** The step is valid without a command: a deprecated patch may be removed from the code. */
  readonly lenient: boolean;
}

/** A workflow task that completed. */
export interface HistoryTask {
  /** Counted from 1. */
  readonly task: number;
  readonly startedEventId: number;
  readonly completedEventId: number;
  readonly steps: readonly HistoryStep[];
}

/** Returns the completed tasks of a history, in order. */
export function readHistoryTasks(events: readonly HistoryEvent[]): HistoryTask[] {
  const tasks: (HistoryTask & { readonly steps: HistoryStep[] })[] = [];
  const names = new UpdateNames();
  const byId = (id: bigint) => events[Number(id) - 1];
  for (const event of events) {
    const { attributes, eventId } = event;
    if (attributes.case === "workflowTaskCompletedEventAttributes") {
      const startedEventId = Number(attributes.value.startedEventId);
      tasks.push({
        task: tasks.length + 1,
        startedEventId,
        completedEventId: Number(eventId),
        steps: [],
      });
      continue;
    }
    names.see(event);
    const plan = planEvent(event, byId, names);
    if (plan === undefined) continue;
    const lenient = plan.kind === "patch" && plan.deprecated === true;
    tasks.at(-1)?.steps.push({ ...makeStep(plan, Number(eventId), ""), event, lenient });
  }
  return tasks;
}

/** Names of updates by update ID. */
class UpdateNames {
  readonly #names = new Map<string, string>();

  see({ attributes }: HistoryEvent): void {
    if (attributes.case === "workflowExecutionUpdateAcceptedEventAttributes") {
      const { protocolInstanceId, acceptedRequest } = attributes.value;
      const name = acceptedRequest?.input?.name ?? this.#names.get(protocolInstanceId) ?? "";
      this.#names.set(protocolInstanceId, name);
    } else if (attributes.case === "workflowExecutionUpdateAdmittedEventAttributes") {
      this.#names.set(
        attributes.value.request?.meta?.updateId ?? "",
        attributes.value.request?.input?.name ?? "",
      );
    }
  }

  of(id: string): string {
    return this.#names.get(id) ?? "";
  }
}

type ById = (id: bigint) => HistoryEvent | undefined;

/** Returns undefined for events that no command causes. */
function planEvent(event: HistoryEvent, byId: ById, names: UpdateNames): StepPlan | undefined {
  const { attributes } = event;
  switch (attributes.case) {
    case "activityTaskScheduledEventAttributes":
      return {
        kind: "activity",
        name: attributes.value.activityType?.name ?? "",
        id: attributes.value.activityId,
      };
    case "activityTaskCancelRequestedEventAttributes": {
      const of = byId(attributes.value.scheduledEventId)?.attributes;
      const name = of?.case === "activityTaskScheduledEventAttributes"
        ? of.value.activityType?.name ?? ""
        : "";
      return { kind: "cancel", name: `activity ${name}`, id: "" };
    }
    case "timerStartedEventAttributes": {
      const { timerId, startToFireTimeout } = attributes.value;
      const duration = durationOf(startToFireTimeout);
      return { kind: "timer", name: "", id: timerId, duration };
    }
    case "timerCanceledEventAttributes": {
      const started = byId(attributes.value.startedEventId)?.attributes;
      const target = started?.case === "timerStartedEventAttributes"
        ? `a timer of ${durationOf(started.value.startToFireTimeout)}`
        : undefined;
      const name = `timer ${attributes.value.timerId}`;
      return { kind: "cancel", name, id: "", ...(target !== undefined && { target }) };
    }
    case "startChildWorkflowExecutionInitiatedEventAttributes":
      return {
        kind: "child",
        name: attributes.value.workflowType?.name ?? "",
        id: attributes.value.workflowId,
      };
    case "nexusOperationScheduledEventAttributes": {
      const { endpoint, service, operation } = attributes.value;
      return { kind: "nexus", name: `${service}.${operation}`, id: "", target: endpoint };
    }
    case "nexusOperationCancelRequestedEventAttributes": {
      const of = byId(attributes.value.scheduledEventId)?.attributes;
      const name = of?.case === "nexusOperationScheduledEventAttributes"
        ? `${of.value.service}.${of.value.operation}`
        : "";
      return { kind: "cancel", name: `Nexus operation ${name}`, id: "" };
    }
    case "signalExternalWorkflowExecutionInitiatedEventAttributes": {
      const { signalName, workflowExecution } = attributes.value;
      return {
        kind: "signal",
        name: signalName,
        id: "",
        target: workflowExecution?.workflowId ?? "",
      };
    }
    case "requestCancelExternalWorkflowExecutionInitiatedEventAttributes":
      return {
        kind: "cancel",
        name: `workflow ${attributes.value.workflowExecution?.workflowId ?? ""}`,
        id: "",
      };
    case "upsertWorkflowSearchAttributesEventAttributes":
      // Recorded by the core after the marker of a patch.
      return readEventSubject(event) === undefined
        ? undefined
        : { kind: "searchAttributes", name: "", id: "" };
    case "workflowPropertiesModifiedEventAttributes":
      return { kind: "memo", name: "", id: "" };
    case "markerRecordedEventAttributes":
      return ofMarker(attributes.value.markerName, readMarkerData(attributes.value));
    case "workflowExecutionUpdateAcceptedEventAttributes": {
      const { protocolInstanceId } = attributes.value;
      return {
        kind: "update",
        name: names.of(protocolInstanceId),
        id: protocolInstanceId,
        answer: "accept",
      };
    }
    case "workflowExecutionUpdateCompletedEventAttributes": {
      const of = byId(attributes.value.acceptedEventId)?.attributes;
      const id = of?.case === "workflowExecutionUpdateAcceptedEventAttributes"
        ? of.value.protocolInstanceId
        : attributes.value.meta?.updateId ?? "";
      return { kind: "update", name: names.of(id), id, answer: "complete" };
    }
    case "workflowExecutionCompletedEventAttributes":
      return { kind: "end", name: "completed", id: "" };
    case "workflowExecutionFailedEventAttributes":
      return { kind: "end", name: "failed", id: "" };
    case "workflowExecutionCanceledEventAttributes":
      return { kind: "end", name: "cancelled", id: "" };
    case "workflowExecutionContinuedAsNewEventAttributes":
      return { kind: "end", name: "continuedAsNew", id: "" };
    default:
      return undefined;
  }
}

const durationOf = (
  duration: { readonly seconds: bigint; readonly nanos: number } | undefined,
): string =>
  formatExactDuration(
    duration === undefined ? 0 : Number(duration.seconds) * 1000 + duration.nanos / 1e6,
  );

function ofMarker(markerName: string, data: MarkerData): StepPlan | undefined {
  switch (markerName) {
    case "core_patch":
      return { kind: "patch", name: data.patchId, id: "", deprecated: data.deprecated };
    case "SideEffect":
      return { kind: "sideEffect", name: "", id: data.sideEffectId };
    case "Transact":
      return { kind: "transact", name: data.reducer, id: "" };
    case "core_local_activity":
      return { kind: "localActivity", name: data.activityType, id: data.seq };
    default:
      return { kind: "marker", name: markerName, id: "" };
  }
}
