// One attempt of a local activity: its context and result. Heartbeats are ignored, and the result
// is part of the workflow task's report.
import { type CancelReason, completesAsync } from "../../activity/context.ts";
import { toFailure } from "../../converter/failure_converter.ts";
import { ApplicationFailure, CancelledFailure } from "../../converter/failures.ts";
import { namingWhat } from "../../converter/lossy_value.ts";
import { type Payload, PayloadConverterError } from "../../converter/payload.ts";
import { messageOf } from "../../converter/thrown.ts";
import { checkPayloads, PayloadTooLargeError } from "../../service/limits.ts";
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { PollActivityTaskQueueResponse } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { final } from "./activity_execution.ts";
import { attemptArguments, resultOf, type RunActivity, settingsFor } from "./activity_dialect.ts";
import { AttemptContext } from "./attempt_context.ts";
import { STOPPED } from "./attempt_end.ts";
import type { LocalSettings } from "./local_activity.ts";

/** The result of an attempt. */
export type AttemptEnd =
  | { readonly kind: "completed"; readonly payload: Payload }
  | { readonly kind: "failed"; readonly failure: Failure; readonly error: unknown }
  | { readonly kind: "cancelled"; readonly failure: Failure };

export class LocalAttempt {
  readonly context: AttemptContext;
  readonly #task: PollActivityTaskQueueResponse;
  readonly #settings: LocalSettings;

  constructor(
    task: PollActivityTaskQueueResponse,
    settings: LocalSettings,
    localCall: () => string,
  ) {
    this.#task = task;
    this.#settings = settingsFor(settings, task, true);
    this.context = new AttemptContext(task, { ...this.#settings, localCall }, () => {});
  }

  /** The activity waits in `sleep`. */
  get sleeping(): boolean {
    return this.context.sleeping;
  }

  cancel(reason: CancelReason): void {
    if (this.context.cancel(reason)) {
      this.context.logger.debug("cancellation of a local activity requested", { reason });
    }
  }

  /** Runs the attempt. Never rejects. */
  async run(activity: RunActivity): Promise<AttemptEnd> {
    const { converter } = this.#settings;
    let error: unknown;
    try {
      const args = attemptArguments(this.#settings, this.#task);
      return this.#completed(await activity(this.context, args));
    } catch (thrown) {
      error = completesAsync(thrown)
        ? ApplicationFailure.nonRetryable("a local activity cannot be completed from outside", {
          type: "CompleteAsyncError",
        })
        : this.#settings.dialect.end(thrown, this.context);
      if (error === STOPPED) return { kind: "cancelled", failure: this.#cancellation(thrown) };
    }
    try {
      return { kind: "failed", failure: this.#settings.dialect.toFailure(error, converter), error };
    } catch {
      // A failure that cannot be encoded in full is still a failure.
      return {
        kind: "failed",
        failure: toFailure(new ApplicationFailure(messageOf(error))),
        error,
      };
    }
  }

  #completed(result: unknown): AttemptEnd {
    const { codec, limits, dialect } = this.#settings;
    const what = `the result of activity "${this.#task.activityType?.name}"`;
    try {
      const payload = namingWhat(what, () => resultOf(this.#settings, this.#task, result));
      // With a codec, sizes are checked after encoding, in the workflow task's report.
      if (codec === undefined) {
        checkPayloads(what, [payload], limits, (message) => this.context.logger.warn(message));
      }
      return { kind: "completed", payload };
    } catch (error) {
      if (error instanceof PayloadTooLargeError) throw final(error);
      throw error instanceof PayloadConverterError && dialect.refusedResultIsFinal
        ? final(error)
        : error;
    }
  }

  #cancellation(thrown: unknown): Failure {
    try {
      const { dialect, converter } = this.#settings;
      const failure = dialect.toFailure(thrown, converter);
      return failure.failureInfo.case === "canceledFailureInfo"
        ? failure
        : toFailure(this.context.cancelled.reason, converter);
    } catch {
      return toFailure(new CancelledFailure(messageOf(thrown)));
    }
  }
}
