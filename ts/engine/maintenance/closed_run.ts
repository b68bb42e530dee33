// Makes the stored form of a closed run from its history, for imports. Open runs cannot be
// imported: attempts, pending tasks and messages are not in a history. `head` is the engine's own
// message (core-rs/proto/temporalex/engine/v1/state.proto, `Head`): stored field numbers never
// change. tests/unit/engine/maintenance.test.ts compares the result with what the core writes.
import { EngineHead } from "../../messages/generated/fields.ts";
import { runIdIn } from "../../converter/history_run.ts";
import type { RunWrite } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { checkEvents, decodeEvents } from "./check_history.ts";
import { CLOSING_STATUS, micros, typeName } from "./findings.ts";
import {
  batches,
  describedFields,
  Head,
  lastCompletedStart,
  resetPoints,
  toMicroseconds,
} from "./run_parts.ts";

/** Why a history cannot be imported. */
export class ImportError extends Error {
  override name = "ImportError";
}

/** The run is open. Its history is sound, but cannot be imported by itself. */
export class OpenRunError extends ImportError {
  override name = "OpenRunError";
}

export interface HistoryToImport {
  /** Encoded temporal.api.history.v1.History. */
  readonly history: Uint8Array;
  /** For histories without a workflow id (servers before 1.25). */
  readonly workflowId?: string;
  /** Default: the run id in the history. */
  readonly runId?: string;
}

/** The latest time that a store can order runs by, in microseconds. */
const LATEST = 9e15;

type Started = Extract<
  HistoryEvent["attributes"],
  { case: "workflowExecutionStartedEventAttributes" }
>["value"];

/** What a history records about its closed run. */
interface ClosedRun {
  readonly events: readonly HistoryEvent[];
  readonly last: HistoryEvent;
  readonly started: Started;
  readonly status: WorkflowExecutionStatus;
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  /** Microseconds, as `close`. */
  readonly start: number;
  readonly close: number;
}

/** Returns what the store writes for the run. Throws an ImportError. */
export function closedRun(given: HistoryToImport): RunWrite {
  const run = checked(given);
  const { events, last, started, status, workflowId, runId, type, start, close } = run;
  const { memo, searchAttributes } = describedFields(events);
  const nextRunId = (last.attributes.value as { newExecutionRunId?: string }).newExecutionRunId ??
    "";
  const firstRunId = started.firstExecutionRunId || runId;
  const encoded = batches(events);
  const bytes = encoded.reduce((sum, batch) => sum + batch.events.length, 0);
  const more = { memo, searchAttributes, nextRunId, firstRunId, bytes };
  return {
    create: true,
    row: {
      workflowId,
      runId,
      workflowType: type,
      taskQueue: started.taskQueue?.name ?? "",
      status,
      startTimeMs: start / 1000,
      closeTimeMs: close / 1000,
      historyLength: events.length,
      historySizeBytes: bytes,
      wakeAtMs: 0,
      ready: false,
      firstRunId,
      nextRunId,
      memo,
      searchAttributes,
    },
    head: headOf(run, more),
    append: encoded,
    put: [],
    remove: [],
  };
}

/**
 * Throws an ImportError for an invalid history, and an OpenRunError for the history of an open run.
 */
function checked({ history, workflowId: givenId, runId: givenRun }: HistoryToImport): ClosedRun {
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
  if (status === undefined) {
    throw new OpenRunError(
      `run ${runId} of workflow "${workflowId}" is open (its history ends with ${
        typeName(last.eventType)
      }): a history does not hold what ` +
        "the engine needs to continue a run (attempts, pending messages and tasks). Copy the whole store instead (store backup), " +
        "or import the history when the run has closed",
    );
  }
  if (workflowId.includes("\0") || runId.includes("\0")) {
    throw new ImportError("ids must not contain NUL characters");
  }
  const start = micros(first.eventTime!);
  const close = micros(last.eventTime!);
  for (const [what, time] of [["starts", start], ["closes", close]] as const) {
    if (!(time > 0 && time < LATEST)) {
      throw new ImportError(
        `the run ${what} at ${time / 1e6} s after 1970: a store holds times from 1970 to 2255`,
      );
    }
  }
  return { events: events!, last, started, status, workflowId, runId, type, start, close };
}

