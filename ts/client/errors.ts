// What a client call can throw, each with what happened and what to do about it. Everything that the service refuses for another
// reason passes through as a ServiceError. A class here never hides a failure of the workflow: `cause` is the failure as it was thrown.
import type { RetryState, TemporalFailure } from "../converter/failures.ts";
import type { MissedSubscriber } from "../service/broadcast.ts";

/** The workflow ended without a result: it failed, was cancelled or terminated, or timed out. `cause` says which and why. */
export class WorkflowFailedError extends Error {
  override name = "WorkflowFailedError";
  /** How it ended: the failure as it was thrown. */
  override readonly cause: TemporalFailure;
  /** Id of the workflow. */
  readonly workflowId: string;
  /** The run that ended. */
  readonly runId: string;
  /** Why it was not retried any more; undefined where the service does not say. */
  readonly retryState: RetryState | undefined;

  constructor(message: string, workflowId: string, runId: string, cause: TemporalFailure, retryState?: RetryState) {
    super(message, { cause });
    this.cause = cause;
    this.workflowId = workflowId;
    this.runId = runId;
    this.retryState = retryState;
  }
}

/** The run continued as new and the caller asked for this run only (`followRuns: false`). */
export class WorkflowContinuedAsNewError extends Error {
  override name = "WorkflowContinuedAsNewError";
  /** Id of the workflow. */
  readonly workflowId: string;
  /** The run that goes on. */
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
 * A broadcast has reached some of its subscribers and not the others: they have as many signals waiting as they may have, for instance.
 * Those that were reached have the signal; a second broadcast would give it to them again, so send it to the others by their ids.
 */
export class BroadcastIncompleteError extends Error {
  override name = "BroadcastIncompleteError";
  /** How many have the signal. */
  readonly reached: number;
  /** Who does not, and why. */
  readonly missed: readonly MissedSubscriber[];

  constructor(what: string, reached: number, missed: readonly MissedSubscriber[]) {
    const some = missed.slice(0, 3).map(({ workflowId, reason }) => `${workflowId} (${reason})`).join(", ");
    super(
      `${what} reached ${reached} of ${reached + missed.length} subscribers; not ${some}` +
        `${missed.length > 3 ? ` and ${missed.length - 3} more` : ""}; resend the signal to the ids in "missed"`,
    );
    this.reached = reached;
    this.missed = missed;
  }
}

/** The update was accepted and its handler failed, or (its subclass) it was not accepted. `cause` is what the workflow threw. */
export class WorkflowUpdateFailedError extends Error {
  override name = "WorkflowUpdateFailedError";
  /** What the workflow threw. */
  override readonly cause: TemporalFailure;
  /** Id of the update. */
  readonly updateId: string;

  constructor(message: string, updateId: string, cause: TemporalFailure) {
    super(message, { cause });
    this.cause = cause;
    this.updateId = updateId;
  }
}

/** A validator refused the update, or no `receive` handles its name at this moment: the workflow has no trace of it. */
export class WorkflowUpdateRejectedError extends WorkflowUpdateFailedError {
  override name = "WorkflowUpdateRejectedError";
}

/** The query has no handler, its handler threw, or its arguments did not fit. */
export class QueryFailedError extends Error {
  override name = "QueryFailedError";
  /** Name of the query. */
  readonly queryType: string;

  constructor(queryType: string, message: string, options?: ErrorOptions) {
    super(`query "${queryType}" failed: ${message}`, options);
    this.queryType = queryType;
  }
}

/** The workflow is in a state in which the caller did not want an answer (`rejectCondition`). */
export class QueryRejectedError extends Error {
  override name = "QueryRejectedError";
  /** Name of the query. */
  readonly queryType: string;
  /** The status in which the workflow is, as {@link WorkflowStatus} names it. */
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
 * The workflow has as many updates as it may have: not answered at the same time ("inFlight"; the call has waited and asked again before
 * this), or in the life of the run ("total"). It has no trace of this one.
 */
export class WorkflowUpdateLimitError extends Error {
  override name = "WorkflowUpdateLimitError";
  /** Id of the workflow. */
  readonly workflowId: string;
  /** Id of the update that was not taken. */
  readonly updateId: string;
  /** Which limit it is. */
  readonly limit: "inFlight" | "total";

