// One local activity of a run: its attempts, limits and retries
// (docs/dev/semantics/tasks.md#local-activities-within-a-task). It ends in one resolution, or in
// none if it is dropped. A retry later than the threshold is scheduled by the workflow with a
// timer.
import { create, toBinary } from "@bufbuild/protobuf";
import type { CancelReason } from "../../activity/context.ts";
import type { MessageCodec } from "../../codec/message_codec.ts";
import { loggable } from "../../codec/loggable.ts";
import {
  LocalActivityResolution,
  ScheduleLocalActivity,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { toFailure } from "../../converter/failure_converter.ts";
import { CancelledFailure } from "../../converter/failures.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { wire } from "../../executor/program/encode.ts";
import type { RunIdentity } from "../../realm/realm.ts";
import type { Logger } from "../../base/logger.ts";
import { sha256Hex } from "../../base/sha256.ts";
import { dateOn, sleepOn, type Timers } from "../../base/timers.ts";
import type { PayloadLimits } from "../../service/limits.ts";
import { TimeoutType } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  type Failure,
  FailureSchema,
} from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  type PollActivityTaskQueueResponse,
  PollActivityTaskQueueResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { durationFromMs, timestampFromDate } from "../../messages/well_known.ts";
import type { ActivityDialect, RunActivity } from "./activity_dialect.ts";
import { CANCEL_MESSAGES } from "./attempt_context.ts";
import { type AttemptEnd, LocalAttempt } from "./local_attempt.ts";
import { nextAttemptMs } from "./next_attempt.ts";
import type { WorkerEvents } from "../events.ts";
import type { Slots } from "../polls/slots.ts";
import type { LocalActivitySeries, WorkerMetrics } from "../metrics/worker_metrics.ts";

export interface LocalSettings {
  namespace: string;
  taskQueue: string;
  converter: PayloadConverter;
  /** The rules of the worker's activities. */
  dialect: ActivityDialect;
  /** Applied to the workflow task's report, which contains the results. */
  codec: MessageCodec | undefined;
  limits: PayloadLimits;
  logger: Logger;
  events: WorkerEvents;
  metrics?: WorkerMetrics | undefined;
  /** Time of limits, back-offs and sleeps. */
  timers: Timers;
  slots: Slots;
  /** Returns the function of a type, with its interceptors. */
  find: (activityType: string) => RunActivity;
}

/** Longest back-off within a task without a threshold in the call, in ms. */
const DEFAULT_THRESHOLD_MS = 60_000;
const DEFAULT_INITIAL_MS = 1000;
const DEFAULT_COEFFICIENT = 2;

export class LocalActivity {
  readonly seq: number;
  /** The encoded call: an equal call denotes the same activity. */
  readonly key: Uint8Array;
  /** Encoded LocalActivityResolution, once the activity has ended. */
  resolution: Uint8Array | undefined;
  /** The workflow task has the resolution. */
  delivered = false;
  /** Retries in the open task, and whether it began in this task: services meter both. */
  #retries = 0;
  #isFirstTask = true;
  readonly #run: RunIdentity;
  readonly #call: ScheduleLocalActivity;
  readonly #settings: LocalSettings;
  readonly #ended: (activity: LocalActivity) => void;
  readonly #over = new AbortController();
  readonly #scheduledAt: number;
  #attempt: LocalAttempt | undefined;
  #number: number;
  #runtimeMs = 0;
  #lastFailure: Failure | undefined;
  #cancelled: CancelReason | undefined;
  #stopClose: (() => void) | undefined;

