// Error classes of the core. `guard` in handle.ts converts its data (boundary.CoreError) to these.
import { ErrorKind } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { CoreError as CoreErrorData } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";

/** An error that the core reported. `data` has its number, event, command, expected and actual. */
export class CoreError extends Error {
  override name = "CoreError";
  /** Code, event, expected and actual, as reported by the core. */
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

/**
 * The history or a state machine is in an impossible state: damaged history, or a faulty server.
 */
export class FatalCoreError extends CoreError {
  override name = "FatalCoreError";
}

/** The history has an event type, flag or command that this version does not support. */
export class UnsupportedHistoryError extends CoreError {
  override name = "UnsupportedHistoryError";
}

/** The core itself failed (internal error). Only the current handle is lost. */
export class CorePanicError extends Error {
  override name = "CorePanicError";

  constructor(message: string, options?: ErrorOptions) {
    super(`internal error in the core; the current run was evicted: ${message}`, options);
  }
}

/**
 * The core's module could not be fetched or compiled, or belongs to another version of the package.
 */
export class CoreLoadError extends Error {
  override name = "CoreLoadError";

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** Returns an error of the class for its kind. */
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
