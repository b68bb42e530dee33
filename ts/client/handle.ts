// A workflow by its id: everything that can be asked of it or sent to it. A handle holds no state but ids; making one asks nothing.
import { type OptionNames, rejectSurplusArguments, rejectUnknownOptions } from "../base/option_names.ts";
import { enumName } from "../converter/enums.ts";
import { randomId } from "../platform/host.ts";
import { Code, type MethodName, ServiceError } from "../service/raw.ts";
import type { TypedService } from "../service/typed.ts";
import { QueryRejectCondition } from "../api/generated/temporal/api/enums/v1/query_pb.ts";
import { WorkflowExecutionStatus } from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { History, HistoryEvent } from "../api/generated/temporal/api/history/v1/message_pb.ts";
import { CALL_SETTINGS, CALL_TIMEOUT_MS, type CallSettings, Deadline, QUERY_TIMEOUT_MS } from "./calls.ts";
import { deadlineOf, decodeOne, encodeArgs, headerField, nameError, type Target } from "./context.ts";
import type { AnyWorkflow, ArgsOption, Query, Signal, Update, WorkflowResult } from "./definitions.ts";
import { definitionName } from "./definitions.ts";
import { toDescription, type WorkflowDescription } from "./descriptions.ts";
import { deleteWorkflow, terminateWorkflow } from "./terminate_delete.ts";
import { QueryFailedError, QueryRejectedError, WorkflowNotFoundError } from "./errors.ts";
import {
  collectHistory,
  decodeEvent,
  HISTORY_OPTIONS,
  type HistoryOptions,
  historyToBytes,
  historyToJson,
  readEvents,
  waitForClose,
} from "./history.ts";
import { intercept, type OperationContext } from "./interceptors.ts";
import type { WorkflowTarget } from "./operation_inputs.ts";
import { nextRun, outcomeOf } from "./outcome.ts";
import { answerProcedure, type OpenProcedure, openProcedures, type WhichProcedure } from "./procedures.ts";
import { resetWorkflow } from "./reset.ts";
import { checkPoint, RESET_OPTIONS, type ResetOptions, type ResetPoint } from "./reset_options.ts";
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

