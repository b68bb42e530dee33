// Resets a workflow: its history up to a workflow task becomes a new run, which continues; the old
// run is terminated if it is open. The service needs an event id; points such as "the last workflow
// task" are looked up in the history here.
import { Code, ServiceError } from "../service/raw.ts";
import { EventType } from "../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  ResetReapplyExcludeType,
  ResetReapplyType,
} from "../messages/generated/temporal/api/enums/v1/reset_pb.ts";
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { CallSettings, Deadline } from "./calls.ts";
import { type ClientContext, nameError } from "./context.ts";
import { collectHistory, readEvents } from "./history.ts";
import type { ResetInput } from "./operation_inputs.ts";
import type { ReapplyExclude } from "./reset_options.ts";

const ALL: readonly ReapplyExclude[] = ["SIGNAL", "UPDATE", "NEXUS", "CANCEL_REQUEST"];

/** Resets a workflow; returns the id of the new run. */
export async function resetWorkflow(
  context: ClientContext,
  input: ResetInput,
  deadline: Deadline,
): Promise<string> {
  const { workflowId, runId, reapplyExclude } = input;
  const exclude = reapplyExclude === "ALL" ? ALL : reapplyExclude;
  try {
    const point = await findPoint(context, input, deadline);
    const response = await context.calls.call("resetWorkflowExecution", {
      namespace: context.namespace,
      workflowExecution: { workflowId, runId: point.runId },
      reason: input.reason,
      workflowTaskFinishEventId: point.eventId,
      requestId: input.requestId,
      resetReapplyType: ResetReapplyType.ALL_ELIGIBLE,
      resetReapplyExcludeTypes: exclude.map((kind) => ResetReapplyExcludeType[kind]),
      identity: context.identity,
    }, deadline);
    return response.runId;
  } catch (error) {
    throw nameError(context, error, {
      what: `the reset of workflow ${workflowId}`,
      workflowId,
      runId,
    });
  }
}

interface Point {
  /** The run whose history has the event. */
  runId: string;
  eventId: bigint;
}

async function findPoint(
  context: ClientContext,
  input: ResetInput,
  deadline: Deadline,
): Promise<Point> {
  const { workflowId, runId = "", point } = input;
  if (point.eventId !== undefined) return { runId, eventId: BigInt(point.eventId) };
  if (point.buildId !== undefined) {
    return await pointOfBuild(context, input, point.buildId, deadline);
  }
  const settings = settingsOf(deadline);
  switch (point.type) {
    case "FIRST_WORKFLOW_TASK":
      return {
        runId,
        eventId: await taskOf(readEvents(context, workflowId, runId, settings), input),
      };
    case "LAST_WORKFLOW_TASK":
      return {
        runId,
        eventId: await taskOf(backwards(context, workflowId, runId, deadline), input),
      };
    case "LAST_CONTINUED_AS_NEW": {
      const { value: first } = await readEvents(context, workflowId, runId, {
        ...settings,
        pageSize: 1,
      }).next();
      const attributes = first?.attributes;
      const before = attributes?.case === "workflowExecutionStartedEventAttributes"
        ? attributes.value.continuedExecutionRunId
        : "";
      if (before === "") {
        throw new TypeError(
          `workflow ${workflowId} cannot be reset to a continue-as-new: this run was not continued from another run`,
        );
      }
      return {
        runId: before,
        eventId: await taskOf(backwards(context, workflowId, before, deadline), input),
      };
    }
  }
}

/** Settings of reads within the remaining time of the reset, which always has a limit. */
function settingsOf(deadline: Deadline): CallSettings {
  return { ...(deadline.signal && { signal: deadline.signal }), timeout: deadline.remaining() };
}

/** Returns the first completed workflow task; without one, the event in its place. */
async function taskOf(
  events: AsyncIterable<HistoryEvent>,
  { workflowId }: ResetInput,
): Promise<bigint> {
  let earliest: bigint | undefined;
  for await (const { eventType, eventId } of events) {
    if (eventType === EventType.WORKFLOW_TASK_COMPLETED) return eventId;
    if (
      eventType === EventType.WORKFLOW_TASK_SCHEDULED &&
      (earliest === undefined || eventId < earliest)
    ) earliest = eventId;
  }
  if (earliest === undefined) {
    throw new TypeError(
      `workflow ${workflowId} cannot be reset: it has no completed workflow task`,
    );
  }
  return earliest + 1n;
}

/** Yields the events of a run, last one first. */
async function* backwards(
  context: ClientContext,
  workflowId: string,
  runId: string,
  deadline: Deadline,
): AsyncGenerator<HistoryEvent> {
  let nextPageToken: Uint8Array = new Uint8Array(0);
  do {
    const request = {
      namespace: context.namespace,
      execution: { workflowId, runId },
      maximumPageSize: 250,
      nextPageToken,
    };
    const page = await context.calls.call("getWorkflowExecutionHistoryReverse", request, deadline)
      .catch(isMissing);
    if (page === undefined) {
      // A service that reads forward only.
      const { events } = await collectHistory(
        readEvents(context, workflowId, runId, settingsOf(deadline)),
      );
      return yield* events.reverse();
    }
    yield* page.history?.events ?? [];
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
}

function isMissing(error: unknown): undefined {
  if (!(error instanceof ServiceError && error.code === Code.UNIMPLEMENTED)) throw error;
}

async function pointOfBuild(
  context: ClientContext,
  { workflowId, runId = "" }: ResetInput,
  buildId: string,
  deadline: Deadline,
): Promise<Point> {
  const request = { namespace: context.namespace, execution: { workflowId, runId } };
  const described = await context.calls.call("describeWorkflowExecution", request, deadline);
  const points = described.workflowExecutionInfo?.autoResetPoints?.points ?? [];
  const found = points.find((point) =>
    point.resettable && (point.buildId === buildId || point.binaryChecksum === buildId)
  );
  if (found === undefined) {
    const known = [
      ...new Set(
        points.filter((point) => point.resettable).map((point) =>
          point.buildId || point.binaryChecksum
        ),
      ),
    ];
    throw new TypeError(
      `workflow ${workflowId} has no reset point of build "${buildId}"; it has reset points of ` +
        (known.length === 0 ? "no build" : `${known.join(", ")}`),
    );
  }
  return { runId: found.runId, eventId: found.firstWorkflowTaskCompletedId };
}