  constructor(
    what: string,
    workflowId: string,
    updateId: string,
    limit: "inFlight" | "total",
    options: ErrorOptions,
  ) {
    super(
      `${what} was not accepted: ${(options.cause as Error).message} (workflow id ${workflowId}); ` +
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

/** No such workflow, or it has ended and can take no more messages. */
export class WorkflowNotFoundError extends Error {
  override name = "WorkflowNotFoundError";
  /** The id that was asked for. */
  readonly workflowId: string;
  /** The run that was asked for; undefined: the current one. */
  readonly runId: string | undefined;

  constructor(message: string, workflowId: string, runId: string | undefined, options?: ErrorOptions) {
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

/** A workflow with this id runs already, or the reuse policy forbids another one. */
export class WorkflowExecutionAlreadyStartedError extends Error {
  override name = "WorkflowExecutionAlreadyStartedError";
  /** The id that is taken. */
  readonly workflowId: string;
  /** The type that was to be started. */
  readonly workflowType: string;
  /** The run in the way, where the service names it. */
  readonly runId: string | undefined;

  constructor(workflowId: string, workflowType: string, runId: string | undefined, options?: ErrorOptions) {
    super(
      `workflow ${workflowId} already exists${runId === undefined ? "" : ` (run ${runId})`}; use another id, ` +
        `idConflictPolicy: "USE_EXISTING" to use the running workflow, or an idReusePolicy that allows a new run`,
      options,
    );
    this.workflowId = workflowId;
    this.workflowType = workflowType;
    this.runId = runId;
  }
}

/** The deadline of the call passed before the answer. What was asked may still happen: for an update, ask again with the same id. */
export class DeadlineExceededError extends Error {
  override name = "DeadlineExceededError";
  /** The id under which an update goes on; a second call with it never has a second effect. */
  readonly updateId: string | undefined;

  /** `because`: what kept the service from answering, where it said so. */
  constructor(what: string, updateId?: string, options?: ErrorOptions, because?: string) {
    const late = `${what} did not complete before the deadline${because === undefined ? "" : `: ${because}`}`;
    const advice = updateId !== undefined
      ? `; it may still complete: retry with updateId "${updateId}"`
      : because === undefined
      ? "; increase the timeout, and check that a worker is running"
      : "";
    super(`${late}${advice}`, options);
    this.updateId = updateId;
  }
}

/** The activity is not waiting for this completion: completed already, timed out, cancelled, or the workflow has ended. */
export class ActivityNotFoundError extends Error {
  override name = "ActivityNotFoundError";

  constructor(message: string, options?: ErrorOptions) {
    super(`${message}; the activity was completed already, has timed out, or its workflow has ended`, options);
  }
}

/** The workflow has no such procedure open: it was answered before, has timed out, was cancelled, or was never asked for. */
export class ProcedureNotFoundError extends Error {
  override name = "ProcedureNotFoundError";
  /** The workflow that was asked. */
  readonly workflowId: string;
  /** Its run. */
  readonly runId: string;
  /** The name or id that was asked for. */
  readonly procedure: string;

  /** Made by the client, from what it asked for and what the run has open. */
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
    const open = pendingProcedures.slice(0, 20).map(({ name, id }) => `"${name}" (id ${id})`).join(", ");
    const why = status !== "RUNNING"
      ? `the workflow is ${status}`
      : `it has completed, timed out or been canceled, or was never called; open procedures: ${open === "" ? "none" : open}`;
    super(`workflow ${workflowId} has no open procedure ${which}: ${why}`, options);
    this.workflowId = workflowId;
    this.runId = runId;
    this.procedure = "id" in wanted ? wanted.id : wanted.name;
  }
}

/** A heartbeat learned that the activity is to stop. */
export class ActivityCancelledError extends Error {
  override name = "ActivityCancelledError";
  /** Why: its workflow wants it, or the activity was reset or paused. */
  readonly reason: "CANCELLED" | "RESET" | "PAUSED";

  constructor(reason: "CANCELLED" | "RESET" | "PAUSED") {
    super(`cancellation of the activity was requested (${reason}); clean up and report the cancellation`);
    this.reason = reason;
  }
}

/** The namespace does not exist on this service. */
export class NamespaceNotFoundError extends Error {
  override name = "NamespaceNotFoundError";
  /** The name that the service does not know. */
  readonly namespace: string;

  constructor(namespace: string, options?: ErrorOptions) {
    super(`namespace "${namespace}" does not exist on this service; check the client's \`namespace\``, options);
    this.namespace = namespace;
  }
}

/** A schedule with this id is there already. */
export class ScheduleAlreadyRunningError extends Error {
  override name = "ScheduleAlreadyRunningError";
  /** The id that is taken. */
  readonly scheduleId: string;

  constructor(scheduleId: string, options?: ErrorOptions) {
    super(
      `schedule ${scheduleId} already exists; use another id, or change it with getHandle("${scheduleId}").update(...)`,
      options,
    );
    this.scheduleId = scheduleId;
  }
}

/** There is no schedule with this id. */
export class ScheduleNotFoundError extends Error {
  override name = "ScheduleNotFoundError";
  /** The id that was asked for. */
  readonly scheduleId: string;

  constructor(scheduleId: string, options?: ErrorOptions) {
    super(`schedule ${scheduleId} not found; check the id and the namespace, and whether it was deleted`, options);
    this.scheduleId = scheduleId;
  }
}
