// A workflow by its id: everything that can be asked of it or sent to it. A handle holds no state but ids; making one asks nothing.
import { create } from "@bufbuild/protobuf";
import { enumName } from "../converter/enums.ts";
import { ActivityFailure, CancelledFailure, TerminatedFailure, TimeoutFailure } from "../converter/failures.ts";
import { fromPayloads } from "../converter/payload.ts";
import { randomId } from "../platform/host.ts";
import { Code, type MethodName, ServiceError } from "../service/raw.ts";
import type { TypedService } from "../service/typed.ts";
import { QueryRejectCondition } from "../temporal/generated/temporal/api/enums/v1/query_pb.ts";
import { RetryState, WorkflowExecutionStatus } from "../temporal/generated/temporal/api/enums/v1/workflow_pb.ts";
import { FailureSchema } from "../temporal/generated/temporal/api/failure/v1/message_pb.ts";
import type { History, HistoryEvent } from "../temporal/generated/temporal/api/history/v1/message_pb.ts";
import { CALL_TIMEOUT_MS, type CallSettings, Deadline, QUERY_TIMEOUT_MS } from "./calls.ts";
import {
  type ClientContext,
  deadlineOf,
  decodeFailureOf,
  decodeOne,
  encodeArgs,
  headerField,
  nameError,
  type Target,
} from "./context.ts";
import type { AnyWorkflow, ArgsOption, Query, Signal, Update, WorkflowResult } from "./definitions.ts";
import { nameOf } from "./definitions.ts";
import { toDescription, type WorkflowDescription } from "./descriptions.ts";
import {
  QueryFailedError,
  QueryRejectedError,
  WorkflowContinuedAsNewError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from "./errors.ts";
import {
  collectHistory,
  decodeEvent,
  type HistoryOptions,
  historyToBytes,
  historyToJson,
  readHistory,
  waitForClose,
} from "./history.ts";
import { intercept, type WorkflowTarget } from "./interceptors.ts";
import { startUpdate, type StartUpdateOptions, UpdateHandle, type UpdateOptions } from "./updates.ts";

/** Options of `handle.result`. */
export interface ResultOptions extends CallSettings {
  /** Follow continue-as-new, retries and cron to the last run. Default: true. */
  followRuns?: boolean;
}

/** Settings that `handle.with(...)` gives to every call made through it. */
export interface HandleSettings extends CallSettings {
  /** Do not put a query to a workflow that is closed (NOT_OPEN), or that did not complete (NOT_COMPLETED_CLEANLY). */
  queryRejectCondition?: "NOT_OPEN" | "NOT_COMPLETED_CLEANLY";
  /** Two signals or cancel requests with one request id are one. Default: made per call. */
  requestId?: string;
}

/** Which run a handle means. */
export interface HandleIds {
  /** The run; absent: the current one of the workflow id. */
  runId?: string | undefined;
  /** Calls go to `runId` and to no other run. */
  pinned?: boolean;
  firstExecutionRunId?: string | undefined;
}

/** A workflow to talk to, by its id. Making one asks nothing of the service; every call does. */
export class WorkflowHandle<W extends AnyWorkflow = string> {
  /** Id of the workflow. */
  readonly workflowId: string;
  /**
   * The run that `start` made, or that `getHandle` was given. Calls through a started handle go to the current run of the workflow id, which
   * after continue-as-new is another one; through `getHandle(workflow, id, runId)` they go to that very run.
   */
  readonly runId: string | undefined;
  /** The run that a start made or joined; later runs of its chain (continue-as-new, retry) are meant as well. */
  readonly firstExecutionRunId: string | undefined;
  readonly #context: ClientContext;
  readonly #ids: HandleIds;
  /** The run that calls name; undefined: the current one. */
  readonly #target: string | undefined;
  readonly #settings: HandleSettings;

  /** Made by `client.start`, `client.signalWithStart` and `client.getHandle`. */
  constructor(context: ClientContext, workflowId: string, ids: HandleIds = {}, settings: HandleSettings = {}) {
    this.#context = context;
    this.workflowId = workflowId;
    this.runId = ids.runId;
    this.firstExecutionRunId = ids.firstExecutionRunId;
    this.#ids = ids;
    this.#target = ids.pinned ? ids.runId : undefined;
    this.#settings = settings;
  }

  /** The same workflow with settings for each call: `handle.with({ timeout: "2s" }).query(status)`. */
  with(settings: HandleSettings): WorkflowHandle<W> {
    return new WorkflowHandle<W>(this.#context, this.workflowId, this.#ids, { ...this.#settings, ...settings });
  }

  /**
   * Waits for the workflow's result. Throws WorkflowFailedError (its `cause` says whether it failed, was cancelled, terminated or timed
   * out), WorkflowNotFoundError, DeadlineExceededError after `timeout`, and WorkflowContinuedAsNewError with `followRuns: false`.
   */
  async result(options: ResultOptions = {}): Promise<WorkflowResult<W>> {
    const settings = { ...this.#settings, ...options };
    const deadline = new Deadline(settings, undefined);
    const follow = options.followRuns ?? true;
    let runId = this.runId;
    for (;;) {
      const event = await this.#guard(
        `the result of workflow ${this.workflowId}`,
        waitForClose(this.#context, this.workflowId, runId, deadline),
        runId,
      );
      const next = nextRun(event);
      if (next !== undefined && follow) runId = next;
      else return this.#outcome(await decodeEvent(this.#context, event), runId ?? "") as WorkflowResult<W>;
    }
  }

  /** Sends a signal. Returns when the service has recorded it; a workflow that is not yet waiting for it receives it later. */
  async signal<A extends unknown[]>(signal: Signal<A> | string, ...args: A): Promise<void> {
    const requestId = this.#settings.requestId ?? randomId();
    const wanted = { ...this.#address(), signalName: nameOf(signal), args, requestId, headers: {} };
    await intercept(this.#context.interceptors, "signal", wanted, async (input) => {
      const what = `signal "${input.signalName}"`;
      await this.#call(what, "signalWorkflowExecution", input, {
        namespace: this.#context.namespace,
        workflowExecution: execution(input),
        signalName: input.signalName,
        input: encodeArgs(this.#context, `the arguments of ${what}`, input.args),
        identity: this.#context.identity,
        requestId: input.requestId,
        ...headerField(input.headers),
      });
    });
  }

  /** Sends an update and waits for its answer. Throws as `UpdateHandle.result`. */
  update<A extends unknown[], R>(update: Update<A, R>, ...args: A): Promise<R>;
  update(update: string, ...args: unknown[]): Promise<unknown>;
  update(update: Update | string, ...args: unknown[]): Promise<unknown> {
    return this.executeUpdate(update as string, { args });
  }

  /** As `update`, with options: an id of the caller's own, a timeout. */
  executeUpdate<A extends unknown[], R>(update: Update<A, R>, options: UpdateOptions & ArgsOption<A>): Promise<R>;
  executeUpdate(update: string, options: UpdateOptions & { args?: unknown[] }): Promise<unknown>;
  async executeUpdate(update: Update | string, options: UpdateOptions & { args?: unknown[] }): Promise<unknown> {
    const settings = { ...this.#settings, ...options };
    const deadline = new Deadline(settings, undefined);
    const handle = await this.startUpdate(update as string, { ...settings, waitFor: "completed" });
    const remaining = deadline.remaining();
    return handle.result({ signal: settings.signal, timeout: remaining === Infinity ? undefined : remaining });
  }

  /** Sends an update and returns once it is accepted or completed; `result()` of the handle waits for its answer. */
  startUpdate<A extends unknown[], R>(
    update: Update<A, R>,
    options: StartUpdateOptions & ArgsOption<A>,
  ): Promise<UpdateHandle<R>>;
  startUpdate(update: string, options: StartUpdateOptions & { args?: unknown[] }): Promise<UpdateHandle>;
  startUpdate(update: Update | string, options: StartUpdateOptions & { args?: unknown[] }): Promise<UpdateHandle> {
    const { args = [], updateId = randomId(), waitFor } = options;
    const wanted = { ...this.#address(), updateName: nameOf(update), args, updateId, waitFor, headers: {} };
    const settings = { ...this.#settings, ...options };
    return intercept(this.#context.interceptors, "update", wanted, (input) => startUpdate(this.#context, input, settings));
  }

  /** An update that was asked for before, by its id. */
  // deno-lint-ignore no-explicit-any
  getUpdateHandle<R = unknown>(updateId: string, _update?: Update<any[], R>): UpdateHandle<R> {
    return new UpdateHandle<R>(this.#context, updateId, this.workflowId, this.#target);
  }

  /** Asks for a value of the workflow; works on closed workflows too, while a worker is running. */
  query<R, A extends unknown[]>(query: Query<R, A>, ...args: A): Promise<R>;
  query(query: string, ...args: unknown[]): Promise<unknown>;
  async query(query: Query | string, ...args: unknown[]): Promise<unknown> {
    const context = this.#context;
    const rejectCondition = this.#settings.queryRejectCondition;
    const wanted = { ...this.#address(), queryType: nameOf(query), args, rejectCondition, headers: {} };
    return await intercept(context.interceptors, "query", wanted, async (input) => {
      const { queryType, workflowId, rejectCondition: reject } = input;
      const what = `query "${queryType}"`;
      const queryArgs = encodeArgs(context, `the arguments of ${what}`, input.args);
      const request = {
        namespace: context.namespace,
        execution: execution(input),
        query: { queryType, queryArgs, ...headerField(input.headers) },
        queryRejectCondition: reject === undefined ? QueryRejectCondition.NONE : QueryRejectCondition[reject],
      };
      try {
        const response = await context.calls.call(
          "queryWorkflow",
          request,
          deadlineOf(context, this.#settings, QUERY_TIMEOUT_MS),
        );
        if (response.queryRejected !== undefined) {
          const status = enumName(WorkflowExecutionStatus, response.queryRejected.status) ?? "UNKNOWN";
          throw new QueryRejectedError(queryType, workflowId, status);
        }
        return decodeOne(context, response.queryResult);
      } catch (error) {
        // The handler's answer "no" and a malformed request have one code; the second cannot come from here.
        if (error instanceof ServiceError && error.code === Code.INVALID_ARGUMENT) {
          throw new QueryFailedError(queryType, error.message, { cause: error });
        }
        throw nameError(context, error, { what, workflowId, runId: input.runId });
      }
    });
  }

  /** Asks the workflow to stop; it may clean up first, or go on. */
  async cancel(reason = ""): Promise<void> {
    const wanted = { ...this.#address(), reason, requestId: this.#settings.requestId ?? randomId() };
    await intercept(this.#context.interceptors, "cancel", wanted, async (input) => {
      await this.#call("the cancel request", "requestCancelWorkflowExecution", input, {
        namespace: this.#context.namespace,
        workflowExecution: execution(input),
        firstExecutionRunId: input.firstExecutionRunId ?? "",
        identity: this.#context.identity,
        requestId: input.requestId,
        reason: input.reason,
      });
    });
  }

  /** Ends the workflow at once; its code does not learn of it. */
  async terminate(reason = "", ...details: unknown[]): Promise<void> {
    const wanted = { ...this.#address(), reason, details };
    await intercept(this.#context.interceptors, "terminate", wanted, async (input) => {
      const what = "the details of the termination";
      await this.#call("the termination", "terminateWorkflowExecution", input, {
        namespace: this.#context.namespace,
        workflowExecution: execution(input),
        firstExecutionRunId: input.firstExecutionRunId ?? "",
        identity: this.#context.identity,
        reason: input.reason,
        ...(input.details.length > 0 && { details: encodeArgs(this.#context, what, input.details) }),
      });
    });
  }

  /** What the service knows of the run: status, times, what is pending. Throws a WorkflowNotFoundError. */
  async describe(): Promise<WorkflowDescription> {
    const { namespace, converter, interceptors } = this.#context;
    return await intercept(interceptors, "describe", this.#address(), async (input) => {
      const what = `the description of workflow ${input.workflowId}`;
      const response = await this.#call(what, "describeWorkflowExecution", input, { namespace, execution: execution(input) });
      const description = toDescription(response, converter);
      if (description === undefined) {
        throw new WorkflowNotFoundError("the service described nothing", input.workflowId, input.runId);
      }
      return description;
    });
  }

  /** The events of the run, one by one; with `follow` as they come, until the run closes. */
  async *history(options: HistoryOptions = {}): AsyncGenerator<HistoryEvent, void, void> {
    try {
      yield* readHistory(this.#context, this.workflowId, this.#target, { ...this.#settings, ...options });
    } catch (error) {
      throw nameError(this.#context, error, this.#name(`the history of workflow ${this.workflowId}`));
    }
  }

  /** The whole history as a message. */
  fetchHistory(options: HistoryOptions = {}): Promise<History> {
    return collectHistory(this.history(options));
  }

  /** The history as JSON text, in the form that `temporal workflow show --output json` writes and Temporal's UI and replayers load. */
  async historyJson(options: HistoryOptions = {}): Promise<string> {
    return historyToJson(await this.fetchHistory(options));
  }

  /** The history as bytes of temporal.api.history.v1.History. */
  async historyBytes(options: HistoryOptions = {}): Promise<Uint8Array> {
    return historyToBytes(await this.fetchHistory(options));
  }

  #address(): WorkflowTarget {
    return { workflowId: this.workflowId, runId: this.#target, firstExecutionRunId: this.firstExecutionRunId };
  }

  #name(what: string, runId = this.#target): Target {
    return { what, workflowId: this.workflowId, runId };
  }

  async #call<M extends MethodName>(
    what: string,
    method: M,
    { workflowId, runId }: WorkflowTarget,
    request: Parameters<TypedService[M]>[0],
  ) {
    const context = this.#context;
    try {
      return await context.calls.call(method, request, deadlineOf(context, this.#settings, CALL_TIMEOUT_MS));
    } catch (error) {
      throw nameError(context, error, { what, workflowId, runId });
    }
  }

  async #guard<T>(what: string, call: Promise<T>, runId = this.#target): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw nameError(this.#context, error, this.#name(what, runId));
    }
  }

  /** The result in a closing event, or the error that it stands for. */
  #outcome(event: HistoryEvent, runId: string): unknown {
    const { converter } = this.#context;
    const { workflowId } = this;
    const { attributes } = event;
    const fail = (what: string, cause: ConstructorParameters<typeof WorkflowFailedError>[3], retryState?: number) => {
      const state = retryState === undefined ? undefined : enumName(RetryState, retryState);
      const text = saidOf(cause);
      return new WorkflowFailedError(
        `workflow ${workflowId} ${what}${text === "" ? "" : `: ${text}`}`,
        workflowId,
        runId,
        cause,
        state,
      );
    };
    switch (attributes.case) {
      case "workflowExecutionCompletedEventAttributes":
        return decodeOne(this.#context, attributes.value.result);
      case "workflowExecutionFailedEventAttributes": {
        const { failure, retryState } = attributes.value;
        throw fail("failed", decodeFailureOf(failure ?? create(FailureSchema), converter), retryState);
      }
      case "workflowExecutionCanceledEventAttributes":
        throw fail(
          "was cancelled",
          new CancelledFailure("Workflow canceled", fromPayloads(converter, attributes.value.details?.payloads)),
        );
      case "workflowExecutionTerminatedEventAttributes":
        throw fail("was terminated", new TerminatedFailure(attributes.value.reason || "Workflow execution terminated"));
      case "workflowExecutionTimedOutEventAttributes":
        throw fail(
          "timed out",
          new TimeoutFailure("Workflow execution timed out", "START_TO_CLOSE"),
          attributes.value.retryState,
        );
      case "workflowExecutionContinuedAsNewEventAttributes":
        throw new WorkflowContinuedAsNewError(workflowId, attributes.value.newExecutionRunId);
      default:
        throw new ServiceError(
          Code.INTERNAL,
          `the service closed workflow ${workflowId} with an event of type ${event.eventType}`,
        );
    }
  }
}

function execution({ workflowId, runId }: WorkflowTarget) {
  return { workflowId, runId: runId ?? "" };
}

/** The run that a closing event hands over to. */
function nextRun({ attributes }: HistoryEvent): string | undefined {
  switch (attributes.case) {
    case "workflowExecutionCompletedEventAttributes":
    case "workflowExecutionFailedEventAttributes":
    case "workflowExecutionTimedOutEventAttributes":
    case "workflowExecutionContinuedAsNewEventAttributes":
      return attributes.value.newExecutionRunId === "" ? undefined : attributes.value.newExecutionRunId;
    default:
      return undefined;
  }
}

/** A failure's message; of an activity's, which says no more than that it failed, which one and why. */
function saidOf(failure: Error): string {
  if (!(failure instanceof ActivityFailure) || !(failure.cause instanceof Error)) return failure.message;
  return `activity ${failure.activityType} failed: ${failure.cause.message}`;
}
