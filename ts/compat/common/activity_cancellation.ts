// Why an activity is cancelled.

/** Reasons; those that are left out do not hold. */
export interface ActivityCancellationDetailsOptions {
  /** The service does not know the activity any more. */
  notFound?: boolean;
  /** The workflow asked for it. */
  cancelRequested?: boolean;
  /** It was paused. */
  paused?: boolean;
  /** Its time is up. */
  timedOut?: boolean;
  /** The worker stops. */
  workerShutdown?: boolean;
  /** It was reset. */
  reset?: boolean;
}

/** Why an activity is cancelled. */
export class ActivityCancellationDetails implements Required<ActivityCancellationDetailsOptions> {
  /** The service does not know the activity any more. */
  readonly notFound: boolean;
  /** The workflow asked for it. */
  readonly cancelRequested: boolean;
  /** It was paused. */
  readonly paused: boolean;
  /** Its time is up. */
  readonly timedOut: boolean;
  /** The worker stops. */
  readonly workerShutdown: boolean;
  /** It was reset. */
  readonly reset: boolean;

  constructor(options: ActivityCancellationDetailsOptions = {}) {
    this.notFound = options.notFound ?? false;
    this.cancelRequested = options.cancelRequested ?? false;
    this.paused = options.paused ?? false;
    this.timedOut = options.timedOut ?? false;
    this.workerShutdown = options.workerShutdown ?? false;
    this.reset = options.reset ?? false;
  }

  /** Those of the official core's message. */
  static fromProto(
    proto:
      | { [name in "isNotFound" | "isCancelled" | "isPaused" | "isTimedOut" | "isWorkerShutdown" | "isReset"]?: boolean | null }
      | null
      | undefined,
  ): ActivityCancellationDetails {
    return new ActivityCancellationDetails({
      notFound: proto?.isNotFound ?? false,
      cancelRequested: proto?.isCancelled ?? false,
      paused: proto?.isPaused ?? false,
      timedOut: proto?.isTimedOut ?? false,
      workerShutdown: proto?.isWorkerShutdown ?? false,
      reset: proto?.isReset ?? false,
    });
  }
}

/** Where an activity finds the reasons. */
export interface ActivityCancellationDetailsHolder {
  /** The reasons. */
  details?: ActivityCancellationDetails;
}
