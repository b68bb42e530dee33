// Errors of client calls, with advice. All other errors of the service are ServiceErrors. No class
// here hides a failure of the workflow: `cause` has it.
import type { RetryState, TemporalFailure } from "../converter/failures.ts";
import type { MissedSubscriber } from "../service/broadcast.ts";

/**
 * The workflow closed without a result: failed, canceled, terminated, or timed out. `cause` has the
 * reason.
 */
export class WorkflowFailedError extends Error {
  override name = "WorkflowFailedError";
  /** The failure that closed the run. */
  override readonly cause: TemporalFailure;
  readonly workflowId: string;
  /** The closed run. */
  readonly runId: string;
  /** Reason why it was not retried; undefined if the service does not report it. */
  readonly retryState: RetryState | undefined;

  constructor(
    message: string,
    workflowId: string,
    runId: string,
    cause: TemporalFailure,
    retryState?: RetryState,
  ) {
    super(message, { cause });
    this.cause = cause;
    this.workflowId = workflowId;
    this.runId = runId;
    this.retryState = retryState;
  }
}

/** The run continued as new, and the caller waits for this run only (`followRuns: false`). */
export class WorkflowContinuedAsNewError extends Error {
  override name = "WorkflowContinuedAsNewError";
  readonly workflowId: string;
  readonly newExecutionRunId: string;

  constructor(workflowId: string, newExecutionRunId: string) {
    super(
      `workflow ${workflowId} continued as new in run ${newExecutionRunId}; ` +
        "call result() without followRuns: false to wait for the last run",
    );
    this.workflowId = workflowId;
    this.newExecutionRunId = newExecutionRunId;
  }
}

/**
 * The standalone activity closed without a result: it failed, timed out, or was canceled or
 * terminated. `cause` has the reason.
 */
export class ActivityFailedError extends Error {
  override name = "ActivityFailedError";
  /** The failure that closed the activity. */
  override readonly cause: TemporalFailure;
  readonly id: string;
  /** The closed activity, if the service reports it. */
  readonly runId: string | undefined;

  constructor(id: string, runId: string | undefined, cause: TemporalFailure) {
    super(`activity ${id} failed: ${cause.message}`, { cause });
    this.cause = cause;
    this.id = id;
    this.runId = runId;
  }
}

/** A standalone activity with this id is open, or the reuse policy forbids another one. */
export class ActivityAlreadyStartedError extends Error {
  override name = "ActivityAlreadyStartedError";
  /** The id in use. */
  readonly id: string;
  /** The conflicting activity, if the service reports it. */
  readonly runId: string | undefined;

  constructor(id: string, runId: string | undefined, options?: ErrorOptions) {
    super(
      `activity ${id} already exists${runId === undefined ? "" : ` (run ${runId})`}; use another ` +
        `id, idConflictPolicy: "USE_EXISTING" to use the open activity, or an idReusePolicy that allows a new one`,
      options,
    );
    this.id = id;
    this.runId = runId;
  }
}

/**
 * A broadcast has reached only some subscribers; others, for instance, have the maximum number of
 * pending signals. Do not repeat the broadcast, which would signal reached ones twice: signal the
 * others by id.
 */
export class BroadcastIncompleteError extends Error {
  override name = "BroadcastIncompleteError";
  /** Number of workflows that received the signal. */
  readonly reached: number;
  /** Workflows that did not receive it, with the reason. */
  readonly missed: readonly MissedSubscriber[];

  constructor(what: string, reached: number, missed: readonly MissedSubscriber[]) {
    const some = missed.slice(0, 3).map(({ workflowId, reason }) => `${workflowId} (${reason})`)
      .join(", ");
    super(
      `${what} reached ${reached} of ${reached + missed.length} subscribers; not ${some}` +
        `${
          missed.length > 3 ? ` and ${missed.length - 3} more` : ""
        }; resend the signal to the ids in "missed"`,
    );
    this.reached = reached;
    this.missed = missed;
  }
}

/**
 * The update was accepted and its handler failed, or (subclass) it was rejected. `cause` is what
 * the workflow threw.
 */
export class WorkflowUpdateFailedError extends Error {
  override name = "WorkflowUpdateFailedError";
  /** What the workflow threw. */
  override readonly cause: TemporalFailure;
  readonly updateId: string;

  constructor(message: string, updateId: string, cause: TemporalFailure) {
    super(message, { cause });
    this.cause = cause;
    this.updateId = updateId;
  }
}

/**
 * A validator rejected the update, or no `receive` handles its name at present. History does not
 * contain it.
 */
