// The context of one attempt of an activity. Thousands start per second and most use little of it,
// so signal, info and logger are created on first use.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ActivityContext, ActivityInfo, CancelReason } from "../../activity/context.ts";
import { type Duration, toMs } from "../../converter/duration.ts";
import { CancelledFailure } from "../../converter/failures.ts";
import { fromPayloads, type Payload, type PayloadConverter } from "../../converter/payload.ts";
import { type Logger, withFields } from "../../base/logger.ts";
import { sleepOn, type Timers } from "../../base/timers.ts";
import type { PollActivityTaskQueueResponse } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { durationMs, timestampDate } from "../../messages/well_known.ts";

export interface AttemptSettings {
  namespace: string;
  taskQueue: string;
  converter: PayloadConverter;
  logger: Logger;
  /** Time of sleeps. */
  timers: Timers;
  /**
   * For local activities: returns a name that distinguishes its call from all others of the run.
   */
  localCall?: (() => string) | undefined;
}

export const CANCEL_MESSAGES: { readonly [reason in CancelReason]: string } = {
  CANCELLED: "the activity was cancelled",
  RESET: "the activity was reset",
  PAUSED: "the activity was paused",
  NOT_FOUND: "the activity no longer exists: it has timed out, or its workflow is closed",
  TIMED_OUT: "the activity has timed out",
  WORKER_SHUTDOWN: "the worker is shutting down",
};

const NO_HEADERS: { readonly [name: string]: Payload } = Object.freeze({});

const date = (
  time: Timestamp | undefined,
) => (time === undefined ? undefined : timestampDate(time));

/** Milliseconds of a timeout; 0 if it is not set. */
export function limitMs(duration: Parameters<typeof durationMs>[0] | undefined): number {
  return duration === undefined ? 0 : durationMs(duration);
}

export class AttemptContext implements ActivityContext {
  /** The task from the service, or the equivalent for a local activity. */
  readonly task: PollActivityTaskQueueResponse;
  readonly #settings: AttemptSettings;
  readonly #record: (details: unknown) => void;
  #info: ActivityInfo | undefined;
  #logger: Logger | undefined;
  #abort: AbortController | undefined;
  #cancelReason: CancelReason | undefined;
  #sleeps = 0;

  constructor(
    task: PollActivityTaskQueueResponse,
    settings: AttemptSettings,
    record: (details: unknown) => void,
  ) {
    this.task = task;
    this.#settings = settings;
    this.#record = record;
  }

  get info(): ActivityInfo {
    return this.#info ??= infoOf(this.task, this.#settings);
  }

  get headers(): { readonly [name: string]: Payload } {
    return this.task.header?.fields ?? NO_HEADERS;
  }

  get logger(): Logger {
    const { activityType, activityId, activityRunId, attempt, workflowExecution } = this.task;
    return this.#logger ??= withFields(this.#settings.logger, {
      activityType: activityType?.name,
      activityId,
      attempt,
      workflowId: workflowExecution?.workflowId,
      runId: workflowExecution?.runId,
      ...(activityRunId !== "" && { activityRunId }),
    });
  }

  get cancelled(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#cancelReason !== undefined) {
        this.#abort.abort(new CancelledFailure(CANCEL_MESSAGES[this.#cancelReason]));
      }
    }
    return this.#abort.signal;
  }

  get cancelReason(): CancelReason | undefined {
    return this.#cancelReason;
  }

  /** The activity waits in `sleep`. */
  get sleeping(): boolean {
    return this.#sleeps > 0;
  }

  // Arrow functions, so that `({ heartbeat, sleep }) => ...` works.

  readonly heartbeat = (details?: unknown): void => this.#record(details);

  readonly sleep = async (duration: Duration): Promise<void> => {
    this.#sleeps++;
    try {
      await sleepOn(this.#settings.timers, toMs(duration), this.cancelled);
    } finally {
      this.#sleeps--;
    }
  };

  readonly throwIfCancelled = (): void => {
    if (this.#cancelReason !== undefined) this.cancelled.throwIfAborted();
  };

  /** Requests cancellation; returns false if it was requested before. */
  cancel(reason: CancelReason): boolean {
    if (this.#cancelReason !== undefined) return false;
    this.#cancelReason = reason;
    this.#abort?.abort(new CancelledFailure(CANCEL_MESSAGES[reason]));
    return true;
  }
}

/** The task of a context; undefined for a context that no worker created. */
export function taskOf(context: ActivityContext): PollActivityTaskQueueResponse | undefined {
  return context instanceof AttemptContext ? context.task : undefined;
}

function infoOf(task: PollActivityTaskQueueResponse, settings: AttemptSettings): ActivityInfo {
  const workflowId = task.workflowExecution?.workflowId ?? "";
  const runId = task.workflowExecution?.runId ?? "";
  return {
    taskToken: task.taskToken,
    activityId: task.activityId,
    activityType: task.activityType?.name ?? "",
    taskQueue: settings.taskQueue,
    namespace: task.workflowNamespace || settings.namespace,
    workflowId,
    runId,
    workflowType: task.workflowType?.name ?? "",
    attempt: task.attempt,
    isLocal: settings.localCall !== undefined,
    // An activity's id is recorded before it runs. A local activity's id is a counter, and may
    // denote another call when the workflow task runs again.
    idempotencyKey: task.activityRunId !== ""
      ? `${task.activityId}/${task.activityRunId}`
      : `${workflowId}/${runId}/${
        settings.localCall === undefined ? task.activityId : `local-${settings.localCall()}`
      }`,
    ...(task.activityRunId !== "" && { activityRunId: task.activityRunId }),
    heartbeatDetails: fromPayloads(settings.converter, task.heartbeatDetails?.payloads)[0],
    scheduledTime: date(task.scheduledTime),
    currentAttemptScheduledTime: date(task.currentAttemptScheduledTime),
    startedTime: date(task.startedTime),
    heartbeatTimeoutMs: limitMs(task.heartbeatTimeout) || undefined,
    startToCloseTimeoutMs: limitMs(task.startToCloseTimeout) || undefined,
    scheduleToCloseTimeoutMs: limitMs(task.scheduleToCloseTimeout) || undefined,
  };
}
