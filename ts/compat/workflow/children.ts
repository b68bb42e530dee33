// startChild, executeChild and handles of other workflows. Children, signals and cancel requests
// have separate counters here: operations in a canceled scope are never sent, but use a number.
// Promises have as many links as in the official SDK.
import { type OptionNames, rejectMisspelledOptions } from "../../base/option_names.ts";
import { START_OPTIONS } from "../common/option_names.ts";
import {
  CancelChildWorkflow,
  CancelExternalWorkflow,
  CancelSignalWorkflow,
  ChildWorkflowCancellationType as CancellationTypeNumber,
  CommandKind,
  SignalExternalWorkflow,
  StartChildWorkflow,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import {
  type ChildWorkflowCancellationType,
  enumNumber,
  ParentClosePolicy,
  WorkflowIdReusePolicy,
} from "../common/options.ts";
import { searchAttributePayloads } from "../common/search_attributes.ts";
import { timeoutMs } from "../common/time.ts";
import { extractWorkflowTypeAndConfig, type WorkflowSignalOptions } from "../common/definitions.ts";
import type { SignalTypeInfo } from "../common/type_info.ts";
import { encodeArguments, encodeTypedValue } from "../typed_values.ts";
import { currentCompatRun } from "../current.ts";
import type { CompatRun } from "../run.ts";
import { callThrough } from "../interception.ts";
import type { ChildWorkflowOptions } from "./options.ts";
import { retryPolicy } from "./activities.ts";
import type { Workflow } from "./continue_as_new.ts";
import type { SignalDefinition } from "./handlers.ts";
import type { SignalWorkflowInput, StartChildWorkflowExecutionInput } from "./interceptors.ts";
import { uuid4 } from "./misc.ts";
import { priorityBytes, versioningIntent } from "./encoded_options.ts";
import { encodeGroups } from "./event_groups.ts";
import { joinScope } from "./scope.ts";
import { encodeWith } from "../../executor/program/encode.ts";

type WithArgs<T extends Workflow> = Parameters<T> extends [unknown, ...unknown[]]
  ? { args: Parameters<T> | Readonly<Parameters<T>> }
  : { args?: Parameters<T> | Readonly<Parameters<T>> };
type Options<T extends Workflow> = ChildWorkflowOptions & WithArgs<T>;
type ResultOf<T extends Workflow> = Awaited<ReturnType<T>>;

/** A child workflow that has started. */
export interface ChildWorkflowHandle<T extends Workflow> {
  /** Id of the workflow. Default: a UUID. */
  readonly workflowId: string;
  readonly firstExecutionRunId: string;
  /** Waits for its result. Rejects with its failure. */
  result(): Promise<ResultOf<T>>;
  /** Signals the workflow. */
  signal<Args extends unknown[] = []>(
    definition: SignalDefinition<Args> | string,
    ...args: Args
  ): Promise<void>;
  /** Same as `signal`, with the arguments in options. */
  signalWithOptions(name: string, options?: WorkflowSignalOptions<unknown[]>): Promise<void>;
}

/** A workflow that this one has not started. */
export interface ExternalWorkflowHandle {
  /** Id of the workflow. Default: a UUID. */
  readonly workflowId: string;
  /** The run; undefined: the current one. */
  readonly runId?: string | undefined;
  /** Signals the workflow. */
  signal<Args extends unknown[] = []>(
    definition: SignalDefinition<Args> | string,
    ...args: Args
  ): Promise<void>;
  /** Same as `signal`, with the arguments in options. */
  signalWithOptions(name: string, options?: WorkflowSignalOptions<unknown[]>): Promise<void>;
  /** Requests cancellation. */
  cancel(): Promise<void>;
}

/** Starts a child workflow and waits for its start. */
export async function startChild<T extends Workflow>(
  workflow: string | T,
  options?: Options<T>,
): Promise<ChildWorkflowHandle<T>> {
  const run = currentCompatRun(
    "Workflow.startChild(...) may only be used from a Workflow Execution. Consider using Client.workflow.start(...) instead.)",
  );
  const given = withDefaults(options);
  const [started, completed] = await start(run, workflow, given);
  const firstExecutionRunId = await started;
  const { workflowId } = given;
  return {
    workflowId,
    firstExecutionRunId,
    result: (async () => await completed) as () => Promise<ResultOf<T>>,
    // deno-lint-ignore require-await
    async signal(definition, ...args) {
      return signal(
        run,
        { type: "child", childWorkflowId: workflowId },
        readSignalName(definition),
        args,
        readSignalTypes(definition),
      );
    },
    // deno-lint-ignore require-await
    async signalWithOptions(name, { args = [], typeInfo } = {}) {
      return signal(run, { type: "child", childWorkflowId: workflowId }, name, args, typeInfo);
    },
  };
}

/** Starts a child workflow and waits for its result. */
// deno-lint-ignore require-await
export async function executeChild<T extends Workflow>(
  workflow: string | T,
  options?: Options<T>,
): Promise<ResultOf<T>> {
  const run = currentCompatRun(
    "Workflow.executeChild(...) may only be used from a Workflow Execution. Consider using Client.workflow.execute(...) instead.",
  );
  const execution = start(run, workflow, withDefaults(options));
  const completed = execution.then(([, completed]) => completed);
  quiet(execution);
  quiet(completed);
  return completed as Promise<ResultOf<T>>;
}

/** Returns a handle of a workflow that this one has not started. */
export function getExternalWorkflowHandle(
  workflowId: string,
  runId?: string,
): ExternalWorkflowHandle {
  const run = currentCompatRun(
    "Workflow.getExternalWorkflowHandle(...) may only be used from a Workflow Execution. Consider using Client.workflow.getHandle(...) instead.)",
  );
  const external = { type: "external", workflowExecution: { workflowId, runId } } as const;
  return {
    workflowId,
    runId,
    signal: (definition, ...args) =>
      signal(run, external, readSignalName(definition), args, readSignalTypes(definition)),
    signalWithOptions: (name, { args = [], typeInfo } = {}) =>
      signal(run, external, name, args, typeInfo),
    cancel: () =>
      new Promise<void>((resolve, reject) => {
        // Requests before this patch ignored a cancellation of their scope.
        let isCancelled = false;
        const groups = encodeGroups(run);
        const alive = joinScope((error) => {
          if (isCancelled) reject(error);
        }, (error) => {
          if (run.patch(SCOPED_CANCEL_PATCH, false, groups)) reject(error);
        });
        if (!alive && (isCancelled = run.patch(SCOPED_CANCEL_PATCH, false, groups))) return;
        const seq = run.nextCancelSeq++;
        const request = CancelExternalWorkflow.fromPartial({ seq, workflowId, runId: runId ?? "" });
        run.command(
          CommandKind.COMMAND_KIND_CANCEL_EXTERNAL_WORKFLOW,
          encodeWith(CancelExternalWorkflow, request),
          groups,
        );
        run.externalCancels.set(
          seq,
          run.waitsAt(`cancel request to workflow "${workflowId}"`, {
            resolve: () => resolve(),
            reject,
            converter: run.converterForWorkflow(workflowId),
          }),
        );
      }),
  };
}

/** The official SDK's patch id. */
const SCOPED_CANCEL_PATCH = "__temporal_internal_connect_external_handle_cancel_to_scope";

/** Adds a child's default options; a missing id is drawn from the run's random numbers. */
export function addDefaultWorkflowOptions<T extends Workflow>(
  options: ChildWorkflowOptions & { args?: unknown[] },
): Given & { cancellationType: ChildWorkflowCancellationType } & {
  readonly [WORKFLOW]?: T;
} {
  return {
    cancellationType: "WAIT_CANCELLATION_COMPLETED",
    ...withDefaults(options),
  };
}
declare const WORKFLOW: unique symbol;

const quiet = (promise: Promise<unknown>) => void promise.catch(() => {});

const CHILD_OPTIONS: OptionNames<ChildWorkflowOptions> = {
  ...START_OPTIONS,
  ...{ cancellationType: 1, parentClosePolicy: 1, versioningIntent: 1, eventGroups: 1 },
};

type Given = StartChildWorkflowExecutionInput["options"];

function withDefaults(options: ChildWorkflowOptions & { args?: readonly unknown[] } = {}): Given {
  rejectMisspelledOptions("a child workflow", options, CHILD_OPTIONS);
  // Ids use the run's random numbers, so one is drawn only if the program gives none.
  return {
    ...options,
    workflowId: options.workflowId ?? uuid4(),
    args: (options.args ?? []) as unknown[],
  };
}

const readSignalName = (definition: { name: string } | string): string =>
  typeof definition === "string" ? definition : definition.name;

const readSignalTypes = (
  definition: { typeInfo?: SignalTypeInfo } | string,
): SignalTypeInfo | undefined => typeof definition === "string" ? undefined : definition.typeInfo;

/** Returns promises of the start (its run id) and of the end (its result). */
function start(
  run: CompatRun,
  workflow: string | Workflow,
  given: Given,
): Promise<[Promise<string>, Promise<unknown>]> {
  const { type: workflowType, typeInfo } = extractWorkflowTypeAndConfig(workflow, given.typeInfo);
  const options = typeInfo === undefined ? given : { ...given, typeInfo };
  const last = (input: StartChildWorkflowExecutionInput) => startIn(run, input);
  const execute = callThrough(run, "outbound", "startChildWorkflowExecution", last);
  return execute({ workflowType, options, headers: {}, seq: run.nextChildSeq++ });
}

function startIn(
  run: CompatRun,
  input: StartChildWorkflowExecutionInput,
): Promise<[Promise<string>, Promise<unknown>]> {
  const { seq, workflowType, options } = input;
  const converter = run.converterForWorkflow(options.workflowId);
  const started = new Promise<string>((resolve, reject) => {
    const alive = joinScope(reject, () => {
      if (!run.childEnds.has(seq)) return;
      const bytes = encodeWith(CancelChildWorkflow, { seq, reason: "" });
      run.command(CommandKind.COMMAND_KIND_CANCEL_CHILD_WORKFLOW, bytes, groups);
    });
    if (!alive) return;
    const attributes = encodeStart(run, input, converter);
    const groups = encodeGroups(run, options.eventGroups);
    run.command(CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW, attributes, groups);
    run.childStarts.set(seq, { resolve: resolve as (value: unknown) => void, reject, converter });
  });
  // Created early: the result can arrive before it is requested.
  const completed = new Promise<unknown>((resolve, reject) => {
    started.catch(reject);
    const completion = { resolve, reject, converter, outputType: options.typeInfo?.outputType };
    run.childEnds.set(seq, run.waitsAt(`child workflow "${workflowType}"`, completion));
  });
  quiet(completed);
  return new Promise((resolve) => resolve([started, completed]));
}

function encodeStart(
  run: CompatRun,
  { seq, workflowType, options, headers }: StartChildWorkflowExecutionInput,
  converter: PayloadConverter,
): Uint8Array {
  const memo = Object.entries(options.memo ?? {}).map((
    [key, value],
  ) => [key, converter.toPayload(value)]);
  const text = (value: string | undefined) =>
    value === undefined ? undefined : converter.toPayload(value);
  const summary = text(options.staticSummary);
  const details = text(options.staticDetails);
  const attributes = StartChildWorkflow.fromPartial({
    seq,
    workflowId: options.workflowId,
    workflowType,
    headers,
    arguments: encodeArguments(converter, options.args, options.typeInfo),
    taskQueue: options.taskQueue || run.info.taskQueue,
    workflowExecutionTimeoutMs: timeoutMs(options.workflowExecutionTimeout),
    workflowRunTimeoutMs: timeoutMs(options.workflowRunTimeout),
    workflowTaskTimeoutMs: timeoutMs(options.workflowTaskTimeout),
    cancellationType: cancellationType(options.cancellationType),
    parentClosePolicy: enumNumber(
      "ParentClosePolicy",
      ParentClosePolicy,
      "PARENT_CLOSE_POLICY_",
      options.parentClosePolicy,
    ),
    workflowIdReusePolicy: enumNumber(
      "WorkflowIdReusePolicy",
      WorkflowIdReusePolicy,
      "WORKFLOW_ID_REUSE_POLICY_",
      options.workflowIdReusePolicy,
    ),
    cronSchedule: options.cronSchedule ?? "",
    priority: priorityBytes(options.priority),
    versioningIntent: versioningIntent(options.versioningIntent),
    memo: Object.fromEntries(memo),
    searchAttributes: searchAttributePayloads(
      options.searchAttributes,
      options.typedSearchAttributes,
    ),
    ...(options.retry === undefined ? {} : { retryPolicy: retryPolicy(options.retry) }),
    ...(summary === undefined ? {} : { summary }),
    ...(details === undefined ? {} : { details }),
  });
  return encodeWith(StartChildWorkflow, attributes);
}

function cancellationType(type: ChildWorkflowCancellationType | undefined): CancellationTypeNumber {
  switch (type) {
    case undefined:
    case "WAIT_CANCELLATION_COMPLETED":
      return CancellationTypeNumber.CHILD_WORKFLOW_CANCELLATION_TYPE_WAIT_CANCELLATION_COMPLETED;
    case "WAIT_CANCELLATION_REQUESTED":
      return CancellationTypeNumber.CHILD_WORKFLOW_CANCELLATION_TYPE_WAIT_CANCELLATION_REQUESTED;
    case "TRY_CANCEL":
      return CancellationTypeNumber.CHILD_WORKFLOW_CANCELLATION_TYPE_TRY_CANCEL;
    case "ABANDON":
      return CancellationTypeNumber.CHILD_WORKFLOW_CANCELLATION_TYPE_ABANDON;
    default:
      throw new TypeError(`Invalid child workflow cancellation type: ${String(type)}`);
  }
}

type Target = SignalWorkflowInput["target"];

function signal(
  run: CompatRun,
  target: Target,
  signalName: string,
  args: unknown[],
  typeInfo?: SignalTypeInfo,
): Promise<void> {
  const send = callThrough(
    run,
    "outbound",
    "signalWorkflow",
    (input: SignalWorkflowInput) => signalIn(run, input),
  );
  return send({
    seq: run.nextSignalSeq++,
    signalName,
    args,
    target,
    headers: {},
    ...(typeInfo !== undefined && { typeInfo }),
  });
}

function signalIn(
  run: CompatRun,
  { seq, signalName, args, target, headers, typeInfo }: SignalWorkflowInput,
): Promise<void> {
  const receiver = target.type === "child"
    ? { workflowId: target.childWorkflowId, childWorkflowOnly: true }
    : {
      workflowId: target.workflowExecution.workflowId ?? "",
      runId: target.workflowExecution.runId ?? "",
    };
  const converter = run.converterForWorkflow(receiver.workflowId);
  return new Promise<void>((resolve, reject) => {
    const alive = joinScope(reject, () => {
      if (!run.externalSignals.has(seq)) return;
      run.command(
        CommandKind.COMMAND_KIND_CANCEL_SIGNAL_WORKFLOW,
        encodeWith(CancelSignalWorkflow, { seq }),
      );
    });
    if (!alive) return;
    const attributes = SignalExternalWorkflow.fromPartial({
      ...{ seq, signalName, headers, ...receiver },
      arguments: args.map((arg, i) => encodeTypedValue(converter, arg, typeInfo?.inputTypes?.[i])),
    });
    const bytes = encodeWith(SignalExternalWorkflow, attributes);
    run.command(CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW, bytes, encodeGroups(run));
    run.externalSignals.set(
      seq,
      run.waitsAt(`signal "${signalName}" to another workflow`, {
        resolve: () => resolve(),
        reject,
        converter,
      }),
    );
  });
}
