// Update-with-start: one atomic call that starts a workflow, or uses the running one, and sends it
// an update. Request id and update id are the same in all attempts, so a retry joins the first
// attempt. The error of either part is reported.
import { randomId } from "../platform/host.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { operationThatFailed } from "../service/retry.ts";
import { UpdateWorkflowExecutionLifecycleStage as Stage } from "../messages/generated/temporal/api/enums/v1/update_pb.ts";
import { askUntil, type CallSettings, Deadline } from "./calls.ts";
import { nameError } from "./context.ts";
import type { AnyWorkflow, ArgsOption, IdOption, Update, WorkflowArgs } from "./definitions.ts";
import { definitionName } from "./definitions.ts";
import type { WorkflowHandle } from "./handle.ts";
import { intercept, type OperationContext, type StartedWorkflow } from "./interceptors.ts";
import type { UpdateWithStartInput } from "./operation_inputs.ts";
import { START_OPTIONS, type WorkflowOptions } from "./options.ts";
import { startedWorkflow, startError, startInput, startRequest } from "./starts.ts";
import { pollOutcome, SentAgain, UpdateHandle, updateRequest } from "./updates.ts";

/** The update of an update-with-start. */
export type UpdateOfStart<A extends unknown[], R> =
  & {
    /** The update to send. */
    update: Update<A, R> | string;
    /** Deduplicates updates of one workflow. Default: a new id for each call. */
    updateId?: string;
  }
  & ([] extends A ? {
      /** Arguments of the update. */
      updateArgs?: NoInfer<A>;
    }
    : {
      /** Arguments of the update. */
      updateArgs: NoInfer<A>;
    });

/**
 * Options of `client.executeUpdateWithStart`. `idConflictPolicy` applies to a running workflow with
 * this id: "USE_EXISTING", the default here, sends it the update; "FAIL" rejects the call;
 * "TERMINATE_EXISTING" replaces it. Cron schedules and delays are not supported with such a start.
 */
export type UpdateWithStartOptions<W extends AnyWorkflow, A extends unknown[], R> =
  & Omit<WorkflowOptions, "id" | "cronSchedule" | "startDelay">
  & IdOption<W>
  & CallSettings
  & ArgsOption<WorkflowArgs<W>>
  & UpdateOfStart<A, R>;

/** Options of `client.startUpdateWithStart`. */
export type StartUpdateWithStartOptions<W extends AnyWorkflow, A extends unknown[], R> =
  & UpdateWithStartOptions<W, A, R>
  & {
    /**
     * Return once the workflow has accepted the update (its validator has passed), or once it is
     * completed.
     */
    waitFor: "accepted" | "completed";
  };

/** Result of `client.startUpdateWithStart`. */
export interface UpdateWithStart<W extends AnyWorkflow, R> {
  /** The started or existing workflow, whatever the result of the update. */
  workflow: WorkflowHandle<W>;
  /**
   * The update; `result()` waits for completion, and throws if the update was rejected or has
   * failed.
   */
  update: UpdateHandle<R>;
}

type Given = WorkflowOptions & {
  args?: readonly unknown[];
  update: { readonly name: string } | string;
  updateArgs?: readonly unknown[];
  updateId?: string;
  waitFor: "accepted" | "completed";
};

const { cronSchedule: _noCron, startDelay: _noDelay, ...START_FIELDS } = START_OPTIONS;
const UPDATE_WITH_START_OPTIONS = {
  ...START_FIELDS,
  update: 1,
  updateArgs: 1,
  updateId: 1,
  waitFor: 1,
};

/**
 * Attempts after both parts were aborted, because the workflow closed meanwhile; the service then
 * asks for a retry.
 */
const ABORTED_ATTEMPTS = 10;

export function updateWithStart(
  context: OperationContext,
  workflow: AnyWorkflow,
  { update, updateArgs = [], updateId = randomId(), waitFor, ...options }: Given,
  settings: CallSettings,
): Promise<{ workflow: StartedWorkflow; update: UpdateHandle }> {
  const start = startInput(
    context,
    workflow,
    { idConflictPolicy: "USE_EXISTING", ...options },
    UPDATE_WITH_START_OPTIONS,
  );
  const wanted: UpdateWithStartInput = {
    ...start,
    updateName: definitionName(update),
    updateArgs,
    updateId,
    waitFor,
    updateHeaders: {},
  };
  return intercept(
    context,
    "updateWithStart",
    wanted,
    (input) => call(context, input, new Deadline(settings)),
  );
}

async function call(context: OperationContext, input: UpdateWithStartInput, deadline: Deadline) {
  const { updateId, updateName, options: { id: workflowId } } = input;
  const update = updateRequest(context, {
    workflowId,
    runId: undefined,
    updateName,
    args: input.updateArgs,
    updateId,
    waitFor: input.waitFor,
    headers: input.updateHeaders,
  });
  const request = {
    namespace: context.namespace,
    operations: [
      { operation: { case: "startWorkflow" as const, value: startRequest(context, input) } },
      { operation: { case: "updateWorkflow" as const, value: update } },
    ],
  };
  let aborted = 0;
  const again = new SentAgain();
  const answer = await askUntil(deadline, async () => {
    try {
      const response = await context.calls.longPoll("executeMultiOperation", request, deadline);
      if (response === undefined) return undefined;
      const [first, second] = response.responses.map((each) => each.response);
      if (first?.case !== "startWorkflow" || second?.case !== "updateWorkflow") {
        throw new ServiceError(Code.INTERNAL, "unexpected response to an update-with-start");
      }
      // Not accepted before the service's wait ended: the same request joins the first one.
      if (second.value.outcome === undefined && second.value.stage < Stage.ACCEPTED) {
        return undefined;
      }
      const { outcome, updateRef } = second.value;
      const ref = { updateId, workflowId, runId: updateRef?.workflowExecution?.runId };
      if (outcome !== undefined && await again.isDue(context, outcome, ref, deadline)) {
        return undefined;
      }
      return { start: first.value, update: second.value };
    } catch (error) {
      const cause = causeOf(error);
      if (isAborted(cause.error) && ++aborted < ABORTED_ATTEMPTS) return undefined;
      throw cause.ofStart
        ? startError(context, cause.error, input)
        : nameError(context, cause.error, {
          what: `update "${updateName}"`,
          workflowId,
          updateId,
        });
    }
  });
  const started = startedWorkflow(workflowId, answer.start, true);
  const { outcome } = answer.update;
  const runId = answer.update.updateRef?.workflowExecution?.runId || started.runId;
  const later = outcome === undefined && input.waitFor === "completed"
    ? await pollOutcome(context, { updateId, workflowId, runId }, deadline)
    : undefined;
  const handle = new UpdateHandle(
    context,
    updateId,
    workflowId,
    runId,
    outcome ?? later,
    outcome !== undefined,
  );
  return { workflow: started, update: handle };
}

const isAborted = (error: unknown) => error instanceof ServiceError && error.code === Code.ABORTED;

/** Returns the error of the failed operation: the others were only aborted. */
function causeOf(error: unknown): { error: unknown; ofStart: boolean } {
  const failed = operationThatFailed(error);
  if (failed === undefined) {
    return { error, ofStart: error instanceof ServiceError && error.code === Code.ALREADY_EXISTS };
  }
  // The whole error stays available as the cause.
  failed.error.cause ??= error;
  return { error: failed.error, ofStart: failed.index === 0 };
}
