// A held run is shown as PAUSED, as in Temporal. The engine treats its workflow task as retrying.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { isInTheWay } from "../crash_notes/note_files.ts";
import { describeHeld, type HeldRun } from "../crash_notes/held_runs.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { StoreError } from "./store_errors.ts";
import { WorkflowExecutionStatus } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  WorkflowExecutionExtendedInfoSchema,
  WorkflowExecutionPauseInfoSchema,
} from "../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import {
  DescribeWorkflowExecutionRequestSchema,
  DescribeWorkflowExecutionResponseSchema,
  QueryWorkflowRequestSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { timestampFromDate } from "../messages/well_known.ts";

export const PAUSED = WorkflowExecutionStatus.PAUSED;

/** Files next to the store: the running tasks, and the suspected and held runs. */
export const workPath = (store: string): string => `${store}-tasks`;
export const heldPath = (store: string): string => `${store}-held`;

/** Throws a StoreError if one of the two names belongs to another file. */
export function refuseOthers(store: string): void {
  const found = isInTheWay(workPath(store), "work")
    ? workPath(store)
    : isInTheWay(heldPath(store), "held")
    ? heldPath(store)
    : undefined;
  if (found === undefined) return;
  throw new StoreError(
    `${found} blocks the store ${store}: it is not a file with running workflow tasks. It was not changed. ` +
      "Move it, or choose another name for the store.",
  );
}

/** Adds the hold to the description of a held run; other descriptions are unchanged. */
export function describedHeld(
  response: Uint8Array,
  held: (runId: string) => HeldRun | undefined,
): Uint8Array {
  const message = fromBinary(DescribeWorkflowExecutionResponseSchema, response);
  const { workflowExecutionInfo: info } = message;
  const run = info?.closeTime === undefined ? held(info?.execution?.runId ?? "") : undefined;
  if (info === undefined || run === undefined) return response;
  info.status = PAUSED;
  message.workflowExtendedInfo ??= create(WorkflowExecutionExtendedInfoSchema);
  message.workflowExtendedInfo.pauseInfo = create(WorkflowExecutionPauseInfoSchema, {
    identity: "temporalex",
    reason: describeHeld(run),
    pausedTime: timestampFromDate(run.since),
  });
  return toBinary(DescribeWorkflowExecutionResponseSchema, message);
}

/**
 * The request that describes the run of a query; undefined if that run is not held. A query of a
 * held run would wait with the run's task.
 */
export function queriedHeld(request: Uint8Array, held: readonly HeldRun[]): Uint8Array | undefined {
  const { namespace, execution } = fromBinary(QueryWorkflowRequestSchema, request);
  const { workflowId = "", runId = "" } = execution ?? {};
  if (!held.some((run) => run.workflowId === workflowId && (runId === "" || run.runId === runId))) {
    return undefined;
  }
  return toBinary(
    DescribeWorkflowExecutionRequestSchema,
    create(DescribeWorkflowExecutionRequestSchema, { namespace, execution: { workflowId, runId } }),
  );
}

/** Throws a ServiceError if the described run is open and held. */
export function refuseHeld(
  description: Uint8Array,
  held: (runId: string) => HeldRun | undefined,
): void {
  const { workflowExecutionInfo: info } = fromBinary(
    DescribeWorkflowExecutionResponseSchema,
    description,
  );
  const run = info?.closeTime === undefined ? held(info?.execution?.runId ?? "") : undefined;
  if (run !== undefined) {
    throw new ServiceError(Code.FAILED_PRECONDITION, describeHeld(run), "WorkflowNotReady");
  }
}
