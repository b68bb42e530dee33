// Update-with-start: one call that starts a workflow, or takes the running one, and sends it an update. The service does both or neither.
// Request id and update id stay the same over all attempts, so asking again joins what was begun, and the refusal of either part is named
// for what it is.
import { randomId } from "../platform/host.ts";
import { Code, OPERATION_ABORTED, ServiceError } from "../service/raw.ts";
import { isThrottled } from "../service/retry.ts";
import { UpdateWorkflowExecutionLifecycleStage as Stage } from "../api/generated/temporal/api/enums/v1/update_pb.ts";
import { askUntil, type CallSettings, Deadline } from "./calls.ts";
import { nameError } from "./context.ts";
import type { AnyWorkflow, ArgsOption, Update, WorkflowArgs } from "./definitions.ts";
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
    /** Two updates of one workflow with one id are one. Default: made per call. */
    updateId?: string;
  }
  & ([] extends A ? {
      /** Its arguments. */
      updateArgs?: NoInfer<A>;
    }
    : {
      /** Its arguments. */
      updateArgs: NoInfer<A>;
    });

/**
 * Options of `client.executeUpdateWithStart`. `idConflictPolicy` says what becomes of a workflow that is running under this id:
 * "USE_EXISTING", the default here, sends it the update; "FAIL" refuses; "TERMINATE_EXISTING" puts a new one in its place. A service takes
 * neither a cron schedule nor a delay with such a start.
 */
export type UpdateWithStartOptions<W extends AnyWorkflow, A extends unknown[], R> =
  & Omit<WorkflowOptions, "cronSchedule" | "startDelay">
  & CallSettings
  & ArgsOption<WorkflowArgs<W>>
  & UpdateOfStart<A, R>;

/** Options of `client.startUpdateWithStart`. */
export type StartUpdateWithStartOptions<W extends AnyWorkflow, A extends unknown[], R> = UpdateWithStartOptions<W, A, R> & {
  /** Return when the workflow has accepted the update (its validator has passed), or when it is carried out. */
  waitFor: "accepted" | "completed";
};

/** What `client.startUpdateWithStart` answers. */
export interface UpdateWithStart<W extends AnyWorkflow, R> {
  /** The workflow that was started or taken. It is there whatever became of the update. */
  workflow: WorkflowHandle<W>;
  /** The update; its `result()` waits until it is carried out, and throws when it was rejected or has failed. */
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
const UPDATE_WITH_START_OPTIONS = { ...START_FIELDS, update: 1, updateArgs: 1, updateId: 1, waitFor: 1 };

/** A workflow that closes while the update arrives, or has too many updates, aborts both; a service asks to try again then. */
const ABORTED_ATTEMPTS = 10;

export function updateWithStart(
  context: OperationContext,
  workflow: AnyWorkflow,
  { update, updateArgs = [], updateId = randomId(), waitFor, ...options }: Given,
  settings: CallSettings,
): Promise<{ workflow: StartedWorkflow; update: UpdateHandle }> {
  const start = startInput(context, workflow, { idConflictPolicy: "USE_EXISTING", ...options }, UPDATE_WITH_START_OPTIONS);
  const wanted: UpdateWithStartInput = {
    ...start,
    updateName: definitionName(update),
    updateArgs,
    updateId,
    waitFor,
    updateHeaders: {},
  };
  return intercept(context, "updateWithStart", wanted, (input) => call(context, input, new Deadline(settings)));
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
      // Not accepted yet when the service's own wait has ended: the same request joins the first one.
      if (second.value.outcome === undefined && second.value.stage < Stage.ACCEPTED) return undefined;
      const { outcome, updateRef } = second.value;
      const ref = { updateId, workflowId, runId: updateRef?.workflowExecution?.runId };
      if (outcome !== undefined && await again.isDue(context, outcome, ref, deadline)) return undefined;
      return { start: first.value, update: second.value };
    } catch (error) {
      const cause = causeOf(error);
      if ((isAborted(cause.error) || isThrottled(cause.error)) && ++aborted < ABORTED_ATTEMPTS) return undefined;
      throw cause.ofStart ? startError(context, cause.error, input) : nameError(context, cause.error, {
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
  const handle = new UpdateHandle(context, updateId, workflowId, runId, outcome ?? later, outcome !== undefined);
  return { workflow: started, update: handle };
}

const isAborted = (error: unknown) => error instanceof ServiceError && error.code === Code.ABORTED;

/** The operation that failed: the others were only given up because of it. */
function causeOf(error: unknown): { error: unknown; ofStart: boolean } {
  const { operations } = error as Partial<ServiceError>;
  const at = operations?.findIndex((one) => one !== undefined && one.reason !== OPERATION_ABORTED) ?? -1;
  if (at < 0) return { error, ofStart: error instanceof ServiceError && error.code === Code.ALREADY_EXISTS };
  const cause = operations![at]!;
  // The whole refusal stays at hand, as the cause of the part's.
  cause.cause ??= error;
  return { error: cause, ofStart: at === 0 };
}
