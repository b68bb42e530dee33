// The events that a new command would have caused in the recorded run, in their shortest form: an
// activity without a result, a timer that fires.
import { create } from "@bufbuild/protobuf";
import {
  CommandKind,
  ModifyWorkflowProperties,
  RecordSideEffect,
  ScheduleActivity,
  ScheduleLocalActivity,
  ScheduleNexusOperation,
  SignalExternalWorkflow,
  StartChildWorkflow,
  UpsertSearchAttributes,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { EventType } from "../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  type HistoryEvent,
  HistoryEventSchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { RecordedCommand } from "../../executor/tasks/recording.ts";

/** The event of a command, and the events that resolve it. */
export interface NewStep {
  readonly command: HistoryEvent;
  /**
   * `refersAs`: fields that refer to another event: the event of the command, or the resolving
   * event before this one.
   */
  readonly resolving: readonly {
    readonly event: HistoryEvent;
    readonly refersAs: { readonly [field: string]: "command" | "before" };
  }[];
  /**
   * The counter of the code that numbers the step, and the number; 0 if the step is not numbered.
   */
  readonly counter: "timer" | "activity" | "localActivity" | "sideEffect" | "none";
  readonly number: number;
}

const json = (value: unknown) => ({
  metadata: { encoding: new TextEncoder().encode("json/plain") },
  data: new TextEncoder().encode(JSON.stringify(value)),
});
const NOTHING = {
  metadata: { encoding: new TextEncoder().encode("binary/null") },
  data: new Uint8Array(0),
};

type EventOf = (type: EventType, attributes: HistoryEvent["attributes"]) => HistoryEvent;
type Refers = { readonly [field: string]: "command" | "before" };
type Maker = (command: RecordedCommand, event: EventOf, ownQueue: string) => NewStep;

const MAKERS: { readonly [kind in CommandKind]?: Maker } = {
  [CommandKind.COMMAND_KIND_START_TIMER]: ({ seq }, event) => {
    const timerId = String(seq);
    const startToFireTimeout = { seconds: 1n, nanos: 0 };
    return {
      command: event(
        EventType.TIMER_STARTED,
        of("timerStartedEventAttributes", { timerId, startToFireTimeout }),
      ),
      resolving: [{
        event: event(EventType.TIMER_FIRED, of("timerFiredEventAttributes", { timerId })),
        refersAs: { startedEventId: "command" },
      }],
      counter: "timer",
      number: seq,
    };
  },
  [CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY]: ({ attributes, seq }, event, ownQueue) => {
    const { activityType, activityId } = ScheduleActivity.decode(attributes);
    const id = activityId === "" ? String(seq) : activityId;
    const scheduled = {
      activityType: { name: activityType },
      activityId: id,
      taskQueue: { name: ownQueue },
    };
    const toStarted = { scheduledEventId: "command", startedEventId: "before" } as const;
    return {
      command: event(
        EventType.ACTIVITY_TASK_SCHEDULED,
        of("activityTaskScheduledEventAttributes", scheduled),
      ),
      resolving: [
        {
          event: event(
            EventType.ACTIVITY_TASK_STARTED,
            of("activityTaskStartedEventAttributes", { attempt: 1 }),
          ),
          refersAs: { scheduledEventId: "command" },
        },
        {
          event: event(
            EventType.ACTIVITY_TASK_COMPLETED,
            of("activityTaskCompletedEventAttributes", { result: { payloads: [NOTHING] } }),
          ),
          refersAs: toStarted,
        },
      ],
      counter: "activity",
      number: id === String(seq) ? seq : 0,
    };
  },
  [CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW]: ({ attributes }, event) => {
    const { workflowType: name, workflowId } = StartChildWorkflow.decode(attributes);
    const workflowType = { name };
    const workflowExecution = { workflowId, runId: "00000000-0000-4000-8000-000000000000" };
    const execution = { workflowType, workflowExecution };
    return {
      command: event(
        EventType.START_CHILD_WORKFLOW_EXECUTION_INITIATED,
        of("startChildWorkflowExecutionInitiatedEventAttributes", { workflowType, workflowId }),
      ),
      resolving: [
        {
          event: event(
            EventType.CHILD_WORKFLOW_EXECUTION_STARTED,
            of("childWorkflowExecutionStartedEventAttributes", execution),
          ),
          refersAs: { initiatedEventId: "command" } as Refers,
        },
        {
          event: event(
            EventType.CHILD_WORKFLOW_EXECUTION_COMPLETED,
            of("childWorkflowExecutionCompletedEventAttributes", {
              ...execution,
              result: { payloads: [NOTHING] },
            }),
          ),
          refersAs: { initiatedEventId: "command", startedEventId: "before" } as Refers,
        },
      ],
      counter: "none",
      number: 0,
    };
  },
  [CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION]: ({ attributes }, event) => {
    const { endpoint, service, operation } = ScheduleNexusOperation.decode(attributes);
    return {
      command: event(
        EventType.NEXUS_OPERATION_SCHEDULED,
        of("nexusOperationScheduledEventAttributes", { endpoint, service, operation }),
      ),
      resolving: [{
        event: event(
          EventType.NEXUS_OPERATION_COMPLETED,
          of("nexusOperationCompletedEventAttributes", { result: NOTHING }),
        ),
        refersAs: { scheduledEventId: "command" } as Refers,
      }],
      counter: "none",
      number: 0,
    };
  },
  [CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW]: ({ attributes }, event) => {
    const { signalName, workflowId } = SignalExternalWorkflow.decode(attributes);
    const workflowExecution = { workflowId };
    return {
      command: event(
        EventType.SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
        of("signalExternalWorkflowExecutionInitiatedEventAttributes", {
          signalName,
          workflowExecution,
        }),
      ),
      resolving: [{
        event: event(
          EventType.EXTERNAL_WORKFLOW_EXECUTION_SIGNALED,
          of("externalWorkflowExecutionSignaledEventAttributes", { workflowExecution }),
        ),
        refersAs: { initiatedEventId: "command" } as Refers,
      }],
      counter: "none",
      number: 0,
    };
  },
  [CommandKind.COMMAND_KIND_SCHEDULE_LOCAL_ACTIVITY]: ({ attributes, seq }, event) => {
    const { activityType, activityId } = ScheduleLocalActivity.decode(attributes);
    const data = {
      seq,
      attempt: 1,
      activity_id: activityId === "" ? String(seq) : activityId,
      activity_type: activityType,
    };
    const times = { complete_time: null, backoff: null, original_schedule_time: null };
    const details = {
      data: { payloads: [json({ ...data, ...times })] },
      result: { payloads: [NOTHING] },
    };
    return marker(event, "core_local_activity", details, { counter: "localActivity", number: seq });
  },
  [CommandKind.COMMAND_KIND_RECORD_SIDE_EFFECT]: ({ attributes }, event) => {
    const { id, payload } = RecordSideEffect.decode(attributes);
    const details = {
      "side-effect-id": { payloads: [json(id)] },
      data: { payloads: payload === undefined ? [] : [payload] },
    };
    return marker(event, "SideEffect", details, { counter: "sideEffect", number: id + 1 });
  },
  [CommandKind.COMMAND_KIND_UPSERT_SEARCH_ATTRIBUTES]: ({ attributes }, event) => {
    const searchAttributes = {
      indexedFields: UpsertSearchAttributes.decode(attributes).searchAttributes,
    };
    const fields = of("upsertWorkflowSearchAttributesEventAttributes", { searchAttributes });
    return {
      command: event(EventType.UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, fields),
      resolving: [],
      counter: "none",
      number: 0,
    };
  },
  [CommandKind.COMMAND_KIND_MODIFY_WORKFLOW_PROPERTIES]: ({ attributes }, event) => {
    const upsertedMemo = { fields: ModifyWorkflowProperties.decode(attributes).memo };
    const fields = of("workflowPropertiesModifiedEventAttributes", { upsertedMemo });
    return {
      command: event(EventType.WORKFLOW_PROPERTIES_MODIFIED, fields),
      resolving: [],
      counter: "none",
      number: 0,
    };
  },
};

/** Returns undefined if no events can be built for the command. */
export function makeNewStep(
  command: RecordedCommand,
  at: HistoryEvent,
  ownQueue: string,
): NewStep | undefined {
  if (command.cancel) return undefined;
  const { eventTime } = at;
  const event: EventOf = (eventType, attributes) =>
    create(HistoryEventSchema, {
      eventType,
      attributes: attributes as never,
      ...(eventTime === undefined ? {} : { eventTime }),
    });
  return MAKERS[command.kind]?.(command, event, ownQueue);
}

/** `create` sets the other fields. */
const of = (name: string, value: object): HistoryEvent["attributes"] =>
  ({ case: name, value }) as unknown as HistoryEvent["attributes"];

function marker(
  event: EventOf,
  markerName: string,
  details: object,
  counted: Pick<NewStep, "counter" | "number">,
): NewStep {
  const attributes = of("markerRecordedEventAttributes", { markerName, details });
  return { command: event(EventType.MARKER_RECORDED, attributes), resolving: [], ...counted };
}
