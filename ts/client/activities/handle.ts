// A standalone activity by its id, with all requests to it. A handle has only the ids; creating one
// sends no request.
import { type OptionNames, rejectUnknownOptions } from "../../base/option_names.ts";
import type { TemporalFailure } from "../../converter/failures.ts";
import { randomId } from "../../platform/host.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import {
  askUntil,
  CALL_SETTINGS,
  CALL_TIMEOUT_MS,
  type CallSettings,
  checkSettings,
  Deadline,
} from "../calls.ts";
import { deadlineOf, decodeOne, errorOfFailure, nameError } from "../context.ts";
import { ActivityFailedError } from "../errors.ts";
import { intercept, type OperationContext } from "../interceptors.ts";
import type { ActivityChange, ActivityTarget } from "../operation_inputs.ts";
import { type ActivityDescription, toActivityDescription } from "./descriptions.ts";
import { type ActivityTaskOptions, changeFields, checkActivityId } from "./options.ts";

/** Options of {@link ActivityHandle.reset}. */
export interface ResetActivityOptions extends CallSettings {
  /** A paused activity stays paused. Default: false. */
  keepPaused?: boolean;
  /** Forget the details of the last heartbeat. Default: false. */
  resetHeartbeat?: boolean;
  /** Restore the options of the start. Default: false. */
  restoreOptions?: boolean;
}

const RESET_OPTIONS: OptionNames<ResetActivityOptions> = {
  ...{ keepPaused: 1, resetHeartbeat: 1, restoreOptions: 1 },
  ...CALL_SETTINGS,
};

const CHANGES = {
  cancel: "requestCancelActivityExecution",
  terminate: "terminateActivityExecution",
  pause: "pauseActivityExecution",
  unpause: "unpauseActivityExecution",
  reset: "resetActivityExecution",
  options: "updateActivityExecutionOptions",
  delete: "deleteActivityExecution",
} as const;

/** Returns the fields of the request that only this change has. */
function fieldsOfChange(change: ActivityChange): object {
  switch (change.type) {
    case "reset": {
      const { keepPaused, resetHeartbeat, restoreOptions } = change;
      return { keepPaused, resetHeartbeat, restoreOriginalOptions: restoreOptions };
    }
    case "options":
      return changeFields(change.options);
    case "delete":
      return {};
    default:
      return { reason: change.reason };
  }
}

/** A standalone activity. Creating a handle sends no request; each call does. */
export class ActivityHandle<R = unknown> {
  readonly id: string;
  /** The started activity; undefined: the latest one with this id. */
  readonly runId: string | undefined;
  readonly #context: OperationContext;

  /** Created by `client.activity.start` and `client.activity.getHandle`. */
  constructor(context: OperationContext, id: string, runId: string | undefined) {
    checkActivityId(id);
    this.#context = context;
    this.id = id;
    this.runId = runId;
  }

  /**
   * Waits for the end, by default without a limit. Throws an ActivityFailedError that has the cause
   * if the activity failed, timed out, or was canceled or terminated.
   */
  async result(settings: CallSettings = {}): Promise<R> {
    checkSettings("the result of an activity", settings);
    const { id } = this;
    const what = `the result of activity ${id}`;
    try {
      const deadline = new Deadline(settings);
      const { outcome, runId } = await askUntil(deadline, async () => {
        const response = await this.#context.calls.longPoll(
          "pollActivityExecution",
          this.#request(),
          deadline,
        );
        return response?.outcome === undefined ? undefined : response;
      });
      const { value } = outcome!;
      if (value.case === "result") return decodeOne(this.#context, value.value) as R;
      if (value.case === "failure") {
        const cause: TemporalFailure = errorOfFailure(this.#context, value.value);
        throw new ActivityFailedError(id, runId || this.runId, cause);
      }
    } catch (error) {
      throw nameError(this.#context, error, { what, activityId: id });
    }
    throw new ServiceError(Code.INTERNAL, `${what} is neither a value nor a failure`);
  }

  /** Returns state, attempts, arguments and the last failure. Throws ActivityNotFoundError. */
  describe(settings: CallSettings = {}): Promise<ActivityDescription> {
    checkSettings("the description of an activity", settings);
    const { id, runId } = this;
    return intercept(this.#context, "describeActivity", { id, runId }, async (input) => {
      const what = `the description of activity ${input.id}`;
      const response = await this.#call("describeActivityExecution", { ...input, what }, settings, {
        includeInput: true,
        includeHeartbeatDetails: true,
        includeLastFailure: true,
      });
      const description = toActivityDescription(this.#context, response);
      if (description !== undefined) return description;
      throw new ServiceError(Code.INTERNAL, `${what} is empty`);
    });
  }

