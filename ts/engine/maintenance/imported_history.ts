// The history of a run that is imported: what every import checks, and what it reads.
import { runIdIn } from "../../converter/history_run.ts";
import type { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { checkEvents, decodeEvents } from "./check_history.ts";
import { CLOSING_STATUS, micros } from "./findings.ts";

/** Why a history cannot be imported. */
export class ImportError extends Error {
  override name = "ImportError";
}

export interface HistoryToImport {
  /** Encoded temporal.api.history.v1.History. */
  readonly history: Uint8Array;
  /** For histories without a workflow id (servers before 1.25). */
  readonly workflowId?: string;
  /** Default: the run id in the history. */
  readonly runId?: string;
}

/** Attributes of the first event. */
export type Started = Extract<
  HistoryEvent["attributes"],
  { case: "workflowExecutionStartedEventAttributes" }
>["value"];

/** What a sound history records about its run. */
export interface ImportedHistory {
  readonly events: readonly HistoryEvent[];
  readonly last: HistoryEvent;
  readonly started: Started;
  /** Undefined: the run is open. */
  readonly status: WorkflowExecutionStatus | undefined;
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  /** Time of the first event, in microseconds. */
  readonly start: number;
  /** Time of the last event, in microseconds. */
  readonly end: number;
}

/** The latest time that a store can order runs by, in microseconds. */
const LATEST = 9e15;

/** Throws an ImportError for an invalid history. */
export function readImportedHistory(
  { history, workflowId: givenId, runId: givenRun }: HistoryToImport,
): ImportedHistory {
  const problems: string[] = [];
  const events = decodeEvents([history], problems);
  if (events !== undefined) problems.push(...checkEvents(events).problems);
  if (problems.length > 0) throw new ImportError(problems.join("; "));
  const first = events![0]!;
  const last = events!.at(-1)!;
  const status = CLOSING_STATUS[last.eventType];
  const started = first.attributes.value as Started;
  const type = started.workflowType?.name ?? "";
  const workflowId = started.workflowId || givenId || "";
  const runId = givenRun || runIdIn(events!) || "";
  if (workflowId === "") {
    throw new ImportError(
      "the history has no workflow id (older servers omit it): set --workflow-id",
    );
  }
  if (runId === "") throw new ImportError("the history has no run id: set --run-id");
  if (type === "") throw new ImportError("the history has no workflow type");
  if (workflowId.includes("\0") || runId.includes("\0")) {
    throw new ImportError("ids must not contain NUL characters");
  }
  const start = micros(first.eventTime!);
  const end = micros(last.eventTime!);
  const times = [["starts", start], [status === undefined ? "continues" : "closes", end]] as const;
  for (const [what, time] of times) {
    if (!(time > 0 && time < LATEST)) {
      throw new ImportError(
        `the run ${what} at ${time / 1e6} s after 1970: a store holds times from 1970 to 2255`,
      );
    }
  }
  return { events: events!, last, started, status, workflowId, runId, type, start, end };
}