/** Advice for settings that are passed to a method without options. */
const SETTINGS_FIRST = 'settings of calls go to the handle first: handle.with({ timeout: "5s" })';
const HANDLE_SETTINGS: OptionNames<HandleSettings> = { queryRejectCondition: 1, requestId: 1, ...CALL_SETTINGS };
const RESULT_OPTIONS: OptionNames<ResultOptions> = { followRuns: 1, ...CALL_SETTINGS };
const UPDATE_OPTIONS: OptionNames<UpdateOptions & { args: unknown }> = { args: 1, updateId: 1, ...CALL_SETTINGS };
const START_UPDATE_OPTIONS: OptionNames<StartUpdateOptions> = { ...UPDATE_OPTIONS, waitFor: 1 };

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
  readonly #context: OperationContext;
  readonly #ids: HandleIds;
  /** The run that calls name; undefined: the current one. */
  readonly #target: string | undefined;
  readonly #settings: HandleSettings;

  /** Made by `client.start`, `client.signalWithStart` and `client.getHandle`. */
  constructor(context: OperationContext, workflowId: string, ids: HandleIds = {}, settings: HandleSettings = {}) {
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
    rejectUnknownOptions("with", settings, HANDLE_SETTINGS);
    return new WorkflowHandle<W>(this.#context, this.workflowId, this.#ids, { ...this.#settings, ...settings });
  }

  /**
   * Waits for the workflow's result. Throws WorkflowFailedError (its `cause` says whether it failed, was cancelled, terminated or timed
   * out), WorkflowNotFoundError, DeadlineExceededError after `timeout`, and WorkflowContinuedAsNewError with `followRuns: false`.
   */
  async result(options: ResultOptions = {}): Promise<WorkflowResult<W>> {
    rejectUnknownOptions("result", options, RESULT_OPTIONS);
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
      else {
        const decoded = await decodeEvent(this.#context, event);
        return outcomeOf(this.#context, this.workflowId, runId ?? "", decoded) as WorkflowResult<W>;
      }
    }
  }

  /** Sends a signal. Returns when the service has recorded it; a workflow that is not yet waiting for it receives it later. */
  async signal<A extends unknown[] = unknown[]>(signal: Signal<A> | string, ...args: NoInfer<A>): Promise<void> {
    const requestId = this.#settings.requestId ?? randomId();
    const wanted = { ...this.#address(), signalName: definitionName(signal), args, requestId, headers: {} };
    await intercept(this.#context, "signal", wanted, async (input) => {
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
  update<A extends unknown[] = unknown[], R = unknown>(update: Update<A, R> | string, ...args: NoInfer<A>): Promise<R> {
    return this.executeUpdate<unknown[], R>(update as string, { args });
  }

  /** As `update`, with options: an id of the caller's own, a timeout. */
  async executeUpdate<A extends unknown[] = unknown[], R = unknown>(
    update: Update<A, R> | string,
    options: UpdateOptions & ArgsOption<NoInfer<A>>,
  ): Promise<R> {
    const updateName = definitionName(update);
    rejectUnknownOptions(`the update "${updateName}"`, options, UPDATE_OPTIONS);
    const settings = { ...this.#settings, ...options };
    const deadline = new Deadline(settings, undefined);
    const handle = await this.#startUpdate<R>(updateName, { ...options, waitFor: "completed" });
    const remaining = deadline.remaining();
    return handle.result({ signal: settings.signal, timeout: remaining === Infinity ? undefined : remaining });
  }

  /** Sends an update and returns once it is accepted or completed; `result()` of the handle waits for its answer. */
  async startUpdate<A extends unknown[] = unknown[], R = unknown>(
    update: Update<A, R> | string,
    options: StartUpdateOptions & ArgsOption<NoInfer<A>>,
  ): Promise<UpdateHandle<R>> {
    const updateName = definitionName(update);
    rejectUnknownOptions(`the update "${updateName}"`, options, START_UPDATE_OPTIONS);
    return await this.#startUpdate<R>(updateName, options);
  }

  #startUpdate<R>(updateName: string, options: StartUpdateOptions & { args?: readonly unknown[] }): Promise<UpdateHandle<R>> {
    const { args = [], updateId = randomId(), waitFor } = options;
    const wanted = { ...this.#address(), updateName, args, updateId, waitFor, headers: {} };
    const settings = { ...this.#settings, ...options };
    return intercept(
      this.#context,
      "update",
      wanted,
      (input) => startUpdate(this.#context, input, settings),
    ) as Promise<UpdateHandle<R>>;
  }

  /** An update that was asked for before, by its id. */
  // deno-lint-ignore no-explicit-any
  getUpdateHandle<R = unknown>(updateId: string, _update?: Update<any[], R>): UpdateHandle<R> {
    return new UpdateHandle<R>(this.#context, updateId, this.workflowId, this.#target);
  }

  /** Asks for a value of the workflow; works on closed workflows too, while a worker is running. */
  async query<R = unknown, A extends unknown[] = unknown[]>(query: Query<R, A> | string, ...args: NoInfer<A>): Promise<R> {
    const context = this.#context;
    const rejectCondition = this.#settings.queryRejectCondition;
    const wanted = { ...this.#address(), queryType: definitionName(query), args, rejectCondition, headers: {} };
    return await intercept(context, "query", wanted, async (input) => {
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
        return decodeOne(context, response.queryResult) as R;
      } catch (error) {
        // The handler's answer "no" and a malformed request have one code; the second cannot come from here.
        if (error instanceof ServiceError && error.code === Code.INVALID_ARGUMENT) {
          throw new QueryFailedError(queryType, error.message, { cause: error });
        }
        throw nameError(context, error, { what, workflowId, runId: input.runId });
      }
    }) as R;
  }

  /** Asks the workflow to stop; it may clean up first, or go on. */
  async cancel(reason = "", ...surplus: never[]): Promise<void> {
    rejectSurplusArguments("cancel", [reason, ...surplus], SETTINGS_FIRST);
    const wanted = { ...this.#address(), reason, requestId: this.#settings.requestId ?? randomId() };
    await intercept(this.#context, "cancel", wanted, async (input) => {
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
    rejectSurplusArguments("terminate", [reason], SETTINGS_FIRST);
    const wanted = { ...this.#address(), reason, details };
    await intercept(
      this.#context,
      "terminate",
      wanted,
      (input) => terminateWorkflow(this.#context, input, this.#deadline()),
    );
  }

  /**
   * Lets the workflow go on from an earlier point, in a new run; the handle that is answered knows that run. What was done after the point
   * is forgotten, and done again where the code does it again; signals, updates and cancel requests that came after it are given to the new
   * run, unless they are excluded. An open run is terminated. Throws WorkflowNotFoundError, and a TypeError where there is no such point.
   * The embedded engine cannot reset, and says so.
   *
   * @example
   * const again = await handle.reset({ type: "LAST_WORKFLOW_TASK", reason: "the tax rate was wrong" });
   * await again.result();
   */
  async reset(options: ResetOptions): Promise<WorkflowHandle<W>> {
    rejectUnknownOptions("reset", options, RESET_OPTIONS);
    const { reason, reapplyExclude = [], requestId, timeout, signal, ...point } = options;
    const deadline = this.#deadline({ timeout, signal });
    const id = requestId ?? this.#settings.requestId ?? randomId();
    const wanted = { ...this.#address(), point: point as ResetPoint, reason, reapplyExclude, requestId: id };
    checkPoint(wanted.point);
    const { runId } = await intercept(this.#context, "reset", wanted, async (input) => ({
      runId: await resetWorkflow(this.#context, input, deadline),
    }));
    return new WorkflowHandle<W>(this.#context, this.workflowId, { runId }, this.#settings);
  }

  /**
   * Removes the run with its history, from lists too; an open one is terminated first. A cluster does it some time after it has answered, a closed run perhaps a minute later.
   * Throws WorkflowNotFoundError.
   */
  async delete(...surplus: never[]): Promise<void> {
    rejectSurplusArguments("delete", surplus, SETTINGS_FIRST);
    await intercept(
      this.#context,
      "delete",
      this.#address(),
      (input) => deleteWorkflow(this.#context, input, this.#deadline()),
    );
  }

  /** What the service knows of the run: status, times, what is pending. Throws a WorkflowNotFoundError. */
  async describe(...surplus: never[]): Promise<WorkflowDescription> {
    rejectSurplusArguments("describe", surplus, SETTINGS_FIRST);
    const { namespace, converter } = this.#context;
    return await intercept(this.#context, "describe", this.#address(), async (input) => {
      const what = `the description of workflow ${input.workflowId}`;
      const response = await this.#call(what, "describeWorkflowExecution", input, { namespace, execution: execution(input) });
      const description = toDescription(response, converter);
      if (description === undefined) {
        throw new WorkflowNotFoundError("the service returned an empty description", input.workflowId, input.runId);
      }
      return description;
    });
  }

  /** The procedures that the run waits for, with their arguments, the oldest first. Throws a WorkflowNotFoundError. */
  async procedures(...surplus: never[]): Promise<OpenProcedure[]> {
    rejectSurplusArguments("procedures", surplus, SETTINGS_FIRST);
    return await openProcedures(this.#context, await this.describe(), this.#settings);
  }

  /**
   * Gives a procedure its result; answers the procedure's id. By its definition or name, of several that are open the oldest; or by its id.
   * Throws a ProcedureNotFoundError when it is not open, a WorkflowNotFoundError.
   */
  async completeProcedure<R = unknown>(which: WhichProcedure<R>, value?: NoInfer<R>, ...surplus: never[]): Promise<string> {
    rejectSurplusArguments("completeProcedure", surplus, SETTINGS_FIRST);
    return await answerProcedure(this.#context, await this.describe(), which, { value }, this.#settings);
  }

  /** Fails a procedure, as `completeProcedure`: the workflow gets an ActivityFailure with `error` as its cause. */
  async failProcedure(which: WhichProcedure, error: unknown, ...surplus: never[]): Promise<string> {
    rejectSurplusArguments("failProcedure", surplus, SETTINGS_FIRST);
    return await answerProcedure(this.#context, await this.describe(), which, { error }, this.#settings);
  }

  /** The events of the run, one by one; with `follow` as they come, until the run closes. */
  async *history(options: HistoryOptions = {}): AsyncGenerator<HistoryEvent, void, void> {
    rejectUnknownOptions("history", options, HISTORY_OPTIONS);
    try {
      yield* readEvents(this.#context, this.workflowId, this.#target, { ...this.#settings, ...options });
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

  #deadline(settings: CallSettings = {}): Deadline {
    const { timeout = this.#settings.timeout, signal = this.#settings.signal } = settings;
    return deadlineOf(this.#context, { timeout, signal }, CALL_TIMEOUT_MS);
  }

  async #call<M extends MethodName>(
    what: string,
    method: M,
    { workflowId, runId }: WorkflowTarget,
    request: Parameters<TypedService[M]>[0],
  ) {
    const context = this.#context;
    try {
      return await context.calls.call(method, request, this.#deadline());
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
}

function execution({ workflowId, runId }: WorkflowTarget) {
  return { workflowId, runId: runId ?? "" };
}
