// How a started workflow ended, read from the store: with its retries and continuations, which
// have the same first run.
import { create, fromBinary } from "@bufbuild/protobuf";
import type { Payloads } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  TimeoutType,
  WorkflowExecutionStatus as Status,
} from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  type Failure,
  FailureSchema,
} from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { HistorySchema } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { RunRow, Store } from "../store.ts";
import { StoreBusyError, StoreFencedError } from "../store_errors.ts";

/** The end of a workflow. */
export interface ClosedChain {
  /** UNSPECIFIED: the run was deleted. */
  readonly status: Status;
  readonly result?: Payloads | undefined;
  readonly failure?: Failure | undefined;
}

/**
 * Returns how a workflow ended; undefined while one of its runs is open. A history that cannot be
 * read is reported; its workflow has a status only.
 */
export function closedChain(
  store: Pick<Store, "load" | "historyRange">,
  workflowId: string,
  firstRunId: string,
  report: (error: Error) => void,
): ClosedChain | undefined {
  const row = lastRun(store, workflowId, firstRunId);
  if (row === undefined) return { status: Status.UNSPECIFIED };
  if (row.closeTimeMs === 0) return undefined;
  const status = row.status as Status;
  let attributes: ReturnType<typeof lastAttributes>;
  try {
    attributes = lastAttributes(store, row);
  } catch (cause) {
    if (cause instanceof StoreBusyError || cause instanceof StoreFencedError) throw cause;
    report(
      new Error(
        `the result of workflow "${workflowId}" cannot be read for its schedule: ${
          (cause as Error).message
        }`,
        { cause },
      ),
    );
    return { status };
  }
  switch (attributes?.case) {
    case "workflowExecutionCompletedEventAttributes":
      return { status, result: attributes.value.result };
    case "workflowExecutionFailedEventAttributes":
      return { status, failure: attributes.value.failure };
    case "workflowExecutionTimedOutEventAttributes":
      return { status, failure: timeoutFailure() };
    default:
      return { status };
  }
}

/** The attributes of the event that closed a run. */
function lastAttributes(
  store: Pick<Store, "historyRange">,
  { workflowId, runId, historyLength }: RunRow,
) {
  const [bytes] = store.historyRange(workflowId, runId, historyLength, historyLength);
  if (bytes === undefined) throw new Error(`event ${historyLength} of run ${runId} is missing`);
  return fromBinary(HistorySchema, bytes).events.at(-1)?.attributes;
}

/** The last run of a chain: usually the latest run of the workflow id. */
function lastRun(
  store: Pick<Store, "load">,
  workflowId: string,
  firstRunId: string,
): RunRow | undefined {
  const latest = store.load(workflowId)?.row;
  if (latest?.firstRunId === firstRunId) return latest;
  let row = store.load(workflowId, firstRunId)?.row;
  while (row !== undefined && row.nextRunId !== "") {
    const next = store.load(workflowId, row.nextRunId)?.row;
    if (next === undefined || next.firstRunId !== firstRunId) break;
    row = next;
  }
  return row;
}

function timeoutFailure(): Failure {
  return create(FailureSchema, {
    message: "workflow timeout",
    source: "Server",
    failureInfo: {
      case: "timeoutFailureInfo",
      value: { timeoutType: TimeoutType.START_TO_CLOSE },
    },
  });
}
