// Structural types of the package `nexus-rpc`, which is the program's own copy and not imported
// here. Its errors are recognized by markers.

/** A reference from one execution to another. */
export interface Link {
  /** Address of the execution. */
  url: URL;
  type: string;
}

/** Context of a handler's request. */
export interface OperationContext {
  readonly service: string;
  readonly operation: string;
  /** Headers of the request; their names are not case-sensitive. */
  readonly headers: Record<string, string>;
  /** Aborted on cancellation. */
  readonly abortSignal: AbortSignal;
  /** Time until which the caller waits for a response. */
  readonly requestDeadline?: Date;
}

/** Context of a request that starts an operation. */
export interface StartOperationContext extends OperationContext {
  /** Callback for the end of an asynchronous operation. */
  readonly callbackUrl?: string;
  readonly callbackHeaders?: Record<string, string>;
  /** The same for all attempts of one operation. */
  readonly requestId: string;
  /** Links of the caller. */
  readonly inboundLinks: Link[];
  readonly outboundLinks: Link[];
}

/** Context of a request that cancels an operation. */
export type CancelOperationContext = OperationContext;

/** Result of a start: the value, or the token of a running operation. */
export type StartResult<T = unknown> =
  | { readonly isAsync: false; readonly value: T }
  | { readonly isAsync: true; readonly token: string };

/** Handler of an operation in a service. */
export interface CompiledHandler {
  readonly inputType?: unknown;
  /** Type of the result. */
  readonly outputType?: unknown;
  /** Starts the operation. */
  start(ctx: StartOperationContext, input: unknown): Promise<StartResult>;
  /** Requests its cancellation. */
  cancel(ctx: CancelOperationContext, token: string): Promise<void>;
}

/** A service with its handlers: `nexus.serviceHandler(...)`. */
export interface ServiceHandler {
  readonly definition: { readonly name: string };
  /** Returns the handler of an operation. Throws a HandlerError for an unknown one. */
  getOperationHandler(operation: string): CompiledHandler;
}
