// Original errors of failures (ensureApplicationFailure), whose stack traces the failures have.
const originals = new WeakMap<Error, Error>();

/** Records the original error of a failure. */
export function recordOriginal(failure: Error, original: Error): void {
  originals.set(failure, original);
}

/** Returns the original error of a failure; undefined without one. */
export function originalError(failure: Error): Error | undefined {
  return originals.get(failure);
}
