// The workflow task to which a batch operation resets a run, found in the committed history.
import { fromBinary } from "@bufbuild/protobuf";
import type { ResetOptions } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { EventType } from "../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { HistorySchema } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { WorkflowExecutionInfo } from "../../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import { invalid } from "../host_bytes.ts";
import type { RunRow, Store } from "../store.ts";

const EVENTS_PER_READ = 256;

export interface ResetPoint {
  readonly runId: string;
  readonly eventId: bigint;
}

/**
 * Returns the point of a run. `describe` returns the run's info, which has the points of builds.
 * Throws a ServiceError if the run has no such point.
 */
export function findResetPoint(
  store: Pick<Store, "historyRange">,
  row: RunRow,
  { target, currentRunOnly }: ResetOptions,
  describe: () => WorkflowExecutionInfo | undefined,
): ResetPoint {
  switch (target.case) {
    case "firstWorkflowTask":
      return { runId: row.runId, eventId: workflowTask(forwards(store, row), row) };
    case "lastWorkflowTask":
      return { runId: row.runId, eventId: workflowTask(backwards(store, row), row) };
    case "workflowTaskId":
      return { runId: row.runId, eventId: target.value };
    case "buildId": {
      const points = describe()?.autoResetPoints?.points ?? [];
      const found = points.find(({ resettable, buildId, runId }) =>
        resettable && buildId === target.value && (!currentRunOnly || runId === row.runId)
      );
      if (found === undefined) {
        throw noPoint(row, `no workflow task was processed by build "${target.value}"`);
      }
      return { runId: found.runId, eventId: found.firstWorkflowTaskCompletedId };
    }
    case undefined:
      throw invalid("the reset options have no target");
  }
}

interface ShortEvent {
  readonly id: bigint;
  readonly type: EventType;
}

/** The first completed workflow task; without one, the event in its place. */
function workflowTask(events: Iterable<ShortEvent>, row: RunRow): bigint {
  let earliest: bigint | undefined;
  for (const { id, type } of events) {
    if (type === EventType.WORKFLOW_TASK_COMPLETED) return id;
    if (type !== EventType.WORKFLOW_TASK_SCHEDULED) continue;
    if (earliest === undefined || id < earliest) earliest = id;
  }
  if (earliest === undefined) throw noPoint(row, "it has no workflow task");
  return earliest + 1n;
}

function noPoint({ workflowId }: RunRow, reason: string): ServiceError {
  return new ServiceError(
    Code.FAILED_PRECONDITION,
    `workflow ${workflowId} cannot be reset: ${reason}`,
    "FailedPrecondition",
  );
}

function read(store: Pick<Store, "historyRange">, row: RunRow, from: number, to: number) {
  return store.historyRange(row.workflowId, row.runId, from, to).flatMap((bytes) =>
    fromBinary(HistorySchema, bytes).events.map(({ eventId, eventType }) => ({
      id: eventId,
      type: eventType,
    }))
  );
}

function* forwards(store: Pick<Store, "historyRange">, row: RunRow): Iterable<ShortEvent> {
  for (let from = 1; from <= row.historyLength; from += EVENTS_PER_READ) {
    yield* read(store, row, from, Math.min(row.historyLength, from + EVENTS_PER_READ - 1));
  }
}

function* backwards(store: Pick<Store, "historyRange">, row: RunRow): Iterable<ShortEvent> {
  for (let to = row.historyLength; to >= 1; to -= EVENTS_PER_READ) {
    yield* read(store, row, Math.max(1, to - EVENTS_PER_READ + 1), to).reverse();
  }
}
