// Activities: ScheduleActivity out, ResolveActivity in. A cancelled activity whose type does not wait for confirmation rejects right where
// the cancellation stands in the order of events; the core would resolve it at the end of the task, and then an event that happens to be
// in the same task would come before or after it depending on how tasks were grouped.
import {
  ActivityCancellationType,
  CommandKind,
  type ResolveActivity,
  type RetryPolicy,
  ScheduleActivity,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { decodeFailure } from "../converter/failure_converter.ts";
import { ActivityFailure } from "../converter/failures.ts";
import { encode, wire, wireAll } from "./encode.ts";
import type { NativeRun } from "./run.ts";
import { Awaiter, type Strand } from "./strand.ts";

/** An activity call but for its arguments, prepared once per proxy and name. Durations: 0 is unset. */
export interface ActivitySpec {
  readonly activityType: string;
  readonly activityId: string;
  readonly taskQueue: string;
  readonly scheduleToCloseTimeoutMs: number;
  readonly scheduleToStartTimeoutMs: number;
  readonly startToCloseTimeoutMs: number;
  readonly heartbeatTimeoutMs: number;
  readonly retryPolicy: RetryPolicy | undefined;
  readonly cancellationType: ActivityCancellationType;
  readonly summary: string | undefined;
}

export const CANCELLATION = {
  tryCancel: ActivityCancellationType.ACTIVITY_CANCELLATION_TYPE_TRY_CANCEL,
  waitCancellationCompleted: ActivityCancellationType.ACTIVITY_CANCELLATION_TYPE_WAIT_CANCELLATION_COMPLETED,
  abandon: ActivityCancellationType.ACTIVITY_CANCELLATION_TYPE_ABANDON,
} as const;

export class ActivityAwaiter extends Awaiter<unknown> {
  readonly external = true;
  readonly activityType: string;
  readonly #activityId: string;
  readonly #seq: number;
  readonly #waits: boolean;
  #cancelRequested = false;

  constructor(strand: Strand, spec: ActivitySpec, args: readonly unknown[]) {
    const run = strand.run;
    // Before the awaiter exists: arguments that cannot be encoded throw to the caller and leave nothing behind.
    const attributes = encode(ScheduleActivity, {
      ...spec,
      summary: spec.summary === undefined ? undefined : wire(run.converter.toPayload(spec.summary)),
      headers: {},
      arguments: wireAll(run.converter, args),
    });
    super(strand);
    this.activityType = spec.activityType;
    this.#waits = spec.cancellationType === CANCELLATION.waitCancellationCompleted;
    this.#seq = run.issue(CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY, attributes);
    this.#activityId = spec.activityId === "" ? String(this.#seq) : spec.activityId;
    run.activities.set(this.#seq, this);
  }

  describe(): string {
    return `activity "${this.activityType}"`;
  }

  cancel(reason: unknown): void {
    if (!this.#cancelRequested) {
      this.#cancelRequested = true;
      this.strand.run.port.cancel(CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY, this.#seq);
    }
    if (this.#waits) return;
    const { activityType } = this;
    this.fail(new ActivityFailure("Activity cancelled", { activityType, activityId: this.#activityId }, { cause: reason }));
  }
}

export function resolveActivity(run: NativeRun, job: ResolveActivity): void {
  const awaiter = run.activities.get(job.seq);
  run.activities.delete(job.seq);
  // Not there: the run function has ended in this very activation.
  if (awaiter === undefined) return;
  switch (job.result?.$case) {
    case "completed": {
      const payload = job.result.value.result;
      awaiter.fulfil(payload === undefined ? undefined : run.converter.fromPayload(payload));
      return;
    }
    case "failed":
    case "cancelled":
      awaiter.fail(decodeFailure(job.result.value, run.converter));
      return;
    case "backoff":
    case undefined:
      throw new Error(
        `the core resolved activity ${job.seq} with ${job.result?.$case ?? "nothing"}, which is for local activities`,
      );
  }
}
