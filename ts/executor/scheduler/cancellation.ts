// A cancel request of the workflow. It reaches every unshielded awaiter in order of creation, later
// ones, and every child that was not started in a shield (run/cancel_request.ts). They reject with
// its CancelledFailure; code that waits in a shield is unaffected.
import { CancelledFailure } from "../../converter/failures.ts";

export class Cancellation {
  readonly reason: string;
  /** Messages with a smaller number in the inbox came before it. */
  readonly order: number;
  /**
   * Code of the run has observed it: a wait rejected, or code read it. If no code has when run
   * returns continueAsNew, it is passed to the next run (continue_as_new_headers.ts).
   */
  told = false;
  /** It came before the event that ended the run. */
  readonly inTime: boolean;

  constructor(reason: string, order: number, inTime: boolean) {
    this.reason = reason;
    this.order = order;
    this.inTime = inTime;
  }

  failure(): CancelledFailure {
    return new CancelledFailure(
      this.reason === "" ? "Workflow cancelled" : `Workflow cancelled: ${this.reason}`,
    );
  }
}
