// Makes the stored form of a closed run from its history, for imports (open ones: moved_run.ts).
// `head` is the engine's own message (core-rs/proto/temporalex/engine/v1/state.proto, `Head`):
// stored field numbers never change. tests/unit/engine/maintenance.test.ts compares the result with what the core writes.
import { EngineHead } from "../../messages/generated/fields.ts";
import type { RunWrite } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { decodeEvents } from "./check_history.ts";
import { typeName } from "./findings.ts";
import {
  type HistoryToImport,
  type ImportedHistory,
  ImportError,
  readImportedHistory,
} from "./imported_history.ts";
import {
  batches,
  describedFields,
  Head,
  lastCompletedStart,
  resetPoints,
  toMicroseconds,
} from "./run_parts.ts";

/** The run is open: its history is sound, but `closedRun` cannot store it. */
export class OpenRunError extends ImportError {
  override name = "OpenRunError";
}

/** A history with the status of its closed run. */
interface ClosedRun extends ImportedHistory {
  readonly status: WorkflowExecutionStatus;
}

/**
 * Returns what the store writes for the run. Throws an ImportError, for an open run an OpenRunError.
 */
export function closedRun(given: HistoryToImport): RunWrite {
  const run = readClosed(given);
  const { events, last, started, status, workflowId, runId, type, start, end: close } = run;
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

function readClosed(given: HistoryToImport): ClosedRun {
  const read = readImportedHistory(given);
  const { status, runId, workflowId, last } = read;
  if (status !== undefined) return { ...read, status };
  throw new OpenRunError(
    `run ${runId} of workflow "${workflowId}" is open (its history ends with ${
      typeName(last.eventType)
    }): import it with --open to continue it in this store, after its workers elsewhere have stopped`,
  );
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
  { events, started, status, workflowId, runId, type, start, end: close }: ClosedRun,
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
    .time(EngineHead.executionDeadlineUs, started.workflowExecutionExpirationTime)
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
