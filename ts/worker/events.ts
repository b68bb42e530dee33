// Events of a worker, in addition to the log.

/** Identifies an attempt of an activity. */
export interface ActivityAttempt {
  /** Id of the workflow that called the activity. */
  workflowId: string;
  runId: string;
  activityId: string;
  activityType: string;
  /** From 1. */
  attempt: number;
}

/**
 * Listeners for events of a worker, in addition to the log. Their errors are logged and ignored.
 */
export interface WorkerEvents {
  /**
   * A workflow task failed: the code does not match the history, or has a bug. The service retries
   * it.
   */
  workflowTaskFailed?(
    failure: {
      workflowId: string;
      runId: string;
      workflowType: string;
      attempt: number;
      message: string;
    },
  ): void;
  /** An attempt of an activity failed. */
  activityFailed?(failure: ActivityAttempt & { message: string }): void;
  /** An attempt ended with `completeAsync`: its result is reported by other code. */
  activityCompletesAsync?(attempt: ActivityAttempt): void;
}
