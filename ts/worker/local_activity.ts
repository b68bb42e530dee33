// One local activity of a run: its attempts one after the other, its limits and its retries
// (docs/dev/semantics/tasks.md#local-activities-within-a-task). It ends in exactly one resolution,
// or in none when nothing waits for it any more. A retry that is further away than the threshold
// is the workflow's: the resolution says when it is due.
import { create, toBinary } from "@bufbuild/protobuf";
import type { CancelReason } from "../activity/context.ts";
import type { MessageCodec } from "../codec/message_codec.ts";
import { loggable } from "../codec/loggable.ts";
import { LocalActivityResolution, ScheduleLocalActivity } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { toFailure } from "../converter/failure_converter.ts";
import { CancelledFailure } from "../converter/failures.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import { wire } from "../executor/program/encode.ts";
import type { RunIdentity } from "../realm/realm.ts";
import type { Logger } from "../base/logger.ts";
import { sha256Hex } from "../base/sha256.ts";
import { dateOn, sleepOn, type Timers } from "../base/timers.ts";
import type { PayloadLimits } from "../service/limits.ts";
import { TimeoutType } from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import { type Failure, FailureSchema } from "../api/generated/temporal/api/failure/v1/message_pb.ts";
import {
  type PollActivityTaskQueueResponse,
  PollActivityTaskQueueResponseSchema,
} from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { durationFromMs, timestampFromDate } from "../api/well_known.ts";
import type { ActivityDialect, RunActivity } from "./activity_dialect.ts";
import { CANCEL_MESSAGES } from "./attempt_context.ts";
import { type AttemptEnd, LocalAttempt } from "./local_attempt.ts";
import { nextAttemptMs } from "./next_attempt.ts";
import type { WorkerEvents } from "./events.ts";
import type { Slots } from "./slots.ts";
import type { LocalActivitySeries, WorkerMetrics } from "./worker_metrics.ts";

export interface LocalSettings {
  namespace: string;
  taskQueue: string;
  converter: PayloadConverter;
  /** The rules of its activities. */
  dialect: ActivityDialect;
  /** It is applied to the workflow task's report, with the results in it. */
  codec: MessageCodec | undefined;
  limits: PayloadLimits;
  logger: Logger;
  events: WorkerEvents;
  metrics?: WorkerMetrics | undefined;
  /** Of limits, back-offs and sleeps. */
  timers: Timers;
  slots: Slots;
  /** The function of a type, with what is around it. */
  find: (activityType: string) => RunActivity;
}

/** Longest back-off within a task, where the call says nothing. */
const DEFAULT_THRESHOLD_MS = 60_000;
const DEFAULT_INITIAL_MS = 1000;
const DEFAULT_COEFFICIENT = 2;

export class LocalActivity {
  readonly seq: number;
  /** The call as the core has it: the same one again is the same activity. */
  readonly key: Uint8Array;
  /** Bytes of LocalActivityResolution, once it has ended. */
  resolution: Uint8Array | undefined;
  /** The workflow task has it. */
  delivered = false;
  /** Attempts that were added in the open task, and whether it began in an earlier one: what a service meters. */
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

  /** `ended` is called once, not before the constructor has returned. */
  constructor(
    run: RunIdentity,
    call: ScheduleLocalActivity,
    settings: LocalSettings,
    ended: (activity: LocalActivity) => void,
  ) {
    this.seq = call.seq;
    this.key = callKey(call);
    this.#run = run;
    this.#call = call;
    this.#settings = settings;
    this.#ended = ended;
    this.#number = call.attempt;
    this.#scheduledAt = call.originalScheduleTimeMs || dateOn(settings.timers);
    void Promise.resolve().then(() => this.#live());
  }

  /** Only time moves it on: it sleeps, waits for its next attempt, or for a slot. */
  get idle(): boolean {
    return this.resolution === undefined && (this.#attempt === undefined || this.#attempt.sleeping);
  }

  /** Attempts that the open task added to those of the task in which it began. */
  get laterAttempts(): number {
    return this.#isFirstTask ? 0 : this.#retries;
  }

  /** The task was reported, and it goes on in the next one. */
  taskEnded(): void {
    this.#isFirstTask = false;
    this.#retries = 0;
  }

  /** Tells it to stop. What it answers counts; between two attempts it ends at once. */
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

  /** One attempt, to its end or its limit; one that goes on beyond it has no say any more. */
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
      // The limit of all attempts together ends this one, too.
      over.addEventListener("abort", stop);
    });
    try {
      const run: RunActivity = async (context, args) => await find(this.#call.activityType)(context, args);
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

  /** Longest time of an attempt, 0 for none. No attempt may take longer than all of them together, as Core has it. */
  get #startToCloseMs(): number {
    const { startToCloseTimeoutMs: start, scheduleToCloseTimeoutMs: close } = this.#call;
    return start > 0 && close > 0 ? Math.min(start, close) : start;
  }

  #timeoutEnd(): AttemptEnd {
    const failure = timeoutFailure(TimeoutType.START_TO_CLOSE);
    return { kind: "failed", failure, error: new Error(`it took longer than ${this.#startToCloseMs} ms`) };
  }

