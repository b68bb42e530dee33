// Updates and their stages. An update is known by its id: asking with the same id again joins the first request and never has a second
// effect, so every wait here may be repeated, and a caller whose deadline passed may come back later.
import { Code, ServiceError } from "../service/raw.ts";
import { UpdateWorkflowExecutionLifecycleStage as Stage } from "../api/generated/temporal/api/enums/v1/update_pb.ts";
import type { Outcome } from "../api/generated/temporal/api/update/v1/message_pb.ts";
import { realTimers, sleepOn } from "../base/timers.ts";
import { askUntil, type CallSettings, checkSettings, Deadline } from "./calls.ts";
import { type ClientContext, decodeOne, encodeArgs, errorOfFailure, headerField, nameError } from "./context.ts";
import type { UpdateInput } from "./operation_inputs.ts";
import { WorkflowUpdateFailedError, WorkflowUpdateRejectedError } from "./errors.ts";

/** Options of an update. */
export interface UpdateOptions extends CallSettings {
  /**
   * Two updates of one workflow with one id are one update, also when the workflow continues as new between them (as long as the first is
   * among its newest 32, or as many as `rememberUpdates` of its definition says). Default: made per call.
   */
  updateId?: string;
}

/** Options of `handle.startUpdate`. */
export interface StartUpdateOptions extends UpdateOptions {
  /** Return when the workflow has accepted the update (its validator has passed), or when it is carried out. */
  waitFor: "accepted" | "completed";
}

interface Ref {
  updateId: string;
  workflowId: string;
  runId: string | undefined;
}

const updateRef = ({ workflowId, runId, updateId }: Ref) => ({ workflowExecution: { workflowId, runId: runId ?? "" }, updateId });

/** Waits until an accepted update is carried out. */
export async function pollOutcome(context: ClientContext, ref: Ref, deadline: Deadline): Promise<Outcome> {
  try {
    const request = {
      namespace: context.namespace,
      identity: context.identity,
      updateRef: updateRef(ref),
      waitPolicy: { lifecycleStage: Stage.COMPLETED },
    };
    return await askUntil(
      deadline,
      async () => (await context.calls.longPoll("pollWorkflowExecutionUpdate", request, deadline))?.outcome,
    );
  } catch (error) {
    throw nameError(context, error, { what: "the update", ...ref });
  }
}

/** An update that was asked for; `result()` waits until it is carried out. */
export class UpdateHandle<R = unknown> {
  /** Id of the update; asking again with it joins this one. */
  readonly updateId: string;
  /** Id of the workflow that has it. */
  readonly workflowId: string;
  /** The run that has it; undefined for a handle made from an id alone. */
  readonly runId: string | undefined;
  readonly #context: ClientContext;
  readonly #ref: Ref;
  #outcome: Outcome | undefined;
  /** The outcome came before anything said that the update was accepted: if it is a failure, it may be a rejection. */
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
   * What the handler answered. Throws WorkflowUpdateFailedError (WorkflowUpdateRejectedError when the workflow did not accept it),
   * WorkflowNotFoundError when neither workflow nor update are known, DeadlineExceededError after `timeout`.
   */
  async result(settings: CallSettings = {}): Promise<R> {
    checkSettings("the result of an update", settings);
    const deadline = new Deadline(settings, undefined);
    this.#outcome ??= await pollOutcome(this.#context, this.#ref, deadline);
    const outcome = this.#outcome.value;
    if (outcome.case === "failure") {
      const cause = errorOfFailure(this.#context, outcome.value);
      if (this.#perhapsRejected && !(await isRecorded(this.#context, this.#ref, deadline))) {
        throw new WorkflowUpdateRejectedError(`the workflow rejected the update: ${cause.message}`, this.updateId, cause);
      }
      throw new WorkflowUpdateFailedError(`the update failed: ${cause.message}`, this.updateId, cause);
    }
    return decodeOne(this.#context, outcome.value) as R;
  }
}

/** A rejected update leaves no trace, a failed one does: the service does not tell them apart in its answer, but it can be asked. */
async function isRecorded(context: ClientContext, ref: Ref, deadline: Deadline): Promise<boolean> {
  try {
    const { namespace, identity } = context;
    await context.calls.call("pollWorkflowExecutionUpdate", { namespace, identity, updateRef: updateRef(ref) }, deadline);
    return true;
  } catch (error) {
    deadline.signal?.throwIfAborted();
    return !(error instanceof ServiceError && error.code === Code.NOT_FOUND);
  }
}

/** Type of the failure of an update that came while a receive ended by its `until`: what comes after it may take the update. */
const RECEIVE_ENDING = "ReceiveEnding";
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1000;

/** Knows when an update was rejected only for now; then it has waited, and the update is to be sent again. */
export class SentAgain {
  #pauseMs = FIRST_PAUSE_MS;

  async isDue(context: ClientContext, outcome: Outcome, ref: Ref, deadline: Deadline): Promise<boolean> {
    if (outcome.value.case !== "failure") return false;
    const { failureInfo } = outcome.value.value;
    if (failureInfo.case !== "applicationFailureInfo" || failureInfo.value.type !== RECEIVE_ENDING) return false;
    // A handler may have failed with it.
    if (this.#pauseMs >= deadline.remaining() || await isRecorded(context, ref, deadline)) return false;
    await sleepOn(realTimers, this.#pauseMs, deadline.signal);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    return true;
  }
}

/** The request of an update. */
export function updateRequest(context: ClientContext, input: UpdateInput) {
  const { updateName: name, args, updateId } = input;
  return {
    namespace: context.namespace,
    workflowExecution: { workflowId: input.workflowId, runId: input.runId ?? "" },
    firstExecutionRunId: input.firstExecutionRunId ?? "",
    waitPolicy: { lifecycleStage: input.waitFor === "completed" ? Stage.COMPLETED : Stage.ACCEPTED },
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

/** Asks for an update and waits for the stage. */
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
      // The service may answer before the wanted stage, when its own long poll ends: then the same request joins the first one.
      if (response === undefined || (response.outcome === undefined && response.stage < Stage.ACCEPTED)) return undefined;
      const run = response.updateRef?.workflowExecution?.runId || runId;
      const { outcome: early } = response;
      if (early !== undefined && await again.isDue(context, early, { updateId, workflowId, runId: run }, deadline)) {
        return undefined;
      }
      if (early !== undefined) return new UpdateHandle<R>(context, updateId, workflowId, run, early, true);
      const outcome = input.waitFor === "accepted"
        ? undefined
        : await pollOutcome(context, { updateId, workflowId, runId: run }, deadline);
      return new UpdateHandle<R>(context, updateId, workflowId, run, outcome);
    });
  } catch (error) {
    throw nameError(context, error, { what: `update "${name}"`, workflowId, runId, updateId });
  }
}
