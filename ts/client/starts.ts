// Starts workflows: by a start, or by a signal with start. Request ids are chosen before any
// interceptor runs, so no retry of a client or an interceptor starts a second run.
import { rejectUnknownOptions } from "../base/option_names.ts";
import { randomId } from "../platform/host.ts";
import { Code, ServiceError } from "../service/raw.ts";
import type { Deadline } from "./calls.ts";
import { encodeArgs, headerField, nameError } from "./context.ts";
import { type AnyWorkflow, definitionName, withDerivedId } from "./definitions.ts";
import { WorkflowExecutionAlreadyStartedError } from "./errors.ts";
import { intercept, type OperationContext, type StartedWorkflow } from "./interceptors.ts";
import type { StartInput } from "./operation_inputs.ts";
import { START_OPTIONS, toStartFields, type WorkflowOptions } from "./options.ts";

/** Options of a start by its caller; a workflow may derive the id. */
type Given = Omit<WorkflowOptions, "id"> & { id?: string; args?: readonly unknown[] };

/**
 * Returns the input of a start for interceptors. Throws a TypeError without an id or a queue, and
 * for an unknown option.
 */
export function startInput(
  context: OperationContext,
  workflow: AnyWorkflow,
  options: Given,
  names: { readonly [name: string]: unknown } = START_OPTIONS,
): StartInput {
  const workflowType = definitionName(workflow);
  const { args = [], ...given } = withDerivedId(workflow, options);
  const taskQueue = given.taskQueue ?? context.defaultTaskQueue;
  rejectUnknownOptions(`the start of workflow ${workflowType}`, given, names);
  if (typeof given.id !== "string" || given.id === "") {
    throw new TypeError(`the start of workflow ${workflowType} needs an id`);
  }
  const { id } = given;
  if (!taskQueue) {
    throw new TypeError(
      `the start of workflow ${workflowType} has no task queue: pass taskQueue, or set a default taskQueue on the client`,
    );
  }
  return {
    workflowType,
    args,
    options: { ...given, id, taskQueue, requestId: given.requestId ?? randomId() },
    headers: {},
  };
}

/** The request of a start. */
export function startRequest(
  context: OperationContext,
  { workflowType, args, options, headers }: StartInput,
) {
  return {
    ...toStartFields(options, context.converter),
    namespace: context.namespace,
    identity: context.identity,
    workflowType: { name: workflowType },
    input: encodeArgs(context, `the arguments of workflow ${workflowType}`, args),
    ...headerField(headers),
  };
}

/**
 * Converts the response of a start. An existing run need not be the first one of its chain, and not
 * every service reports the first run. If the start cannot join a run, the run is its own,
 * regardless of `started`.
 */
export function startedWorkflow(
  workflowId: string,
  { runId, firstExecutionRunId, started }: {
    runId: string;
    firstExecutionRunId: string;
    started: boolean;
  },
  mayJoin: boolean,
): StartedWorkflow {
  return {
    workflowId,
    runId,
    firstExecutionRunId: firstExecutionRunId || (started || !mayJoin ? runId : undefined),
    started,
  };
}

/** Returns the named error of a rejected start. */
export function startError(
  context: OperationContext,
  error: unknown,
  { workflowType, options }: StartInput,
): unknown {
  if (error instanceof ServiceError && error.code === Code.ALREADY_EXISTS) {
    const runId = error.metadata["run_id"];
    return new WorkflowExecutionAlreadyStartedError(options.id, workflowType, runId || undefined, {
      cause: error,
    });
  }
  return nameError(context, error, { what: `the start of workflow ${options.id}` });
}

/** Starts a workflow. */
export function startRun(
  context: OperationContext,
  workflow: AnyWorkflow,
  options: Given,
  deadline: Deadline,
): Promise<StartedWorkflow> {
  return intercept(context, "start", startInput(context, workflow, options), async (input) => {
    try {
      const response = await context.calls.call(
        "startWorkflowExecution",
        startRequest(context, input),
        deadline,
      );
      return startedWorkflow(
        input.options.id,
        response,
        input.options.idConflictPolicy === "USE_EXISTING",
      );
    } catch (error) {
      throw startError(context, error, input);
    }
  });
}

const { signal: _ofTheCall, ...START_FIELDS } = START_OPTIONS;
/** Known options; without `signal` of calls, because `signal` is the message here. */
export const SIGNAL_WITH_START_OPTIONS = { ...START_FIELDS, signal: 1, signalArgs: 1 };

/** Signals a workflow and starts it first if it is not running. */
export function signalWithStart(
  context: OperationContext,
  workflow: AnyWorkflow,
  { signal, signalArgs = [], ...options }: Given & {
    signal: { readonly name: string } | string;
    signalArgs?: readonly unknown[];
  },
  deadline: Deadline,
): Promise<StartedWorkflow> {
  const wanted = {
    ...startInput(context, workflow, options, SIGNAL_WITH_START_OPTIONS),
    signalName: definitionName(signal),
    signalArgs,
  };
  return intercept(context, "signalWithStart", wanted, async (input) => {
    const request = {
      ...startRequest(context, input),
      signalName: input.signalName,
      signalInput: encodeArgs(
        context,
        `the arguments of signal "${input.signalName}"`,
        input.signalArgs,
      ),
    };
    try {
      const response = await context.calls.call(
        "signalWithStartWorkflowExecution",
        request,
        deadline,
      );
      return startedWorkflow(input.options.id, response, true);
    } catch (error) {
      throw startError(context, error, input);
    }
  });
}
