// CancellationScope: the tree of cancel requests. Code belongs to the scope of its call
// (context.ts); its timers, activities, conditions and triggers are canceled with the scope. The
// microtask tick of each step is part of the contract, because it determines the order of commands:
// children are canceled one tick after their parent.
import { CancelledFailure } from "../common/failures.ts";
import { type Duration, msOptionalToNumber } from "../common/time.ts";
import { currentCompatRun } from "../current.ts";
import { FLAG_SHIELDED_SCOPES } from "../flags.ts";
import { startSleep } from "./durable_timers.ts";
import { join, type Scope } from "./join.ts";

/** Options of a scope. */
export interface CancellationScopeOptions {
  /** Cancels the scope after this time. */
  timeout?: Duration;
  /** False shields the content from cancel requests. Default: true. */
  cancellable: boolean;
  /** Default: the scope that calls the constructor. */
  parent?: CancellationScope;
}

/** Marks a run's only scope without a parent. */
const ROOT = Symbol("root scope");

/** A part of the workflow that is canceled as a whole; scopes form a tree. */
export class CancellationScope implements Scope {
  protected readonly timeout: number | undefined;
  readonly cancellable: boolean;
  readonly parent: CancellationScope | undefined;
  /**
   * Rejects with the cancellation on a cancel request, also for a scope that is not cancellable.
   */
  readonly cancelRequested: Promise<never>;
  #requested = false;
  #reject!: (error: unknown) => void;

  constructor(options?: CancellationScopeOptions | typeof ROOT) {
    const given = options === ROOT ? undefined : options;
    this.timeout = msOptionalToNumber(given?.timeout);
    this.cancellable = given?.cancellable ?? true;
    this.cancelRequested = new Promise((_, reject) => this.#reject = reject);
    // Prevents an unhandled rejection.
    this.cancelRequested.catch(() => {});
    if (options === ROOT) return;
    const parent = this.parent = given?.parent ?? CancellationScope.current();
    const shields = () => currentCompatRun().hasFlag(FLAG_SHIELDED_SCOPES);
    if (parent.cancellable || (parent.#requested && !shields())) {
      this.#requested = parent.#requested;
      parent.cancelRequested.catch((error) => this.request(error));
    } else {
      // Histories from before the flag passed requests through a scope that is not cancellable.
      parent.cancelRequested.catch((error) => shields() || this.request(error));
    }
  }

  /** True after a cancel request to a cancellable scope. */
  get consideredCancelled(): boolean {
    return this.#requested && this.cancellable;
  }

  /** Runs `fn` in this scope and returns its result. */
  run<T>(fn: () => Promise<T>): Promise<T> {
    const { context } = currentCompatRun();
    return context.run({ ...context.current(), scope: this }, () => this.runInContext(fn));
  }

  protected async runInContext<T>(fn: () => Promise<T>): Promise<T> {
    let timer: CancellationScope | undefined;
    if (this.timeout) {
      const afterMs = Math.max(1, this.timeout);
      const scope = timer = new CancellationScope({ cancellable: true, parent: this });
      scope.run(() => startSleep(currentCompatRun(), () => afterMs).done).then(
        () => this.cancel(),
        () => {},
      );
    }
    try {
      return await fn();
    } finally {
      if (
        timer !== undefined && !timer.consideredCancelled &&
        currentCompatRun().hasFlag(FLAG_SHIELDED_SCOPES)
      ) timer.cancel();
    }
  }

  /** Cancels the scope and its content. */
  cancel(): void {
    this.request(new CancelledFailure("Cancellation scope cancelled"));
  }

  /** Only the first request counts; canceled operations reject with `error`. */
  protected request(error: unknown): void {
    this.#requested = true;
    this.#reject(error);
  }

  static current(): CancellationScope {
    const run = currentCompatRun("CancellationScope may only be used from workflow code");
    // Frames have scopes of this class only.
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

/** Scope of a run's main function; canceled with the workflow. */
export class RootScope extends CancellationScope {
  constructor() {
    super(ROOT);
  }

  override cancel(): void {
    this.request(new CancelledFailure("Workflow cancelled"));
  }
}

/** Same as `join` for the current scope. */
export function joinScope(
  reject: (error: unknown) => void,
  onCancel: (error: unknown) => void,
): boolean {
  return join(CancellationScope.current(), reject, onCancel);
}
