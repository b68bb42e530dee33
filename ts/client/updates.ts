// Updates and their stages. A repeated request with the same update id joins the first one and has
// no second effect, so waits can be repeated, also after the caller's deadline.
import { Code, ServiceError } from "../service/raw.ts";
import { UpdateWorkflowExecutionLifecycleStage as Stage } from "../messages/generated/temporal/api/enums/v1/update_pb.ts";
import type { Outcome } from "../messages/generated/temporal/api/update/v1/message_pb.ts";
import { realTimers, sleepOn } from "../base/timers.ts";
import { askUntil, type CallSettings, checkSettings, Deadline } from "./calls.ts";
import {
  type ClientContext,
  decodeOne,
  encodeArgs,
  errorOfFailure,
  headerField,
  nameError,
} from "./context.ts";
import type { UpdateInput } from "./operation_inputs.ts";
import { WorkflowUpdateFailedError, WorkflowUpdateRejectedError } from "./errors.ts";

/** Options of an update. */
export interface UpdateOptions extends CallSettings {
  /**
   * Deduplicates updates of one workflow, also across continue-as-new (for the newest 32, or
   * `rememberUpdates` of the definition). Default: a new id for each call.
   */
  updateId?: string;
}

/** Options of `handle.startUpdate`. */
export interface StartUpdateOptions extends UpdateOptions {
  /**
   * Return once the workflow has accepted the update (its validator has passed), or once it is
   * completed.
   */
  waitFor: "accepted" | "completed";
}

interface Ref {
  updateId: string;
  workflowId: string;
  runId: string | undefined;
}

const updateRef = ({ workflowId, runId, updateId }: Ref) => ({
  workflowExecution: { workflowId, runId: runId ?? "" },
  updateId,
});

/** Waits until an accepted update is completed. */
export async function pollOutcome(
  context: ClientContext,
  ref: Ref,
  deadline: Deadline,
): Promise<Outcome> {
  try {
    const request = {
      namespace: context.namespace,
      identity: context.identity,
      updateRef: updateRef(ref),
      waitPolicy: { lifecycleStage: Stage.COMPLETED },
    };
    return await askUntil(
      deadline,
      async () =>
        (await context.calls.longPoll("pollWorkflowExecutionUpdate", request, deadline))?.outcome,
    );
  } catch (error) {
    throw nameError(context, error, { what: "the update", ...ref });
  }
}

/** A requested update; `result()` waits for its completion. */
export class UpdateHandle<R = unknown> {
  /** Id of the update; a request with the same id joins this one. */
  readonly updateId: string;
  readonly workflowId: string;
  /** The run of the update; undefined for a handle created from an id. */
  readonly runId: string | undefined;
  readonly #context: ClientContext;
  readonly #ref: Ref;
  #outcome: Outcome | undefined;
  /** The outcome arrived before a confirmed acceptance: a failure may be a rejection. */
  readonly #perhapsRejected: boolean;

  constructor(
    context: ClientContext,
    updateId: string,
    workflowId: string,
    runId: string | undefined,
    outcome?: Outcome,
    perhapsRejected = false,
  ) {
    this.#context = context;
    this.updateId = updateId;
    this.workflowId = workflowId;
    this.runId = runId;
    this.#ref = { updateId, workflowId, runId };
    this.#outcome = outcome;
    this.#perhapsRejected = perhapsRejected;
  }

