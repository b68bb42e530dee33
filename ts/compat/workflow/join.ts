// How an operation belongs to a cancellation scope (scope.ts).

export interface Scope {
  readonly cancellable: boolean;
  /** A request reached the scope and it may be cancelled. */
  readonly consideredCancelled: boolean;
  /** Rejects with the cancellation when one is requested. */
  readonly cancelRequested: Promise<never>;
}

/**
 * Ties an operation to a scope. Returns false when the scope is cancelled already: then `reject` gets the cancellation and nothing
 * must be started. Otherwise `onCancel` is called when the scope is cancelled later.
 */
export function join(scope: Scope, reject: (error: unknown) => void, onCancel: (error: unknown) => void): boolean {
  if (scope.consideredCancelled) {
    scope.cancelRequested.catch(reject);
    return false;
  }
  if (scope.cancellable) scope.cancelRequested.catch(onCancel);
  return true;
}
