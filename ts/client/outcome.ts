// Converts the closing event of a run to the result of a wait.
import { create } from "@bufbuild/protobuf";
import { enumName } from "../converter/enums.ts";
import {
  ActivityFailure,
  CancelledFailure,
  TerminatedFailure,
  TimeoutFailure,
} from "../converter/failures.ts";
import { fromPayloads } from "../converter/payload.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { RetryState } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { FailureSchema } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { type ClientContext, decodeOne, errorOfFailure } from "./context.ts";
import { WorkflowContinuedAsNewError, WorkflowFailedError } from "./errors.ts";

/** Returns the result in a closing event, or throws its error. */
export function outcomeOf(
  context: ClientContext,
  workflowId: string,
  runId: string,
  event: HistoryEvent,
): unknown {
  const { converter } = context;
  const { attributes } = event;
  const fail = (
    what: string,
    cause: ConstructorParameters<typeof WorkflowFailedError>[3],
    retryState?: number,
  ) => {
    const state = retryState === undefined ? undefined : enumName(RetryState, retryState);
    const text = saidOf(cause);
    return new WorkflowFailedError(
      `workflow ${workflowId} ${what}${text === "" ? "" : `: ${text}`}`,
      workflowId,
      runId,
      cause,
      state,
    );
  };
  switch (attributes.case) {
    case "workflowExecutionCompletedEventAttributes":
      return decodeOne(context, attributes.value.result);
    case "workflowExecutionFailedEventAttributes": {
      const { failure, retryState } = attributes.value;
      throw fail("failed", errorOfFailure(context, failure ?? create(FailureSchema)), retryState);
    }
    case "workflowExecutionCanceledEventAttributes":
      throw fail(
        "was cancelled",
        new CancelledFailure(
          "Workflow canceled",
          fromPayloads(converter, attributes.value.details?.payloads),
        ),
      );
    case "workflowExecutionTerminatedEventAttributes":
      throw fail(
        "was terminated",
        new TerminatedFailure(attributes.value.reason || "Workflow execution terminated"),
      );
    case "workflowExecutionTimedOutEventAttributes":
      throw fail(
        "timed out",
        new TimeoutFailure("Workflow execution timed out", "START_TO_CLOSE"),
        attributes.value.retryState,
      );
    case "workflowExecutionContinuedAsNewEventAttributes":
      throw new WorkflowContinuedAsNewError(workflowId, attributes.value.newExecutionRunId);
    default:
      throw new ServiceError(
        Code.INTERNAL,
        `the service closed workflow ${workflowId} with an event of type ${event.eventType}`,
      );
  }
}

/** Returns the run that continues after a closing event. */
export function nextRun({ attributes }: HistoryEvent): string | undefined {
  switch (attributes.case) {
    case "workflowExecutionCompletedEventAttributes":
    case "workflowExecutionFailedEventAttributes":
    case "workflowExecutionTimedOutEventAttributes":
    case "workflowExecutionContinuedAsNewEventAttributes":
      return attributes.value.newExecutionRunId === ""
        ? undefined
        : attributes.value.newExecutionRunId;
    default:
      return undefined;
  }
}

/** Returns a failure's message; for an activity, with its name and cause. */
function saidOf(failure: Error): string {
  if (!(failure instanceof ActivityFailure) || !(failure.cause instanceof Error)) {
    return failure.message;
  }
  return `activity ${failure.activityType} failed: ${failure.cause.message}`;
}
