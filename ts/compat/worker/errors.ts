// Errors of `@temporalio/worker`, under their official names.
import { IllegalStateError } from "../common/mod.ts";

/** The worker did not stop within `shutdownForceTime`. */
export class GracefulShutdownPeriodExpiredError extends Error {
  override name = "GracefulShutdownPeriodExpiredError";
}

/** A promise of workflow code was rejected without a handler. */
export class UnhandledRejectionError extends Error {
  override name = "UnhandledRejectionError";
  /** The rejection's reason. */
  override cause: unknown;

  constructor(message: string, cause: unknown) {
    super(message);
    this.cause = cause;
  }
}

/** Errors of the worker and of what it ran for. */
export interface CombinedWorkerRunErrorCause {
  workerError: unknown;
  /** Error of what it ran for. */
  innerError: unknown;
}

/** Both the worker and what it ran for failed. */
export class CombinedWorkerRunError extends Error {
  override name = "CombinedWorkerRunError";
  /** Both errors. */
  override readonly cause: CombinedWorkerRunErrorCause;

  constructor(message: string, { cause }: { cause: CombinedWorkerRunErrorCause }) {
    super(message);
    this.cause = cause;
  }
}

/** The promise of `runUntil` did not settle within its time after the worker had stopped. */
export class PromiseCompletionTimeoutError extends Error {
  override name = "PromiseCompletionTimeoutError";
}

/** The worker has shut down. */
export class ShutdownError extends Error {
  override name = "ShutdownError";
}

/** The server cannot be reached, or rejects the worker. */
export class TransportError extends Error {
  override name = "TransportError";
}

/** An internal error of the worker. */
export class UnexpectedError extends Error {
  override name = "UnexpectedError";
}

/** Deprecated: import the classes. */
export const errors = {
  IllegalStateError,
  ShutdownError,
  TransportError,
  UnexpectedError,
  GracefulShutdownPeriodExpiredError,
};