  /**
   * Returns the handler's result. Throws WorkflowUpdateFailedError (WorkflowUpdateRejectedError if
   * the update was rejected), WorkflowNotFoundError for an unknown workflow or update,
   * DeadlineExceededError after `timeout`.
   */
  async result(settings: CallSettings = {}): Promise<R> {
    checkSettings("the result of an update", settings);
    const deadline = new Deadline(settings, undefined);
    this.#outcome ??= await pollOutcome(this.#context, this.#ref, deadline);
    const outcome = this.#outcome.value;
    if (outcome.case === "failure") {
      const cause = errorOfFailure(this.#context, outcome.value);
      if (this.#perhapsRejected && !(await isRecorded(this.#context, this.#ref, deadline))) {
        throw new WorkflowUpdateRejectedError(
          `the workflow rejected the update: ${cause.message}`,
          this.updateId,
          cause,
        );
      }
      throw new WorkflowUpdateFailedError(
        `the update failed: ${cause.message}`,
        this.updateId,
        cause,
      );
    }
    return decodeOne(this.#context, outcome.value) as R;
  }
}

/**
 * Returns whether the update is recorded: a rejected one is not, a failed one is. The service's
 * response does not distinguish them.
 */
async function isRecorded(context: ClientContext, ref: Ref, deadline: Deadline): Promise<boolean> {
  try {
    const { namespace, identity } = context;
    await context.calls.call("pollWorkflowExecutionUpdate", {
      namespace,
      identity,
      updateRef: updateRef(ref),
    }, deadline);
    return true;
  } catch (error) {
    deadline.signal?.throwIfAborted();
    return !(error instanceof ServiceError && error.code === Code.NOT_FOUND);
  }
}

/**
 * Failure type of an update that arrived while a `receive` ended by its `until`: later code may
 * accept it.
 */
const RECEIVE_ENDING = "ReceiveEnding";
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1000;

/** Detects updates that were rejected temporarily, and waits before they are sent again. */
export class SentAgain {
  #pauseMs = FIRST_PAUSE_MS;

  async isDue(
    context: ClientContext,
    outcome: Outcome,
    ref: Ref,
    deadline: Deadline,
  ): Promise<boolean> {
    if (outcome.value.case !== "failure") return false;
    const { failureInfo } = outcome.value.value;
    if (
      failureInfo.case !== "applicationFailureInfo" || failureInfo.value.type !== RECEIVE_ENDING
    ) return false;
    // A handler can fail with the same type.
    if (this.#pauseMs >= deadline.remaining() || await isRecorded(context, ref, deadline)) {
      return false;
    }
    await sleepOn(realTimers, this.#pauseMs, deadline.signal);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    return true;
  }
}

/** Returns the request of an update. */
export function updateRequest(context: ClientContext, input: UpdateInput) {
  const { updateName: name, args, updateId } = input;
  return {
    namespace: context.namespace,
    workflowExecution: { workflowId: input.workflowId, runId: input.runId ?? "" },
    firstExecutionRunId: input.firstExecutionRunId ?? "",
    waitPolicy: {
      lifecycleStage: input.waitFor === "completed" ? Stage.COMPLETED : Stage.ACCEPTED,
    },
    request: {
      meta: { updateId, identity: context.identity },
      input: {
        name,
        args: encodeArgs(context, `the arguments of update "${name}"`, args),
        ...headerField(input.headers),
      },
    },
  };
}

/** Sends an update and waits for the requested stage. */
export async function startUpdate<R>(
  context: ClientContext,
  input: UpdateInput,
  settings: CallSettings,
): Promise<UpdateHandle<R>> {
  const { workflowId, runId, updateId, updateName: name } = input;
  const deadline = new Deadline(settings, undefined);
  const request = updateRequest(context, input);
  const again = new SentAgain();
  try {
    return await askUntil(deadline, async () => {
      const response = await context.calls.longPoll("updateWorkflowExecution", request, deadline);
      // The service's long poll can end before the requested stage: the same request joins the
      // first one.
      if (
        response === undefined ||
        (response.outcome === undefined && response.stage < Stage.ACCEPTED)
      ) return undefined;
      const run = response.updateRef?.workflowExecution?.runId || runId;
      const { outcome: early } = response;
      if (
        early !== undefined &&
        await again.isDue(context, early, { updateId, workflowId, runId: run }, deadline)
      ) {
        return undefined;
      }
      if (early !== undefined) {
        return new UpdateHandle<R>(context, updateId, workflowId, run, early, true);
      }
      const outcome = input.waitFor === "accepted"
        ? undefined
        : await pollOutcome(context, { updateId, workflowId, runId: run }, deadline);
      return new UpdateHandle<R>(context, updateId, workflowId, run, outcome);
    });
  } catch (error) {
    throw nameError(context, error, { what: `update "${name}"`, workflowId, runId, updateId });
  }
}