export class WorkflowUpdateRejectedError extends WorkflowUpdateFailedError {
  override name = "WorkflowUpdateRejectedError";
}

/** The query has no handler, its handler threw, or its arguments are invalid. */
export class QueryFailedError extends Error {
  override name = "QueryFailedError";
  readonly queryType: string;

  constructor(queryType: string, message: string, options?: ErrorOptions) {
    super(`query "${queryType}" failed: ${message}`, options);
    this.queryType = queryType;
  }
}

/**
 * The function of `client.call` threw an error; its transaction was rolled back. `cause` is what it
 * threw.
 */
export class FunctionFailedError extends Error {
  override name = "FunctionFailedError";
  readonly functionName: string;
  /** What the function threw. */
  override readonly cause: TemporalFailure;

  constructor(functionName: string, cause: TemporalFailure) {
    super(`function "${functionName}" failed and was rolled back: ${cause.message}`, { cause });
    this.functionName = functionName;
    this.cause = cause;
  }
}

/** The workflow's status matches the `rejectCondition` of the query. */
export class QueryRejectedError extends Error {
  override name = "QueryRejectedError";
  readonly queryType: string;
  /** Status of the workflow, as in {@link WorkflowStatus}. */
  readonly status: string;

  constructor(queryType: string, workflowId: string, status: string) {
    super(
      `query "${queryType}" was rejected by rejectCondition: workflow ${workflowId} is ${status}; omit rejectCondition to query it`,
    );
    this.queryType = queryType;
    this.status = status;
  }
}

/**
 * The workflow has the maximum number of updates: pending ones ("inFlight", after retries), or
 * those of the whole run ("total"). History does not contain this one.
 */
export class WorkflowUpdateLimitError extends Error {
  override name = "WorkflowUpdateLimitError";
  readonly workflowId: string;
  /** Id of the rejected update. */
  readonly updateId: string;
  /** The exceeded limit. */
  readonly limit: "inFlight" | "total";

  constructor(
    what: string,
    workflowId: string,
    updateId: string,
    limit: "inFlight" | "total",
    options: ErrorOptions,
  ) {
    super(
      `${what} was not accepted: ${
        (options.cause as Error).message
      } (workflow id ${workflowId}); ` +
        (limit === "inFlight"
          ? "resend it when other updates have completed, or raise limits.updatesInFlight of the engine " +
            "(history.maxInFlightUpdates of a Temporal server)"
          : "let the workflow continue as new when workflowInfo().continueAsNewSuggested is true, or raise limits.updates of the " +
            "engine (history.maxTotalUpdates of a Temporal server)"),
      options,
    );
    this.workflowId = workflowId;
    this.updateId = updateId;
    this.limit = limit;
  }
}

/** The workflow does not exist, or is closed and accepts no messages. */
export class WorkflowNotFoundError extends Error {
  override name = "WorkflowNotFoundError";
  /** Id in the call. */
  readonly workflowId: string;
  /** Run in the call; undefined: the current one. */
  readonly runId: string | undefined;

  constructor(
    message: string,
    workflowId: string,
    runId: string | undefined,
    options?: ErrorOptions,
  ) {
    const ids = Object.entries({ "workflow id": workflowId, "run id": runId })
      .filter(([, id]) => id !== undefined && !message.includes(id))
      .map((id) => id.join(" "));
    const which = ids.length === 0 ? "" : ` (${ids.join(", ")})`;
    const advice = /already completed/.test(message)
      ? "the workflow is closed and accepts no messages; its result is still available"
      : "check the id and the namespace; closed workflows are removed after the retention time";
    super(`${message}${which}; ${advice}`, options);
    this.workflowId = workflowId;
    this.runId = runId;
  }
}

/** A workflow with this id is running, or the reuse policy forbids another one. */
export class WorkflowExecutionAlreadyStartedError extends Error {
  override name = "WorkflowExecutionAlreadyStartedError";
  /** The id in use. */
  readonly workflowId: string;
  /** Type of the rejected start. */
  readonly workflowType: string;
  /** The conflicting run, if the service reports it. */
  readonly runId: string | undefined;

  constructor(
    workflowId: string,
    workflowType: string,
    runId: string | undefined,
    options?: ErrorOptions,
  ) {
    super(
      `workflow ${workflowId} already exists${
        runId === undefined ? "" : ` (run ${runId})`
      }; use another id, ` +
        `idConflictPolicy: "USE_EXISTING" to use the running workflow, or an idReusePolicy that allows a new run`,
      options,
    );
    this.workflowId = workflowId;
    this.workflowType = workflowType;
    this.runId = runId;
  }
}