interface HeadParts {
  readonly memo: Uint8Array;
  readonly searchAttributes: Uint8Array;
  readonly nextRunId: string;
  readonly firstRunId: string;
  /** Size of the history. */
  readonly bytes: number;
}

/** The engine's state of the run. */
function headOf(
  { events, started, status, workflowId, runId, type, start, close }: ClosedRun,
  { memo, searchAttributes, nextRunId, firstRunId, bytes }: HeadParts,
): Uint8Array {
  return new Head()
    .text(EngineHead.workflowId, workflowId).text(EngineHead.runId, runId).text(
      EngineHead.workflowType,
      type,
    ).text(
      EngineHead.taskQueue,
      started.taskQueue?.name ?? "",
    )
    .int(EngineHead.status, status).int(EngineHead.startUs, start).int(EngineHead.closeUs, close)
    .int(
      EngineHead.nextEventId,
      events.length + 1,
    ).int(EngineHead.historyBytes, bytes)
    .int(EngineHead.executionTimeoutUs, toMicroseconds(started.workflowExecutionTimeout)).int(
      EngineHead.runTimeoutUs,
      toMicroseconds(started.workflowRunTimeout),
    )
    .int(EngineHead.taskTimeoutUs, toMicroseconds(started.workflowTaskTimeout))
    .int(
      EngineHead.executionDeadlineUs,
      started.workflowExecutionExpirationTime === undefined
        ? 0
        : micros(started.workflowExecutionExpirationTime),
    )
    .text(EngineHead.firstRunId, firstRunId).text(
      EngineHead.originalRunId,
      started.originalExecutionRunId || runId,
    ).text(
      EngineHead.continuedRunId,
      started.continuedExecutionRunId,
    ).text(EngineHead.nextRunId, nextRunId)
    .int(EngineHead.attempt, started.attempt).bytes(EngineHead.memo, memo).bytes(
      EngineHead.searchAttributes,
      searchAttributes,
    )
    .int(EngineHead.lastCompletedStartedId, lastCompletedStart(events)).int(
      EngineHead.taskAttempt,
      1,
    )
    .int(
      EngineHead.cancelRequested,
      events.some(({ attributes }) =>
          attributes.case === "workflowExecutionCancelRequestedEventAttributes"
        )
        ? 1
        : 0,
    )
    .int(EngineHead.lastTimeUs, close).int(
      EngineHead.executionTimeUs,
      start + toMicroseconds(started.firstWorkflowTaskBackoff),
    )
    .int(
      EngineHead.transitions,
      1,
    ).int(EngineHead.closeEventId, events.length).int(EngineHead.firstStartUs, start)
    .message(EngineHead.parent, started.parentWorkflowExecution).int(
      EngineHead.parentInitiatedId,
      Number(started.parentInitiatedEventId),
    ).message(EngineHead.root, started.rootWorkflowExecution)
    .messages(EngineHead.resetPoints, resetPoints(events))
    .finish();
}

/**
 * Returns the same for a run of another store, copied unchanged. Throws an ImportError if its
 * history is damaged.
 */
export function copiedRun(
  row: NonNullable<RunWrite["row"]>,
  head: Uint8Array,
  items: RunWrite["put"],
  history: readonly Uint8Array[],
): RunWrite {
  const problems: string[] = [];
  let at = 0;
  const append = history.map((events) => {
    const count = decodeEvents([events], problems)?.length ?? 0;
    const batch = { firstEventId: at + 1, lastEventId: at + count, events };
    at += count;
    return batch;
  });
  if (problems.length === 0 && at !== row.historyLength) {
    problems.push(`it has ${at} events, but its row has ${row.historyLength}`);
  }
  if (problems.length > 0) {
    throw new ImportError(
      `run ${row.runId} of workflow "${row.workflowId}" is damaged: ${problems.join("; ")}`,
    );
  }
  return { create: true, row, head, append, put: [...items], remove: [] };
}