  /**
   * `ended` is called once, after the constructor has returned. With `failure`, the call fails
   * without an attempt.
   */
  constructor(
    run: RunIdentity,
    call: ScheduleLocalActivity,
    settings: LocalSettings,
    ended: (activity: LocalActivity) => void,
    failure?: Failure,
  ) {
    this.seq = call.seq;
    this.key = callKey(call);
    this.#run = run;
    this.#call = call;
    this.#settings = settings;
    this.#ended = ended;
    this.#number = call.attempt;
    this.#scheduledAt = call.originalScheduleTimeMs || dateOn(settings.timers);
    void Promise.resolve().then(() => failure === undefined ? this.#live() : this.#fail(failure));
  }

  /** Only time advances it: it sleeps, or waits for its next attempt or a slot. */
  get idle(): boolean {
    return this.resolution === undefined && (this.#attempt === undefined || this.#attempt.sleeping);
  }

  /** Retries in the open task, if it began in an earlier one. */
  get laterAttempts(): number {
    return this.#isFirstTask ? 0 : this.#retries;
  }

  /** The task was reported; the activity continues in the next one. */
  taskEnded(): void {
    this.#isFirstTask = false;
    this.#retries = 0;
  }

  /** Requests cancellation. Its result counts; between two attempts it ends at once. */
  cancel(reason: CancelReason): void {
    if (this.#cancelled !== undefined || this.resolution !== undefined) return;
    this.#cancelled = reason;
    if (this.#attempt !== undefined) this.#attempt.cancel(reason);
    else this.#cancelledOutside(reason);
  }

  async #live(): Promise<void> {
    const { timers, slots } = this.#settings;
    if (this.#cancelled !== undefined) return;
    const { scheduleToCloseTimeoutMs: close } = this.#call;
    if (close > 0) {
      const rest = this.#scheduledAt + close - dateOn(timers);
      if (rest <= 0) return this.#timedOut(TimeoutType.SCHEDULE_TO_CLOSE);
      this.#stopClose = timers.after(rest, () => this.#timedOut(TimeoutType.SCHEDULE_TO_CLOSE));
    }
    for (;; this.#number++) {
      const stopStart = this.#startLimit();
      const release = await slots.acquire(this.#over.signal);
      stopStart?.();
      if (release === undefined) return;
      let end: AttemptEnd;
      try {
        end = await this.#one();
      } finally {
        release();
      }
      if (this.resolution !== undefined) return;
      const backoffMs = this.#settleOrRetry(end);
      if (backoffMs === undefined) return;
      try {
        await sleepOn(timers, backoffMs, this.#over.signal);
      } catch {
        return;
      }
    }
  }

  #startLimit(): (() => void) | undefined {
    const { scheduleToStartTimeoutMs: start, scheduleToCloseTimeoutMs: close } = this.#call;
    if (start <= 0) return undefined;
    const limit = close > 0 ? Math.min(start, close) : start;
    return this.#settings.timers.after(limit, () => this.#timedOut(TimeoutType.SCHEDULE_TO_START));
  }

  /** Runs one attempt to its end or limit. A result after the limit is ignored. */
  async #one(): Promise<AttemptEnd> {
    const { timers, metrics, find } = this.#settings;
    const began = timers.now();
    const attempt = this.#attempt = new LocalAttempt(this.#task(), this.#settings, this.#callName);
    this.#series?.total.add();
    let stopLimit: (() => void) | undefined;
    let stop!: () => void;
    const over = this.#over.signal;
    const limited = new Promise<AttemptEnd>((resolve) => {
      const limit = this.#startToCloseMs;
      stop = () => {
        resolve(this.#timeoutEnd());
        attempt.cancel("TIMED_OUT");
      };
      if (limit > 0) stopLimit = timers.after(limit, stop);
      // The limit of all attempts also ends this one.
      over.addEventListener("abort", stop);
    });
    try {
      const run: RunActivity = async (context, args) =>
        await find(this.#call.activityType)(context, args);
      const end = await Promise.race([attempt.run(run), limited]);
      this.#runtimeMs = Math.max(0, Math.round(timers.now() - began));
      if (metrics !== undefined) this.#measure(end);
      return end;
    } finally {
      stopLimit?.();
      over.removeEventListener("abort", stop);
      this.#attempt = undefined;
    }
  }

  /** Longest time of an attempt in ms, 0 for no limit. At most schedule-to-close, as in Core. */
  get #startToCloseMs(): number {
    const { startToCloseTimeoutMs: start, scheduleToCloseTimeoutMs: close } = this.#call;
    return start > 0 && close > 0 ? Math.min(start, close) : start;
  }

  #timeoutEnd(): AttemptEnd {
    const failure = timeoutFailure(TimeoutType.START_TO_CLOSE);
    return {
      kind: "failed",
      failure,
      error: new Error(`it took longer than ${this.#startToCloseMs} ms`),
    };
  }

  /** Settles the activity, or returns the delay until the next attempt in ms. */
  #settleOrRetry(end: AttemptEnd): number | undefined {
    if (end.kind === "completed") {
      this.#settle({ $case: "completed", value: { result: wire(end.payload) } });
      return undefined;
    }
    if (end.kind === "cancelled") {
      this.#settle({ $case: "cancelled", value: toBinary(FailureSchema, end.failure) });
      return undefined;
    }
    const { failure, error } = end;
    const { logger, codec, events, timers, dialect } = this.#settings;
    this.#lastFailure = failure;
    const next = this.#cancelled !== undefined || this.#isFinal(failure)
      ? undefined
      : nextAttemptMs(this.#task(), failure, dateOn(timers));
    const { workflowId, runId } = this.#run;
    const { activityId, activityType } = this.#call;
    const attempt = { workflowId, runId, activityId, activityType, attempt: this.#number };
    const nextAttempt = next === undefined ? "none" : `in ${next} ms`;
    // An activity that was stopped by shutdown or eviction did not fail.
    if (this.#cancelled === undefined || this.#cancelled === "CANCELLED") {
      if (dialect.logsFailures !== true) {
        logger.warn("a local activity failed", {
          ...attempt,
          error: loggable(error, codec),
          nextAttempt,
        });
      }
      events.activityFailed?.({ ...attempt, message: failure.message });
    }
    if (next !== undefined && next <= (this.#call.localRetryThresholdMs || DEFAULT_THRESHOLD_MS)) {
      this.#retries++;
      return next;
    }
    this.#fail(failure, next);
    return undefined;
  }

  /** Type names are compared without case, as in Core. */
  #isFinal(failure: Failure): boolean {
    const type = failure.failureInfo.case === "applicationFailureInfo"
      ? failure.failureInfo.value.type.toLowerCase()
      : "";
    return this.#call.retryPolicy?.nonRetryableErrorTypes.some((final) =>
      final.toLowerCase() === type
    ) ?? false;
  }

  #timedOut(type: TimeoutType): void {
    this.#fail(timeoutFailure(type, this.#lastFailure));
  }

  #fail(failure: Failure, backoffMs?: number): void {
    this.#settle({ $case: "failed", value: toBinary(FailureSchema, failure) }, backoffMs);
  }

  #cancelledOutside(reason: CancelReason): void {
    const failure = toFailure(new CancelledFailure(CANCEL_MESSAGES[reason]));
    this.#settle({ $case: "cancelled", value: toBinary(FailureSchema, failure) });
  }

  #settle(result: NonNullable<LocalActivityResolution["result"]>, backoffMs = 0): void {
    if (this.resolution !== undefined) return;
    const { seq } = this;
    this.resolution = LocalActivityResolution.encode({
      seq,
      result,
      attempt: this.#number,
      runtimeMs: this.#runtimeMs,
      backoffMs,
      originalScheduleTimeMs: this.#scheduledAt,
    }).finish();
    this.#stopClose?.();
    this.#over.abort();
    this.#ended(this);
  }

