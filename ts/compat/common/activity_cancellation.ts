// Details of an activity's cancellation.

/** Reasons of a cancellation; default: false. */
export interface ActivityCancellationDetailsOptions {
  /** The service does not know the activity any more. */
  notFound?: boolean;
  cancelRequested?: boolean;
  /** The activity was paused. */
  paused?: boolean;
  timedOut?: boolean;
  /** The worker shuts down. */
  workerShutdown?: boolean;
  /** The activity was reset. */
  reset?: boolean;
}

/** Reasons of an activity's cancellation. */
export class ActivityCancellationDetails implements Required<ActivityCancellationDetailsOptions> {
  /** The service does not know the activity any more. */
  readonly notFound: boolean;
  readonly cancelRequested: boolean;
  /** The activity was paused. */
  readonly paused: boolean;
  readonly timedOut: boolean;
  /** The worker shuts down. */
  readonly workerShutdown: boolean;
  /** The activity was reset. */
  readonly reset: boolean;

  constructor(options: ActivityCancellationDetailsOptions = {}) {
    this.notFound = options.notFound ?? false;
    this.cancelRequested = options.cancelRequested ?? false;
    this.paused = options.paused ?? false;
    this.timedOut = options.timedOut ?? false;
    this.workerShutdown = options.workerShutdown ?? false;
    this.reset = options.reset ?? false;
  }

  /** Converts the official core's message. */
  static fromProto(
    proto:
      | {
        [
          name in
            | "isNotFound"
            | "isCancelled"
            | "isPaused"
            | "isTimedOut"
            | "isWorkerShutdown"
            | "isReset"
        ]?: boolean | null;
      }
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

/** Holds the details for a running activity. */
export interface ActivityCancellationDetailsHolder {
  /** Details, once the activity is canceled. */
  details?: ActivityCancellationDetails;
}