  /**
   * Requests cancellation: the activity sees it in its signal or at its next heartbeat, and
   * `result` has the outcome.
   */
  cancel(reason = "", settings: CallSettings = {}): Promise<void> {
    return this.#change({ type: "cancel", reason }, settings);
  }

  /** Ends the activity at once as terminated. A running attempt is not waited for. */
  terminate(reason = "", settings: CallSettings = {}): Promise<void> {
    return this.#change({ type: "terminate", reason }, settings);
  }

  /** Starts no further attempt until `unpause`. */
  pause(reason = "", settings: CallSettings = {}): Promise<void> {
    return this.#change({ type: "pause", reason }, settings);
  }

  /** Ends a pause. */
  unpause(reason = "", settings: CallSettings = {}): Promise<void> {
    return this.#change({ type: "unpause", reason }, settings);
  }

  /** Begins again with attempt 1. */
  async reset(options: ResetActivityOptions = {}): Promise<void> {
    rejectUnknownOptions("the reset of an activity", options, RESET_OPTIONS);
    const { keepPaused = false, resetHeartbeat = false, restoreOptions = false, ...settings } =
      options;
    await this.#change({ type: "reset", keepPaused, resetHeartbeat, restoreOptions }, settings);
  }

  /**
   * Changes options of an open activity; the others stay.
   *
   * @example
   * await handle.updateOptions({ startToClose: "5m", retry: { maximumAttempts: 10 } });
   */
  async updateOptions(options: ActivityTaskOptions, settings: CallSettings = {}): Promise<void> {
    await this.#change({ type: "options", options }, settings);
  }

  /** Removes the activity. An open one is terminated. */
  delete(settings: CallSettings = {}): Promise<void> {
    return this.#change({ type: "delete" }, settings);
  }

  #request({ id, runId }: ActivityTarget = this) {
    return { namespace: this.#context.namespace, activityId: id, runId: runId ?? "" };
  }

  async #call<M extends "describeActivityExecution" | (typeof CHANGES)[ActivityChange["type"]]>(
    method: M,
    target: ActivityTarget & { what: string },
    settings: CallSettings,
    request: object,
  ) {
    const { calls } = this.#context;
    try {
      const deadline = deadlineOf(this.#context, settings, CALL_TIMEOUT_MS);
      return await calls.call(method, { ...this.#request(target), ...request } as never, deadline);
    } catch (error) {
      throw nameError(this.#context, error, { what: target.what, activityId: target.id });
    }
  }

  async #change(change: ActivityChange, settings: CallSettings): Promise<void> {
    checkSettings("a change of an activity", settings);
    const { id, runId } = this;
    const input = { id, runId, change, requestId: randomId() };
    await intercept(this.#context, "changeActivity", input, async ({ change, ...asked }) => {
      const { identity } = this.#context;
      const common = { identity, requestId: asked.requestId };
      const target = { ...asked, what: `"${change.type}" of activity ${asked.id}` };
      await this.#call(CHANGES[change.type], target, settings, {
        ...(change.type !== "delete" && common),
        ...fieldsOfChange(change),
      });
    });
  }
}