  get #series(): LocalActivitySeries | undefined {
    return this.#settings.metrics?.localActivity(this.#run.workflowType, this.#call.activityType);
  }

  #measure({ kind }: AttemptEnd): void {
    const series = this.#series!;
    series.execution.record(this.#runtimeMs);
    if (kind === "failed") series.failed.add();
    if (kind === "cancelled") series.cancelled.add();
    if (kind === "completed") {
      series.endToEnd.record(Math.max(0, dateOn(this.#settings.timers) - this.#scheduledAt));
    }
  }

  readonly #callName = (): string => nameOfCall(this.#call);

  /** The task of the next attempt, as the service would dispatch it. */
  #task(): PollActivityTaskQueueResponse {
    const { activityId, activityType, headers, retryPolicy, scheduleToCloseTimeoutMs } = this.#call;
    const { namespace, timers } = this.#settings;
    const initialMs = retryPolicy?.initialIntervalMs || DEFAULT_INITIAL_MS;
    const coefficient = retryPolicy?.backoffCoefficient ?? 0;
    const scheduled = timestampFromDate(new Date(this.#scheduledAt));
    const now = timestampFromDate(new Date(dateOn(timers)));
    const start = this.#startToCloseMs || scheduleToCloseTimeoutMs;
    return create(PollActivityTaskQueueResponseSchema, {
      taskToken: new TextEncoder().encode(`local/${this.#run.runId}/${this.seq}`),
      workflowNamespace: namespace,
      workflowType: { name: this.#run.workflowType },
      workflowExecution: { workflowId: this.#run.workflowId, runId: this.#run.runId },
      activityType: { name: activityType },
      activityId,
      header: { fields: headers },
      input: { payloads: this.#call.arguments },
      scheduledTime: scheduled,
      currentAttemptScheduledTime: now,
      startedTime: now,
      attempt: this.#number,
      ...(start > 0 && { startToCloseTimeout: durationFromMs(start) }),
      ...(scheduleToCloseTimeoutMs > 0 &&
        { scheduleToCloseTimeout: durationFromMs(scheduleToCloseTimeoutMs) }),
      retryPolicy: {
        initialInterval: durationFromMs(initialMs),
        backoffCoefficient: coefficient >= 1 ? coefficient : DEFAULT_COEFFICIENT,
        maximumInterval: durationFromMs(
          Math.max(initialMs, retryPolicy?.maximumIntervalMs || 100 * initialMs),
        ),
        maximumAttempts: retryPolicy?.maximumAttempts ?? 0,
        nonRetryableErrorTypes: retryPolicy?.nonRetryableErrorTypes ?? [],
      },
    });
  }
}

/** Returns the encoded call, to compare calls. */
export function callKey(call: ScheduleLocalActivity): Uint8Array {
  return ScheduleLocalActivity.encode(call).finish();
}

/** Hexadecimal digits of a digest: 160 bits. */
const CALL_NAME_DIGITS = 40;

/**
 * A name that is equal for the same call in all attempts and repetitions of its workflow task, and
 * different for other calls of the run. Ignores ids, limits and headers.
 */
export function nameOfCall(
  { caller, activityType, arguments: args, equalCalls }: ScheduleLocalActivity,
): string {
  const call = ScheduleLocalActivity.fromPartial({
    caller,
    activityType,
    arguments: args,
    equalCalls,
  });
  return sha256Hex(ScheduleLocalActivity.encode(call).finish()).slice(0, CALL_NAME_DIGITS);
}

function timeoutFailure(timeoutType: TimeoutType, cause?: Failure): Failure {
  return create(FailureSchema, {
    message: "Activity timed out",
    failureInfo: { case: "timeoutFailureInfo", value: { timeoutType } },
    ...(cause !== undefined && { cause }),
  });
}