  /** Settles it, or answers how long to wait for the next attempt. */
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
    // What stops with its worker, or because nothing waits for it, did not fail.
    if (this.#cancelled === undefined || this.#cancelled === "CANCELLED") {
      if (dialect.logsFailures !== true) {
        logger.warn("a local activity failed", { ...attempt, error: loggable(error, codec), nextAttempt });
      }
      events.activityFailed?.({ ...attempt, message: failure.message });
    }
    if (next !== undefined && next <= (this.#call.localRetryThresholdMs || DEFAULT_THRESHOLD_MS)) {
      this.#retries++;
      return next;
    }
    this.#settle({ $case: "failed", value: toBinary(FailureSchema, failure) }, next);
    return undefined;
  }

  /** Names of errors are compared as Core does it, whatever their case. */
  #isFinal(failure: Failure): boolean {
    const type = failure.failureInfo.case === "applicationFailureInfo" ? failure.failureInfo.value.type.toLowerCase() : "";
    return this.#call.retryPolicy?.nonRetryableErrorTypes.some((final) => final.toLowerCase() === type) ?? false;
  }

  #timedOut(type: TimeoutType): void {
    const failure = timeoutFailure(type, this.#lastFailure);
    this.#settle({ $case: "failed", value: toBinary(FailureSchema, failure) });
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
    if (kind === "completed") series.endToEnd.record(Math.max(0, dateOn(this.#settings.timers) - this.#scheduledAt));
  }

  readonly #callName = (): string => nameOfCall(this.#call);

  /** The attempt that is due, as the service would hand it out. */
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
      ...(scheduleToCloseTimeoutMs > 0 && { scheduleToCloseTimeout: durationFromMs(scheduleToCloseTimeoutMs) }),
      retryPolicy: {
        initialInterval: durationFromMs(initialMs),
        backoffCoefficient: coefficient >= 1 ? coefficient : DEFAULT_COEFFICIENT,
        maximumInterval: durationFromMs(Math.max(initialMs, retryPolicy?.maximumIntervalMs || 100 * initialMs)),
        maximumAttempts: retryPolicy?.maximumAttempts ?? 0,
        nonRetryableErrorTypes: retryPolicy?.nonRetryableErrorTypes ?? [],
      },
    });
  }
}

/** The call as the core has it, to tell whether another one is the same. */
export function callKey(call: ScheduleLocalActivity): Uint8Array {
  return ScheduleLocalActivity.encode(call).finish();
}

/** Digits of a digest: 160 bits. */
const CALL_NAME_DIGITS = 40;

/**
 * Equal for the same call in all attempts and in all repetitions of its workflow task; different for all other calls of the run. Ids,
 * limits and headers do not count.
 */
export function nameOfCall({ caller, activityType, arguments: args, equalCalls }: ScheduleLocalActivity): string {
  const call = ScheduleLocalActivity.fromPartial({ caller, activityType, arguments: args, equalCalls });
  return sha256Hex(ScheduleLocalActivity.encode(call).finish()).slice(0, CALL_NAME_DIGITS);
}

function timeoutFailure(timeoutType: TimeoutType, cause?: Failure): Failure {
  return create(FailureSchema, {
    message: "Activity timed out",
    failureInfo: { case: "timeoutFailureInfo", value: { timeoutType } },
    ...(cause !== undefined && { cause }),
  });
}
