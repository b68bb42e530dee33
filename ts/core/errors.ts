// Errors of the core, as classes. The core reports errors as data (boundary.CoreError); `guard` in handle.ts turns them into these.
import { ErrorKind } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { CoreError as CoreErrorData } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";

/** An error that the core reported. `data` holds its number, event, command, expected and actual. */
export class CoreError extends Error {
  override name = "CoreError";
  /** Code, event, expected and actual, field by field, as the core gave them. */
  readonly data: CoreErrorData;

  constructor(data: CoreErrorData) {
    super(data.message);
    this.data = data;
  }

  /** Stable number of the error (table in core-rs/src/error.rs). */
  get code(): number {
    return this.data.code;
  }
}

/** The workflow code does not produce the commands that the history records. */
export class NondeterminismError extends CoreError {
  override name = "NondeterminismError";
}

/** The history or a state machine is in a state that cannot be: damaged history or a faulty server. */
export class FatalCoreError extends CoreError {
  override name = "FatalCoreError";
}

/** The history needs something that this version does not know (event type, flag, command). */
export class UnsupportedHistoryError extends CoreError {
  override name = "UnsupportedHistoryError";
}

/** The core itself failed (a bug of ours). Only the handle in which it happened is lost. */
export class CorePanicError extends Error {
  override name = "CorePanicError";

  constructor(message: string, options?: ErrorOptions) {
    super(`internal error in the core; the current run was evicted: ${message}`, options);
  }
}

/** The core's module could not be fetched or compiled, or is not the one of this version of the package. */
export class CoreLoadError extends Error {
  override name = "CoreLoadError";

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** The class for the kind of an error. */
export function toCoreError(data: CoreErrorData): CoreError {
  switch (data.kind) {
    case ErrorKind.ERROR_KIND_NONDETERMINISM:
      return new NondeterminismError(data);
    case ErrorKind.ERROR_KIND_FATAL:
      return new FatalCoreError(data);
    case ErrorKind.ERROR_KIND_UNSUPPORTED:
      return new UnsupportedHistoryError(data);
    default:
      return new CoreError(data);
  }
}
