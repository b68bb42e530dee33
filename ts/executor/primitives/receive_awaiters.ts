// The awaiters of a receive: the call itself, and updateState calls that wait for the reducer.
import type { CancelledFailure } from "../../converter/failures.ts";
import type { StateChange } from "../scheduler/job_targets.ts";
import { Awaiter, type Fiber } from "../scheduler/fiber.ts";

/** Cancels the receive; it ends after its handlers. */
interface CancelledByAwaiter {
  cancel(reason: CancelledFailure): void;
}

export class ReceiveAwaiter extends Awaiter<unknown> {
  readonly waitsFor = "receive";
  readonly external = false;
  readonly scope: CancelledByAwaiter;

  constructor(fiber: Fiber, scope: CancelledByAwaiter) {
    super(fiber);
    this.scope = scope;
  }

  describe(): string {
    return "receive";
  }

  cancel(reason: unknown): void {
    // Only a cancellation of the workflow cancels a receive, with a fresh failure.
    this.scope.cancel(reason as CancelledFailure);
  }

  override abandon(): void {
    // Only the end of the run abandons a receive; completion.ts completes its updates.
    this.drop();
  }
}

/** An updateState call that waits until the running sync handler returns the reducer. */
export class StateAwaiter<R> extends Awaiter<R> {
  readonly waitsFor = "state";
  readonly external = false;
  readonly fn: StateChange<R>;

  constructor(fiber: Fiber, fn: StateChange<R>) {
    super(fiber);
    this.fn = fn;
  }

  describe(): string {
    return "updateState";
  }

  cancel(reason: unknown): void {
    this.fail(reason);
  }
}
