// A cancel request of the workflow. It reaches every unshielded awaiter in order of creation, every
// one that is made later, and every child that was not started in a shield (run/cancel_request.ts).
// What it reaches rejects with its CancelledFailure; code parked on a shielded awaiter is not touched.
import { CancelledFailure } from "../../converter/failures.ts";

export class Cancellation {
  readonly reason: string;
  /** Messages with a smaller number in the inbox came before it. */
  readonly order: number;
  /**
   * Code of the run knows of it: a wait was rejected by it, or code asked. One that no code knows of when run returns a continueAsNew is
   * the next run's (continue_as_new_headers.ts).
   */
  told = false;
  /** It came while the run stood, and not after the event that ended it. */
  readonly inTime: boolean;

  constructor(reason: string, order: number, inTime: boolean) {
    this.reason = reason;
    this.order = order;
    this.inTime = inTime;
  }

  failure(): CancelledFailure {
    return new CancelledFailure(this.reason === "" ? "Workflow cancelled" : `Workflow cancelled: ${this.reason}`);
  }
}
