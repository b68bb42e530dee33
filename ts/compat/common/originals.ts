// Errors that failures were made of (ensureApplicationFailure): the stack trace of such a failure says what was thrown.
const originals = new WeakMap<Error, Error>();

/** Notes what a failure was made of, and whose stack it has. */
export function madeOf(failure: Error, original: Error): void {
  originals.set(failure, original);
}

/** The error that a failure was made of; undefined for one that was made as it is. */
export function originalError(failure: Error): Error | undefined {
  return originals.get(failure);
}
