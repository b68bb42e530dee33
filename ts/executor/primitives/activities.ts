// Activities: ScheduleActivity out, ResolveActivity in. A canceled activity that does not wait for
// confirmation rejects at the position of the cancellation among the events. The core would resolve
// it at the end of the task, and then its order would depend on how events are grouped into tasks.
import { ScheduleActivity as ScheduleActivityFields } from "../../messages/generated/fields.ts";
import {
  ActivityCancellationType,
  CommandKind,
  type ResolveActivity,
  ScheduleActivity,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { decodeFailure } from "../../converter/failure_converter.ts";
import { ActivityFailure } from "../../converter/failures.ts";
import { procedureOf } from "../../converter/procedure_names.ts";
import { failureOfResult } from "../../converter/procedure_failures.ts";
import { defaultPayloadConverter, type Payload } from "../../converter/payload.ts";
import { encodeWith, wire, withPayloads } from "../program/encode.ts";
import { Awaiter, type Fiber } from "../scheduler/fiber.ts";
import type { ActivityTarget } from "../scheduler/job_targets.ts";

/** Options of an activity call. Durations in ms; 0: not set. */
export type ActivityOptionsShape =
  & Omit<ScheduleActivity, "headers" | "arguments" | "summary" | "seq">
  & {
    readonly summary: string | undefined;
  };

/** An activity call without arguments, prepared once per proxy and name. */
export interface ActivitySpec {
  readonly options: ActivityOptionsShape;
  /** Encoded ScheduleActivity without arguments. */
  readonly head: Uint8Array;
}

export function prepareActivity(options: ActivityOptionsShape): ActivitySpec {
  // The summary is for readers of the history, so it is plain text with any converter.
  const summary = options.summary === undefined
    ? undefined
    : wire(defaultPayloadConverter.toPayload(options.summary));
  return {
    options,
    head: encodeWith(ScheduleActivity, { ...options, summary, headers: {}, arguments: [], seq: 0 }),
  };
}

export const CANCELLATION = {
  tryCancel: ActivityCancellationType.ACTIVITY_CANCELLATION_TYPE_TRY_CANCEL,
  waitCancellationCompleted:
    ActivityCancellationType.ACTIVITY_CANCELLATION_TYPE_WAIT_CANCELLATION_COMPLETED,
  abandon: ActivityCancellationType.ACTIVITY_CANCELLATION_TYPE_ABANDON,
} as const;

export class ActivityAwaiter extends Awaiter<unknown> implements ActivityTarget {
  readonly waitsFor = "activity";
  readonly external = true;
  readonly activityType: string;
  readonly #activityId: string;
  readonly #seq: number;
  readonly #waits: boolean;
  #cancelRequested = false;

  constructor(fiber: Fiber, spec: ActivitySpec, args: readonly unknown[]) {
    const run = fiber.run;
    const { options } = spec;
    // Before the awaiter exists, so that arguments that cannot be encoded throw without side
    // effects.
    const attributes = withPayloads(
      spec.head,
      ScheduleActivityFields.arguments,
      run.converter,
      args,
      run.headers.ofActivity,
    );
    super(fiber);
    this.activityType = options.activityType;
    this.#waits = options.cancellationType === CANCELLATION.waitCancellationCompleted;
    this.#seq = run.issue(CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY, attributes);
    this.#activityId = options.activityId === "" ? String(this.#seq) : options.activityId;
    run.activities.set(this.#seq, this);
  }

  override get seq(): number {
    return this.#seq;
  }

  describe(): string {
    const procedure = procedureOf(this.activityType);
    return procedure === undefined ? `activity "${this.activityType}"` : `procedure "${procedure}"`;
  }

  resolved({ seq, result }: ResolveActivity): void {
    switch (result?.$case) {
      case "completed": {
        const payload = result.value.result;
        const failure = payload && this.#failedProcedure(payload);
        if (failure !== undefined) this.fail(failure);
        else {this.fulfil(
            payload === undefined ? undefined : this.fiber.run.converter.fromPayload(payload),
          );}
        return;
      }
      case "failed":
      case "cancelled":
        this.fail(decodeFailure(result.value, this.fiber.run.converter));
        return;
      case "backoff":
      case undefined:
        throw new Error(
          `the core resolved activity ${seq} with ${
            result?.$case ?? "nothing"
          }, which is for local activities`,
        );
    }
  }

  #failedProcedure(payload: Payload): ActivityFailure | undefined {
    const { activityType } = this;
    if (procedureOf(activityType) === undefined) return undefined;
    const cause = failureOfResult(payload, this.fiber.run.converter);
    return cause &&
      new ActivityFailure("Activity task failed", { activityType, activityId: this.#activityId }, {
        cause,
      });
  }

  cancel(reason: unknown): void {
    if (!this.#cancelRequested) {
      this.#cancelRequested = true;
      this.fiber.run.port.cancel(CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY, this.#seq);
    }
    if (this.#waits) return;
    const { activityType } = this;
    this.fail(
      new ActivityFailure("Activity cancelled", { activityType, activityId: this.#activityId }, {
        cause: reason,
      }),
    );
  }
}
