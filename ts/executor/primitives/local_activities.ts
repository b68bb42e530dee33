// Local activities: ScheduleLocalActivity out, ResolveActivity in. A late retry comes back as a
// backoff: a durable timer runs, and the next attempt is a separate call with the id of the first
// one. A canceled one that does not wait rejects at the position of the cancellation, as activities
// do.
import { ScheduleLocalActivity as Schedule } from "../../messages/generated/fields.ts";
import {
  type ActivityCancellationType,
  CommandKind,
  type DoBackoff,
  type ResolveActivity,
  ScheduleLocalActivity,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { decodeFailure } from "../../converter/failure_converter.ts";
import { ActivityFailure } from "../../converter/failures.ts";
import { defaultPayloadConverter } from "../../converter/payload.ts";
import { BROADCAST_ACTIVITY } from "../../converter/subscriptions.ts";
import { isA } from "../../converter/thrown.ts";
import { concat } from "../../messages/wire.ts";
import { encodeWith, wire, withPayloads } from "../program/encode.ts";
import { encodeActivityType, fingerprintCall } from "../program/local_calls.ts";
import { Awaiter, type Fiber } from "../scheduler/fiber.ts";
import type { ActivityTarget, TimerTarget } from "../scheduler/job_targets.ts";
import { CANCELLATION } from "./activities.ts";
import { cancelTimer, startTimer } from "./timers.ts";

/** Options of a call. Durations in ms; 0: not set. */
export interface LocalActivityOptionsShape {
  readonly activityType: string;
  readonly scheduleToCloseTimeoutMs: number;
  readonly scheduleToStartTimeoutMs: number;
  readonly startToCloseTimeoutMs: number;
  readonly localRetryThresholdMs: number;
  readonly retryPolicy: ScheduleLocalActivity["retryPolicy"];
  readonly cancellationType: ActivityCancellationType;
  readonly summary: string | undefined;
}

/** A call without arguments, prepared once per proxy and name. */
export interface LocalActivitySpec {
  readonly options: LocalActivityOptionsShape;
  /** Encoded ScheduleLocalActivity without type and arguments. */
  readonly head: Uint8Array;
  /** Only the encoded type. */
  readonly type: Uint8Array;
}

const FIRST = {
  activityId: "",
  headers: {},
  arguments: [],
  attempt: 1,
  originalScheduleTimeMs: 0,
  seq: 0,
  caller: "",
  equalCalls: 0,
};

export function prepareLocalActivity(options: LocalActivityOptionsShape): LocalActivitySpec {
  // The summary is for readers of the history, so it is plain text with any converter.
  const summary = options.summary === undefined
    ? undefined
    : wire(defaultPayloadConverter.toPayload(options.summary));
  const { activityType } = options;
  const head = encodeWith(ScheduleLocalActivity, {
    ...options,
    ...FIRST,
    activityType: "",
    summary,
  });
  return { options, head, type: encodeActivityType(activityType) };
}

const KIND = CommandKind.COMMAND_KIND_SCHEDULE_LOCAL_ACTIVITY;

export class LocalActivityAwaiter extends Awaiter<unknown> implements ActivityTarget, TimerTarget {
  readonly external = true;
  readonly #options: LocalActivityOptionsShape;
  /** The call of the first attempt, for attempts after a backoff. */
  readonly #attributes: Uint8Array;
  readonly #activityId: string;
  /** Of the attempt, or of the timer before the next one. */
  #seq: number;
  #backoff: DoBackoff | undefined;
  #cancelRequested = false;

  constructor(fiber: Fiber, spec: LocalActivitySpec, args: readonly unknown[]) {
    const run = fiber.run;
    // Before the awaiter exists, so that arguments that cannot be encoded throw without side
    // effects.
    const call = withPayloads(spec.type, Schedule.arguments, run.converter, args);
    super(fiber);
    const equalCalls = fiber.caller.count(fingerprintCall(call));
    const name = encodeWith(
      ScheduleLocalActivity,
      ScheduleLocalActivity.fromPartial({ caller: fiber.caller.id, equalCalls }),
    );
    const attributes = concat([spec.head, run.headers.ofLocalActivity, call, name]);
    this.#options = spec.options;
    this.#attributes = attributes;
    this.#seq = run.issue(KIND, attributes);
    this.#activityId = String(this.#seq);
    run.localActivities.set(this.#seq, this);
  }

  get waitsFor(): "timer" | "localActivity" {
    return this.#backoff === undefined ? "localActivity" : "timer";
  }

  override get seq(): number {
    return this.#seq;
  }

  describe(): string {
    const { activityType } = this.#options;
    return activityType === BROADCAST_ACTIVITY ? "broadcast" : `local activity "${activityType}"`;
  }

  cancel(reason: unknown): void {
    const { run } = this.fiber;
    if (this.#backoff !== undefined) cancelTimer(run, this.#seq);
    else {
      if (!this.#cancelRequested) {
        this.#cancelRequested = true;
        run.port.cancel(KIND, this.#seq);
      }
      if (this.#options.cancellationType === CANCELLATION.waitCancellationCompleted) return;
    }
    this.fail(new ActivityFailure("Activity cancelled", this.#fields(), { cause: reason }));
  }

  #fields(): { activityType: string; activityId: string } {
    return { activityType: this.#options.activityType, activityId: this.#activityId };
  }

  /** Settles the call or waits for its retry. Failures become ActivityFailures. */
  resolved({ result }: ResolveActivity): void {
    const { converter } = this.fiber.run;
    switch (result?.$case) {
      case "completed": {
        const payload = result.value.result;
        return this.fulfil(payload === undefined ? undefined : converter.fromPayload(payload));
      }
      case "failed":
      case "cancelled": {
        const failure = decodeFailure(result.value, converter);
        if (isA(failure, ActivityFailure)) return this.fail(failure);
        return this.fail(
          new ActivityFailure("Local activity failed", this.#fields(), { cause: failure }),
        );
      }
      case "backoff":
        return this.#wait(result.value);
      case undefined:
        throw new Error(`the core resolved local activity ${this.#seq} with nothing`);
    }
  }

  #wait(backoff: DoBackoff): void {
    if (!this.isPending) return;
    this.#backoff = backoff;
    this.#seq = startTimer(this.fiber.run, backoff.backoffMs, `retry of ${this.describe()}`, this);
  }

  fired(): void {
    const { run } = this.fiber;
    const { attempt, originalScheduleTimeMs } = this.#backoff!;
    this.#backoff = undefined;
    // In protobuf the last value of a field counts.
    const again = ScheduleLocalActivity.fromPartial({
      attempt,
      originalScheduleTimeMs,
      activityId: this.#activityId,
    });
    const tail = encodeWith(ScheduleLocalActivity, again);
    this.#seq = run.issue(KIND, concat([this.#attributes, tail]));
    run.localActivities.set(this.#seq, this);
  }
}
