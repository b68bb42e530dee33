// The error of a Nexus handler: of the shape and with the mark of `HandlerError` in nexus-rpc, so that `instanceof` of the program's own
// package holds for it. Nothing of that package is imported here.

/** A failure in the form in which Nexus requests carry it. */
export interface NexusFailure {
  /** What happened. */
  message: string;
  /** Where. */
  stackTrace?: string;
  /** Says what `details` are. */
  metadata?: Record<string, string>;
  /** The rest of it. */
  details?: Record<string, unknown>;
  /** Why. */
  cause?: NexusFailure;
}

/** Kinds of errors of Nexus handlers, and whether a call is tried again after one. */
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

/** As nexus-rpc marks its errors. */
const MARK: unique symbol = Symbol.for("__nexus_isHandlerError") as never;

/** What an error of a handler says beside its message. */
export interface HandlerErrorParts {
  /** As it came; also a type that is not known here. */
  readonly rawErrorType: string;
  /** Whether the call is tried again, where that was said. */
  readonly retryableOverride: boolean | undefined;
  /** As it came. */
  readonly originalFailure?: NexusFailure;
  /** Why. */
  readonly cause?: Error | undefined;
}

/** A Nexus handler could not, or would not, take a request. */
export class NexusHandlerError extends Error {
  /** Its kind; UNKNOWN for one that is not known here. */
  readonly type: string;
  /** Its kind as it came. */
  readonly rawErrorType: string;
  /** Whether the call is tried again, where that was said. */
  readonly retryableOverride: boolean | undefined;
  /** As it came. */
  readonly originalFailure: NexusFailure | undefined;

  constructor(message: string, { rawErrorType, retryableOverride, originalFailure, cause }: HandlerErrorParts) {
    super(message, { cause });
    this.type = Object.hasOwn(RETRYABLE, rawErrorType) ? rawErrorType : "UNKNOWN";
    this.rawErrorType = rawErrorType;
    this.retryableOverride = retryableOverride;
    this.originalFailure = originalFailure;
  }

  /** Whether the call is tried again. */
  get retryable(): boolean {
    return this.retryableOverride ?? RETRYABLE[this.type]!;
  }
}

Object.defineProperty(NexusHandlerError.prototype, "name", { value: "HandlerError", enumerable: true });
Object.defineProperty(NexusHandlerError.prototype, MARK, { value: true });

/** One of this package, or of any copy of nexus-rpc. */
export function isHandlerError(error: unknown): error is NexusHandlerError {
  return typeof error === "object" && error !== null && (error as { [MARK]?: unknown })[MARK] === true;
}
