// How a held run is shown: as Temporal shows a paused one. Its state in the engine is that of a run whose task is tried again.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { isInTheWay } from "../crash_notes/note_files.ts";
import { describeHeld, type HeldRun } from "../crash_notes/held_runs.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { StoreError } from "./store_errors.ts";
import { WorkflowExecutionStatus } from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  WorkflowExecutionExtendedInfoSchema,
  WorkflowExecutionPauseInfoSchema,
} from "../api/generated/temporal/api/workflow/v1/message_pb.ts";
import {
  DescribeWorkflowExecutionRequestSchema,
  DescribeWorkflowExecutionResponseSchema,
  QueryWorkflowRequestSchema,
} from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { timestampFromDate } from "../api/well_known.ts";

export const PAUSED = WorkflowExecutionStatus.PAUSED;

/** Beside the store: which runs' tasks are in work, and which runs are suspected or held. */
export const workPath = (store: string): string => `${store}-tasks`;
export const heldPath = (store: string): string => `${store}-held`;

/** Throws a StoreError where something else has the name of one of the two. */
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

/** The description of a run, with what is said of it if it is held. */
export function describedHeld(response: Uint8Array, held: (runId: string) => HeldRun | undefined): Uint8Array {
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

/** The request that describes the run of a query, where that may be a held one: a query would wait with the run's task. */
export function queriedHeld(request: Uint8Array, held: readonly HeldRun[]): Uint8Array | undefined {
  const { namespace, execution } = fromBinary(QueryWorkflowRequestSchema, request);
  const { workflowId = "", runId = "" } = execution ?? {};
  if (!held.some((run) => run.workflowId === workflowId && (runId === "" || run.runId === runId))) return undefined;
  return toBinary(
    DescribeWorkflowExecutionRequestSchema,
    create(DescribeWorkflowExecutionRequestSchema, { namespace, execution: { workflowId, runId } }),
  );
}

/** Throws a ServiceError if the described run is open and held. */
export function refuseHeld(description: Uint8Array, held: (runId: string) => HeldRun | undefined): void {
  const { workflowExecutionInfo: info } = fromBinary(DescribeWorkflowExecutionResponseSchema, description);
  const run = info?.closeTime === undefined ? held(info?.execution?.runId ?? "") : undefined;
  if (run !== undefined) throw new ServiceError(Code.FAILED_PRECONDITION, describeHeld(run), "WorkflowNotReady");
}
