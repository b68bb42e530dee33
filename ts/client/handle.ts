// A workflow by its id, with all requests to it. A handle has only ids; creating one sends no
// request.
import {
  type OptionNames,
  rejectSurplusArguments,
  rejectUnknownOptions,
} from "../base/option_names.ts";
import { enumName } from "../converter/enums.ts";
import { randomId } from "../platform/host.ts";
import { Code, type MethodName, ServiceError } from "../service/raw.ts";
import type { TypedService } from "../service/typed.ts";
import { QueryRejectCondition } from "../messages/generated/temporal/api/enums/v1/query_pb.ts";
import { WorkflowExecutionStatus } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type {
  History,
  HistoryEvent,
} from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  CALL_SETTINGS,
  CALL_TIMEOUT_MS,
  type CallSettings,
  Deadline,
  QUERY_TIMEOUT_MS,
} from "./calls.ts";
import {
  deadlineOf,
  decodeOne,
  encodeArgs,
  headerField,
  nameError,
  type Target,
} from "./context.ts";
import type {
  AnyWorkflow,
  ArgsOption,
  Query,
  Signal,
  Update,
  WorkflowResult,
} from "./definitions.ts";
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
import {
  answerProcedure,
  type OpenProcedure,
  openProcedures,
  type WhichProcedure,
} from "./procedures.ts";
import { resetWorkflow } from "./reset.ts";
import { checkPoint, RESET_OPTIONS, type ResetOptions, type ResetPoint } from "./reset_options.ts";
import {
  startUpdate,
  type StartUpdateOptions,
  UpdateHandle,
  type UpdateOptions,
} from "./updates.ts";

/** Options of `handle.result`. */
export interface ResultOptions extends CallSettings {
  /** Follow continue-as-new, retries and cron to the last run. Default: true. */
  followRuns?: boolean;
}

/** Settings of all calls through `handle.with(...)`. */
export interface HandleSettings extends CallSettings {
  /**
   * Reject queries to a closed workflow (NOT_OPEN), or to one that did not complete
   * (NOT_COMPLETED_CLEANLY).
   */
  queryRejectCondition?: "NOT_OPEN" | "NOT_COMPLETED_CLEANLY";
  /** Deduplicates signals and cancel requests. Default: a new id for each call. */
  requestId?: string;
}

/** Advice for settings passed to a method without options. */
const SETTINGS_FIRST = 'settings of calls go to the handle first: handle.with({ timeout: "5s" })';
const HANDLE_SETTINGS: OptionNames<HandleSettings> = {
  queryRejectCondition: 1,
  requestId: 1,
  ...CALL_SETTINGS,
};
const RESULT_OPTIONS: OptionNames<ResultOptions> = { followRuns: 1, ...CALL_SETTINGS };
const UPDATE_OPTIONS: OptionNames<UpdateOptions & { args: unknown }> = {
  args: 1,
  updateId: 1,
  ...CALL_SETTINGS,
};
const START_UPDATE_OPTIONS: OptionNames<StartUpdateOptions> = { ...UPDATE_OPTIONS, waitFor: 1 };

/** The run of a handle. */
export interface HandleIds {
  /** The run; undefined: the current one of the workflow id. */
  runId?: string | undefined;
  /** Calls go only to `runId`. */
  pinned?: boolean;
  firstExecutionRunId?: string | undefined;
}

/** A workflow by its id. Creating a handle sends no request; each call does. */
export class WorkflowHandle<W extends AnyWorkflow = string> {
  readonly workflowId: string;
  /**
   * The run of `start` or `getHandle`. Calls through a started handle go to the current run, which
   * changes with continue-as-new; calls through `getHandle(workflow, id, runId)` go to that run.
   */
  readonly runId: string | undefined;
  /**
   * The run that a start created or joined. Calls also apply to later runs of its chain
   * (continue-as-new, retry).
   */
  readonly firstExecutionRunId: string | undefined;
  readonly #context: OperationContext;
  readonly #ids: HandleIds;
  /** Run id in calls; undefined: the current run. */
  readonly #target: string | undefined;
  readonly #settings: HandleSettings;

  /** Created by `client.start`, `client.signalWithStart` and `client.getHandle`. */
  constructor(
    context: OperationContext,
    workflowId: string,
    ids: HandleIds = {},
    settings: HandleSettings = {},
  ) {
    this.#context = context;
    this.workflowId = workflowId;
    this.runId = ids.runId;
    this.firstExecutionRunId = ids.firstExecutionRunId;
    this.#ids = ids;
    this.#target = ids.pinned ? ids.runId : undefined;
    this.#settings = settings;
  }

