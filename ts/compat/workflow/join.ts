// Connects operations with cancellation scopes (scope.ts).

export interface Scope {
  readonly cancellable: boolean;
  /** True after a cancel request to a cancellable scope. */
  readonly consideredCancelled: boolean;
  /** Rejects with the cancellation on a cancel request. */
  readonly cancelRequested: Promise<never>;
}

/**
 * Connects an operation with a scope. Returns false for a canceled scope: `reject` receives the
 * cancellation, and the operation must not start. Otherwise a later cancellation calls `onCancel`.
 */
export function join(
  scope: Scope,
  reject: (error: unknown) => void,
  onCancel: (error: unknown) => void,
): boolean {
  if (scope.consideredCancelled) {
    scope.cancelRequested.catch(reject);
    return false;
  }
  if (scope.cancellable) scope.cancelRequested.catch(onCancel);
  return true;
}
