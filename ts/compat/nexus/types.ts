// What programs have of the package `nexus-rpc`, by its shape: it is the program's own package, of any copy, and nothing of it is imported
// here. Its errors are known by their marks.

/** A reference from one execution to another. */
export interface Link {
  /** Where it is. */
  url: URL;
  /** What it is. */
  type: string;
}

/** What a handler is told of its request. */
export interface OperationContext {
  /** The service. */
  readonly service: string;
  /** The operation. */
  readonly operation: string;
  /** Headers of the request; their names are not case-sensitive. */
  readonly headers: Record<string, string>;
  /** Aborted when the handler is to stop. */
  readonly abortSignal: AbortSignal;
  /** When the caller stops to wait for an answer. */
  readonly requestDeadline?: Date;
}

/** What a handler is told of a request that starts an operation. */
export interface StartOperationContext extends OperationContext {
  /** Where the end of an asynchronous operation is reported. */
  readonly callbackUrl?: string;
  /** Headers of that report. */
  readonly callbackHeaders?: Record<string, string>;
  /** The same for all attempts of one operation. */
  readonly requestId: string;
  /** What the caller is. */
  readonly inboundLinks: Link[];
  /** What the operation led to. */
  readonly outboundLinks: Link[];
}

/** What a handler is told of a request that cancels an operation. */
export type CancelOperationContext = OperationContext;

/** How a start ended: with the value, or with the token of what goes on. */
export type StartResult<T = unknown> =
  | { readonly isAsync: false; readonly value: T }
  | { readonly isAsync: true; readonly token: string };

/** The handler of an operation, as a service has it. */
export interface CompiledHandler {
  /** Type of the input. */
  readonly inputType?: unknown;
  /** Type of the result. */
  readonly outputType?: unknown;
  /** Starts the operation. */
  start(ctx: StartOperationContext, input: unknown): Promise<StartResult>;
  /** Asks for its end. */
  cancel(ctx: CancelOperationContext, token: string): Promise<void>;
}

/** A service with its handlers: `nexus.serviceHandler(...)`. */
export interface ServiceHandler {
  /** The service. */
  readonly definition: { readonly name: string };
  /** The handler of an operation. Throws a HandlerError for an unknown one. */
  getOperationHandler(operation: string): CompiledHandler;
}
