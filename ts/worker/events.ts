// What a worker reports to its host beside the log, event by event.

/** Names an attempt of an activity. */
export interface ActivityAttempt {
  /** Id of the workflow that called the activity. */
  workflowId: string;
  /** Its run. */
  runId: string;
  /** The activity's id within the run. */
  activityId: string;
  /** Its name on the wire. */
  activityType: string;
  /** From 1. */
  attempt: number;
}

/** What a worker tells its host beside the log. What a listener throws is logged, and changes nothing. */
export interface WorkerEvents {
  /** A workflow task failed: the workflow's code does not fit its history, or has a bug. The service will give it again. */
  workflowTaskFailed?(
    failure: { workflowId: string; runId: string; workflowType: string; attempt: number; message: string },
  ): void;
  /** An attempt of an activity failed. */
  activityFailed?(failure: ActivityAttempt & { message: string }): void;
  /** An attempt of an activity ended with `completeAsync`: its result comes from elsewhere. */
  activityCompletesAsync?(attempt: ActivityAttempt): void;
}
