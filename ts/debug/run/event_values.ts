// The values of an event: input, output and failure.
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { Payload } from "../../converter/payload.ts";
import { LOCAL_ACTIVITY } from "./markers.ts";

/** Payloads and failure of one event. */
export interface EventValues {
  /** Undefined for events that close something. */
  readonly input?: readonly Payload[];
  readonly output?: readonly Payload[];
  readonly failure?: Failure;
}

const NONE: EventValues = {};
type Named = { readonly [name: string]: Payload };

const into = (payloads: { readonly payloads: readonly Payload[] } | undefined): EventValues => ({
  input: payloads?.payloads ?? [],
});
const out = (payloads: { readonly payloads: readonly Payload[] } | undefined): EventValues => ({
  output: payloads?.payloads ?? [],
});
const failed = (failure: Failure | undefined): EventValues =>
  failure === undefined ? NONE : { failure };
const fields = (named: Named | undefined): EventValues => ({ input: Object.values(named ?? {}) });

/** Returns the payloads and failure of an event; missing ones are absent. */
export function readEventValues({ attributes: at }: HistoryEvent): EventValues {
  switch (at.case) {
    case "workflowExecutionStartedEventAttributes":
    case "workflowExecutionContinuedAsNewEventAttributes":
    case "workflowExecutionSignaledEventAttributes":
    case "activityTaskScheduledEventAttributes":
    case "startChildWorkflowExecutionInitiatedEventAttributes":
    case "signalExternalWorkflowExecutionInitiatedEventAttributes":
      return into(at.value.input);
    case "workflowExecutionCompletedEventAttributes":
    case "activityTaskCompletedEventAttributes":
    case "childWorkflowExecutionCompletedEventAttributes":
      return out(at.value.result);
    case "workflowExecutionCanceledEventAttributes":
    case "activityTaskCanceledEventAttributes":
    case "childWorkflowExecutionCanceledEventAttributes":
    case "workflowExecutionTerminatedEventAttributes":
      return out(at.value.details);
    case "workflowExecutionFailedEventAttributes":
    case "workflowTaskFailedEventAttributes":
    case "activityTaskFailedEventAttributes":
    case "activityTaskTimedOutEventAttributes":
    case "childWorkflowExecutionFailedEventAttributes":
    case "nexusOperationFailedEventAttributes":
    case "nexusOperationCanceledEventAttributes":
    case "nexusOperationTimedOutEventAttributes":
    case "nexusOperationCancelRequestFailedEventAttributes":
      return failed(at.value.failure);
    case "activityTaskStartedEventAttributes":
      return failed(at.value.lastFailure);
    case "markerRecordedEventAttributes":
      if (at.value.markerName === "Transact") {
        const { arguments: input, result } = at.value.details;
        return { ...into(input), ...out(result), ...failed(at.value.failure) };
      }
      if (LOCAL_ACTIVITY.has(at.value.markerName)) {
        const { input, result } = at.value.details;
        return {
          ...into(input),
          ...(result === undefined ? NONE : out(result)),
          ...failed(at.value.failure),
        };
      }
      return {
        input: Object.values(at.value.details).flatMap(({ payloads }) => payloads),
        ...failed(at.value.failure),
      };
    case "upsertWorkflowSearchAttributesEventAttributes":
      return fields(at.value.searchAttributes?.indexedFields);
    case "workflowPropertiesModifiedEventAttributes":
      return fields(at.value.upsertedMemo?.fields);
    case "workflowExecutionUpdateAdmittedEventAttributes":
      return into(at.value.request?.input?.args);
    case "workflowExecutionUpdateAcceptedEventAttributes":
      return into(at.value.acceptedRequest?.input?.args);
    case "workflowExecutionUpdateRejectedEventAttributes":
      return { ...into(at.value.rejectedRequest?.input?.args), ...failed(at.value.failure) };
    case "workflowExecutionUpdateCompletedEventAttributes": {
      const outcome = at.value.outcome?.value;
      return outcome?.case === "failure" ? failed(outcome.value) : out(outcome?.value);
    }
    case "nexusOperationScheduledEventAttributes":
      return { input: at.value.input === undefined ? [] : [at.value.input] };
    case "nexusOperationCompletedEventAttributes":
      return { output: at.value.result === undefined ? [] : [at.value.result] };
    default:
      return NONE;
  }
}