/**
 * The deadline of the call passed without a response. The request may still take effect: repeat an
 * update with the same id.
 */
export class DeadlineExceededError extends Error {
  override name = "DeadlineExceededError";
  /** Id of the update; a second call with it has no second effect. */
  readonly updateId: string | undefined;

  /** `because`: why the service did not respond, if known. */
  constructor(what: string, updateId?: string, options?: ErrorOptions, because?: string) {
    const late = `${what} did not complete before the deadline${
      because === undefined ? "" : `: ${because}`
    }`;
    const advice = updateId !== undefined
      ? `; it may still complete: retry with updateId "${updateId}"`
      : because === undefined
      ? "; increase the timeout, and check that a worker is running"
      : "";
    super(`${late}${advice}`, options);
    this.updateId = updateId;
  }
}

/**
 * The activity does not accept this completion: it is completed, timed out, canceled, or its
 * workflow is closed. Of calls about a standalone activity: it does not exist, or is closed.
 */
export class ActivityNotFoundError extends Error {
  override name = "ActivityNotFoundError";

  constructor(
    message: string,
    options?: ErrorOptions,
    advice = "the activity was completed already, has timed out, or its workflow has ended",
  ) {
    super(`${message}; ${advice}`, options);
  }
}

/**
 * The workflow has no such pending procedure: it is completed, timed out, canceled, or was never
 * requested.
 */
export class ProcedureNotFoundError extends Error {
  override name = "ProcedureNotFoundError";
  readonly workflowId: string;
  readonly runId: string;
  /** Name or id in the call. */
  readonly procedure: string;

  /** Created by the client from the call and the pending procedures. */
  constructor(
    wanted: { readonly id: string } | { readonly name: string },
    run: {
      readonly workflowId: string;
      readonly runId: string;
      readonly status: string;
      readonly pendingProcedures: readonly { readonly name: string; readonly id: string }[];
    },
    options?: ErrorOptions,
  ) {
    const { workflowId, runId, status, pendingProcedures } = run;
    const which = "id" in wanted ? `with the id "${wanted.id}"` : `"${wanted.name}"`;
    const open = pendingProcedures.slice(0, 20).map(({ name, id }) => `"${name}" (id ${id})`).join(
      ", ",
    );
    const why = status !== "RUNNING"
      ? `the workflow is ${status}`
      : `it has completed, timed out or been canceled, or was never called; open procedures: ${
        open === "" ? "none" : open
      }`;
    super(`workflow ${workflowId} has no open procedure ${which}: ${why}`, options);
    this.workflowId = workflowId;
    this.runId = runId;
    this.procedure = "id" in wanted ? wanted.id : wanted.name;
  }
}

/** The response to a heartbeat cancels the activity. */
export class ActivityCancelledError extends Error {
  override name = "ActivityCancelledError";
  /** Reason: canceled by its workflow, or reset or paused. */
  readonly reason: "CANCELLED" | "RESET" | "PAUSED";

  constructor(reason: "CANCELLED" | "RESET" | "PAUSED") {
    super(
      `cancellation of the activity was requested (${reason}); clean up and report the cancellation`,
    );
    this.reason = reason;
  }
}

/** The namespace does not exist on this service. */
export class NamespaceNotFoundError extends Error {
  override name = "NamespaceNotFoundError";
  /** The unknown namespace. */
  readonly namespace: string;

  constructor(namespace: string, options?: ErrorOptions) {
    super(
      `namespace "${namespace}" does not exist on this service; check the client's \`namespace\``,
      options,
    );
    this.namespace = namespace;
  }
}

/** A schedule with this id exists already. */
export class ScheduleAlreadyRunningError extends Error {
  override name = "ScheduleAlreadyRunningError";
  /** The id in use. */
  readonly scheduleId: string;

  constructor(scheduleId: string, options?: ErrorOptions) {
    super(
      `schedule ${scheduleId} already exists; use another id, or change it with getHandle("${scheduleId}").update(...)`,
      options,
    );
    this.scheduleId = scheduleId;
  }
}

/** The schedule does not exist. */
export class ScheduleNotFoundError extends Error {
  override name = "ScheduleNotFoundError";
  /** Id in the call. */
  readonly scheduleId: string;

  constructor(scheduleId: string, options?: ErrorOptions) {
    super(
      `schedule ${scheduleId} not found; check the id and the namespace, and whether it was deleted`,
      options,
    );
    this.scheduleId = scheduleId;
  }
}
