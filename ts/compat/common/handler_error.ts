// Error of a Nexus handler, with the form and marker of `HandlerError` in nexus-rpc, so that
// `instanceof` of the program's own copy works. The package is not imported.

/** A failure in Nexus requests. */
export interface NexusFailure {
  message: string;
  stackTrace?: string;
  /** Describes `details`. */
  metadata?: Record<string, string>;
  /** Further data. */
  details?: Record<string, unknown>;
  cause?: NexusFailure;
}

/** Types of handler errors, and whether calls are retried. */
const RETRYABLE: { readonly [type: string]: boolean } = {
  BAD_REQUEST: false,
  UNAUTHENTICATED: false,
  UNAUTHORIZED: false,
  NOT_FOUND: false,
  NOT_IMPLEMENTED: false,
  CONFLICT: false,
  UNAVAILABLE: true,
  UPSTREAM_TIMEOUT: true,
  RESOURCE_EXHAUSTED: true,
  INTERNAL: true,
  REQUEST_TIMEOUT: true,
  UNKNOWN: true,
};

/** Marker of nexus-rpc's errors. */
const MARK: unique symbol = Symbol.for("__nexus_isHandlerError") as never;

/** Parts of a handler error in addition to its message. */
export interface HandlerErrorParts {
  /** Original type, which may be unknown here. */
  readonly rawErrorType: string;
  /** Whether the call is retried, if specified. */
  readonly retryableOverride: boolean | undefined;
  readonly originalFailure?: NexusFailure;
  readonly cause?: Error | undefined;
}

/** A Nexus handler rejected or could not process a request. */
export class NexusHandlerError extends Error {
  /** Type of the error; UNKNOWN for an unknown one. */
  readonly type: string;
  /** Original type. */
  readonly rawErrorType: string;
  /** Whether the call is retried, if specified. */
  readonly retryableOverride: boolean | undefined;
  readonly originalFailure: NexusFailure | undefined;

  constructor(
    message: string,
    { rawErrorType, retryableOverride, originalFailure, cause }: HandlerErrorParts,
  ) {
    super(message, { cause });
    this.type = Object.hasOwn(RETRYABLE, rawErrorType) ? rawErrorType : "UNKNOWN";
    this.rawErrorType = rawErrorType;
    this.retryableOverride = retryableOverride;
    this.originalFailure = originalFailure;
  }

  /** Whether the call is retried. */
  get retryable(): boolean {
    return this.retryableOverride ?? RETRYABLE[this.type]!;
  }
}

Object.defineProperty(NexusHandlerError.prototype, "name", {
  value: "HandlerError",
  enumerable: true,
});
Object.defineProperty(NexusHandlerError.prototype, MARK, { value: true });

/** Returns whether an error is of this package, or of any copy of nexus-rpc. */
export function isHandlerError(error: unknown): error is NexusHandlerError {
  return typeof error === "object" && error !== null &&
    (error as { [MARK]?: unknown })[MARK] === true;
}
