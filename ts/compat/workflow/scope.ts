// CancellationScope: the tree through which requests to cancel travel. Code belongs to the scope in which it was called
// (context.ts); timers, activities, conditions and triggers made there are cancelled with it. What happens in which microtask tick is
// part of the contract, because it decides the order of commands: children hear of it one tick after their parent.
import { CancelledFailure } from "../common/failures.ts";
import { type Duration, msOptionalToNumber } from "../common/time.ts";
import { currentCompatRun } from "../current.ts";
import { FLAG_SHIELDED_SCOPES } from "../flags.ts";
import { startSleep } from "./durable_timers.ts";
import { join, type Scope } from "./join.ts";

/** Options of a scope. */
export interface CancellationScopeOptions {
  /** Cancels the scope by itself after this time. */
  timeout?: Duration;
  /** False shields what is inside from requests that reach the scope. Default true. */
  cancellable: boolean;
  /** Default: the scope in which the constructor is called. */
  parent?: CancellationScope;
}

/** Marks the one scope of a run that has no parent. */
const ROOT = Symbol("root scope");

/** A part of the workflow that is cancelled as a whole; scopes form a tree. */
export class CancellationScope implements Scope {
  protected readonly timeout: number | undefined;
  readonly cancellable: boolean;
  readonly parent: CancellationScope | undefined;
  /** Rejects with the cancellation when one is requested, also on a scope that cannot be cancelled. */
  readonly cancelRequested: Promise<never>;
  #requested = false;
  #reject!: (error: unknown) => void;

  constructor(options?: CancellationScopeOptions | typeof ROOT) {
    const given = options === ROOT ? undefined : options;
    this.timeout = msOptionalToNumber(given?.timeout);
    this.cancellable = given?.cancellable ?? true;
    this.cancelRequested = new Promise((_, reject) => this.#reject = reject);
    // A request that nobody waits for is not an unhandled rejection.
    this.cancelRequested.catch(() => {});
    if (options === ROOT) return;
    const parent = this.parent = given?.parent ?? CancellationScope.current();
    const shields = () => currentCompatRun().hasFlag(FLAG_SHIELDED_SCOPES);
    if (parent.cancellable || (parent.#requested && !shields())) {
      this.#requested = parent.#requested;
      parent.cancelRequested.catch((error) => this.request(error));
    } else {
      // Histories written before the flag existed let a request pass through a scope that cannot be cancelled.
      parent.cancelRequested.catch((error) => shields() || this.request(error));
    }
  }

  /** True when a request reached the scope and it may be cancelled. */
  get consideredCancelled(): boolean {
    return this.#requested && this.cancellable;
  }

  /** Runs `fn` in this scope and answers its result. */
  run<T>(fn: () => Promise<T>): Promise<T> {
    const { context } = currentCompatRun();
    return context.run({ ...context.current(), scope: this }, () => this.runInContext(fn));
  }

  protected async runInContext<T>(fn: () => Promise<T>): Promise<T> {
    let timer: CancellationScope | undefined;
    if (this.timeout) {
      const afterMs = Math.max(1, this.timeout);
      const scope = timer = new CancellationScope({ cancellable: true, parent: this });
      scope.run(() => startSleep(currentCompatRun(), () => afterMs).done).then(() => this.cancel(), () => {});
    }
    try {
      return await fn();
    } finally {
      if (timer !== undefined && !timer.consideredCancelled && currentCompatRun().hasFlag(FLAG_SHIELDED_SCOPES)) timer.cancel();
    }
  }

  /** Requests to cancel the scope and what is in it. */
  cancel(): void {
    this.request(new CancelledFailure("Cancellation scope cancelled"));
  }

  /** Only the first request counts; `error` is what cancelled operations reject with. */
  protected request(error: unknown): void {
    this.#requested = true;
    this.#reject(error);
  }

  static current(): CancellationScope {
    const run = currentCompatRun("CancellationScope may only be used from workflow code");
    // Frames are made with scopes of this class alone.
    return (run.context.current()?.scope as CancellationScope | undefined) ?? run.rootScope;
  }

  static cancellable<T>(fn: () => Promise<T>): Promise<T> {
    return new this({ cancellable: true }).run(fn);
  }

  static nonCancellable<T>(fn: () => Promise<T>): Promise<T> {
    return new this({ cancellable: false }).run(fn);
  }

  static withTimeout<T>(timeout: Duration, fn: () => Promise<T>): Promise<T> {
    return new this({ cancellable: true, timeout }).run(fn);
  }
}

/** The scope of a run's main function; cancelled with the workflow. */
export class RootScope extends CancellationScope {
  constructor() {
    super(ROOT);
  }

  override cancel(): void {
    this.request(new CancelledFailure("Workflow cancelled"));
  }
}

/** As `join`, for the current scope. */
export function joinScope(reject: (error: unknown) => void, onCancel: (error: unknown) => void): boolean {
  return join(CancellationScope.current(), reject, onCancel);
}