  /**
   * Returns the same workflow with settings for each call: `handle.with({ timeout: "2s"
   * }).query(status)`.
   */
  with(settings: HandleSettings): WorkflowHandle<W> {
    rejectUnknownOptions("with", settings, HANDLE_SETTINGS);
    return new WorkflowHandle<W>(this.#context, this.workflowId, this.#ids, {
      ...this.#settings,
      ...settings,
    });
  }

  /**
   * Waits for the workflow's result. Throws WorkflowFailedError (`cause`: failed, canceled,
   * terminated or timed out), WorkflowNotFoundError, DeadlineExceededError after `timeout`, and
   * WorkflowContinuedAsNewError with `followRuns: false`.
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

  /**
   * Sends a signal. Returns when the service has recorded it; a workflow that does not wait for it
   * yet receives it later.
   */
  async signal<A extends unknown[] = unknown[]>(
    signal: Signal<A> | string,
    ...args: NoInfer<A>
  ): Promise<void> {
    const requestId = this.#settings.requestId ?? randomId();
    const wanted = {
      ...this.#address(),
      signalName: definitionName(signal),
      args,
      requestId,
      headers: {},
    };
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

  /** Sends an update and waits for its result. Throws like `UpdateHandle.result`. */
  update<A extends unknown[] = unknown[], R = unknown>(
    update: Update<A, R> | string,
    ...args: NoInfer<A>
  ): Promise<R> {
    return this.executeUpdate<unknown[], R>(update as string, { args });
  }

  /** Same as `update`, with options: an update id, a timeout. */
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
    return handle.result({
      signal: settings.signal,
      timeout: remaining === Infinity ? undefined : remaining,
    });
  }

  /**
   * Sends an update and returns once it is accepted or completed; `result()` of the handle waits
   * for its result.
   */
  async startUpdate<A extends unknown[] = unknown[], R = unknown>(
    update: Update<A, R> | string,
    options: StartUpdateOptions & ArgsOption<NoInfer<A>>,
  ): Promise<UpdateHandle<R>> {
    const updateName = definitionName(update);
    rejectUnknownOptions(`the update "${updateName}"`, options, START_UPDATE_OPTIONS);
    return await this.#startUpdate<R>(updateName, options);
  }

  #startUpdate<R>(
    updateName: string,
    options: StartUpdateOptions & { args?: readonly unknown[] },
  ): Promise<UpdateHandle<R>> {
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

  /** Returns a handle for an earlier update by its id. */
  // deno-lint-ignore no-explicit-any
  getUpdateHandle<R = unknown>(updateId: string, _update?: Update<any[], R>): UpdateHandle<R> {
    return new UpdateHandle<R>(this.#context, updateId, this.workflowId, this.#target);
  }

  /** Queries the workflow; works for closed workflows too, while a worker is running. */
  async query<R = unknown, A extends unknown[] = unknown[]>(
    query: Query<R, A> | string,
    ...args: NoInfer<A>
  ): Promise<R> {
    const context = this.#context;
    const rejectCondition = this.#settings.queryRejectCondition;
    const wanted = {
      ...this.#address(),
      queryType: definitionName(query),
      args,
      rejectCondition,
      headers: {},
    };
    return await intercept(context, "query", wanted, async (input) => {
      const { queryType, workflowId, rejectCondition: reject } = input;
      const what = `query "${queryType}"`;
      const queryArgs = encodeArgs(context, `the arguments of ${what}`, input.args);
      const request = {
        namespace: context.namespace,
        execution: execution(input),
        query: { queryType, queryArgs, ...headerField(input.headers) },
        queryRejectCondition: reject === undefined
          ? QueryRejectCondition.NONE
          : QueryRejectCondition[reject],
      };
      try {
        const response = await context.calls.call(
          "queryWorkflow",
          request,
          deadlineOf(context, this.#settings, QUERY_TIMEOUT_MS),
        );
        if (response.queryRejected !== undefined) {
          const status = enumName(WorkflowExecutionStatus, response.queryRejected.status) ??
            "UNKNOWN";
          throw new QueryRejectedError(queryType, workflowId, status);
        }
        return decodeOne(context, response.queryResult) as R;
      } catch (error) {
        // A failed query and a malformed request have the same code; this client sends no malformed
        // ones.
        if (error instanceof ServiceError && error.code === Code.INVALID_ARGUMENT) {
          throw new QueryFailedError(queryType, error.message, { cause: error });
        }
        throw nameError(context, error, { what, workflowId, runId: input.runId });
      }
    }) as R;
  }

  /** Requests cancellation. The workflow can clean up first, or continue. */
  async cancel(reason = "", ...surplus: never[]): Promise<void> {
    rejectSurplusArguments("cancel", [reason, ...surplus], SETTINGS_FIRST);
    const wanted = {
      ...this.#address(),
      reason,
      requestId: this.#settings.requestId ?? randomId(),
    };
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

  /** Terminates the workflow at once; its code is not notified. */
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
   * Resets the workflow to an earlier point, in a new run. Returns a handle for that run. The code
   * runs again from that point; later signals, updates and cancel requests are applied to the new
   * run unless excluded. An open run is terminated. Throws WorkflowNotFoundError, and a TypeError
   * for an invalid point.
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
    const wanted = {
      ...this.#address(),
      point: point as ResetPoint,
      reason,
      reapplyExclude,
      requestId: id,
    };
    checkPoint(wanted.point);
    const { runId } = await intercept(this.#context, "reset", wanted, async (input) => ({
      runId: await resetWorkflow(this.#context, input, deadline),
    }));
    return new WorkflowHandle<W>(this.#context, this.workflowId, { runId }, this.#settings);
  }

  /**
   * Deletes the run with its history; an open one is terminated first. A cluster deletes
   * asynchronously, a closed run up to a minute later. Throws WorkflowNotFoundError.
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

  /** Returns status, times and pending work of the run. Throws a WorkflowNotFoundError. */
  async describe(...surplus: never[]): Promise<WorkflowDescription> {
    rejectSurplusArguments("describe", surplus, SETTINGS_FIRST);
    const { namespace, converter } = this.#context;
    return await intercept(this.#context, "describe", this.#address(), async (input) => {
      const what = `the description of workflow ${input.workflowId}`;
      const response = await this.#call(what, "describeWorkflowExecution", input, {
        namespace,
        execution: execution(input),
      });
      const description = toDescription(response, converter);
      if (description === undefined) {
        throw new WorkflowNotFoundError(
          "the service returned an empty description",
          input.workflowId,
          input.runId,
        );
      }
      return description;
    });
  }

  /**
   * Returns the pending procedures with their arguments, oldest first. Throws a
   * WorkflowNotFoundError.
   */
  async procedures(...surplus: never[]): Promise<OpenProcedure[]> {
    rejectSurplusArguments("procedures", surplus, SETTINGS_FIRST);
    return await openProcedures(this.#context, await this.describe(), this.#settings);
  }

  /**
   * Completes a procedure with a result; returns the procedure's id. By definition or name, selects
   * the oldest pending one; or by id. Throws a ProcedureNotFoundError if it is not pending, and a
   * WorkflowNotFoundError.
   */
  async completeProcedure<R = unknown>(
    which: WhichProcedure<R>,
    value?: NoInfer<R>,
    ...surplus: never[]
  ): Promise<string> {
    rejectSurplusArguments("completeProcedure", surplus, SETTINGS_FIRST);
    return await this.#answer(which, { value });
  }

  /**
   * Fails a procedure, selected as in `completeProcedure`: the workflow receives an ActivityFailure
   * with `error` as its cause.
   */
  async failProcedure(which: WhichProcedure, error: unknown, ...surplus: never[]): Promise<string> {
    rejectSurplusArguments("failProcedure", surplus, SETTINGS_FIRST);
    return await this.#answer(which, { error });
  }

  #answer(which: WhichProcedure, answer: { value: unknown } | { error: unknown }): Promise<string> {
    const isOnlyRun = this.#target !== undefined;
    const describe = () => this.describe();
    return answerProcedure(this.#context, describe, which, answer, this.#settings, isOnlyRun);
  }

  /** Returns the events of the run; with `follow` also new ones, until the run closes. */
  async *history(options: HistoryOptions = {}): AsyncGenerator<HistoryEvent, void, void> {
    rejectUnknownOptions("history", options, HISTORY_OPTIONS);
    try {
      yield* readEvents(this.#context, this.workflowId, this.#target, {
        ...this.#settings,
        ...options,
      });
    } catch (error) {
      throw nameError(
        this.#context,
        error,
        this.#name(`the history of workflow ${this.workflowId}`),
      );
    }
  }

  /** Returns the whole history as a message. */
  fetchHistory(options: HistoryOptions = {}): Promise<History> {
    return collectHistory(this.history(options));
  }

  /**
   * Returns the history as JSON, in the form of `temporal workflow show --output json`, which
   * Temporal's UI and replayers load.
   */
  async historyJson(options: HistoryOptions = {}): Promise<string> {
    return historyToJson(await this.fetchHistory(options));
  }

  /** Returns the history as bytes of temporal.api.history.v1.History. */
  async historyBytes(options: HistoryOptions = {}): Promise<Uint8Array> {
    return historyToBytes(await this.fetchHistory(options));
  }

  #address(): WorkflowTarget {
    return {
      workflowId: this.workflowId,
      runId: this.#target,
      firstExecutionRunId: this.firstExecutionRunId,
    };
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
