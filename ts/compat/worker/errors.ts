// Errors of `@temporalio/worker`, under their official names.
import { IllegalStateError } from "../common/mod.ts";

/** The worker did not stop within `shutdownForceTime`. */
export class GracefulShutdownPeriodExpiredError extends Error {
  override name = "GracefulShutdownPeriodExpiredError";
}

/** Workflow code left a rejected promise without a handler. */
export class UnhandledRejectionError extends Error {
  override name = "UnhandledRejectionError";
  /** What the promise was rejected with. */
  override cause: unknown;

  constructor(message: string, cause: unknown) {
    super(message);
    this.cause = cause;
  }
}

/** What failed, where both did. */
export interface CombinedWorkerRunErrorCause {
  /** The worker's error. */
  workerError: unknown;
  /** That of what it ran for. */
  innerError: unknown;
}

/** The worker failed, and so did what it ran for. */
export class CombinedWorkerRunError extends Error {
  override name = "CombinedWorkerRunError";
  /** Both errors. */
  override readonly cause: CombinedWorkerRunErrorCause;

  constructor(message: string, { cause }: { cause: CombinedWorkerRunErrorCause }) {
    super(message);
    this.cause = cause;
  }
}

/** What a worker ran for (`runUntil`) did not end within its time after the worker had stopped. */
export class PromiseCompletionTimeoutError extends Error {
  override name = "PromiseCompletionTimeoutError";
}

/** The worker is shut down. */
export class ShutdownError extends Error {
  override name = "ShutdownError";
}

/** The server cannot be reached, or refuses the worker. */
export class TransportError extends Error {
  override name = "TransportError";
}

/** Something failed inside the worker. */
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
