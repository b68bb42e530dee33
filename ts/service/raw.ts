// The interface between callers (client, worker) and services (embedded engine, Temporal cluster):
// a method name of temporal.api.workflowservice.v1.WorkflowService, request bytes, response bytes.
import type { WorkflowService } from "../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import type { RunningTasks } from "../crash_notes/running_tasks.ts";

/**
 * Names of the methods, as protobuf-es spells them: "startWorkflowExecution",
 * "pollWorkflowTaskQueue", ...
 */
export type MethodName = keyof typeof WorkflowService.method;

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call. A canceled poll loses no task, unless the service `losesCancelledPolls`. */
  signal?: AbortSignal;
  /** Milliseconds until the call fails with DEADLINE_EXCEEDED. */
  timeoutMs?: number;
  /** Returns payloads as stored; codecs between caller and service do not decode them. */
  asStored?: boolean;
  /** @internal What a completed workflow task shows of its run, for a service that `showsRuns`. */
  shown?: { readonly runId: string; readonly phase: number; readonly state?: string | null };
  /**
   * Metadata of this call; overrides metadata of the connection. Names are in lower case; values of
   * names that end in "-bin" are bytes.
   */
  metadata?: { readonly [name: string]: string | Uint8Array };
}

/** Reports runs that end without their worker. */
export interface ClosedRunsSource {
  /**
   * Calls the listener with the id of each such run. Returns a function that removes the listener.
   */
  watch(listener: (runId: string) => void): () => void;
}

/**
 * The service under clients and workers: calls a method of Temporal's WorkflowService by name, with
 * bytes in both directions.
 */
export interface RawService {
  /**
   * A canceled poll can lose a task that the service is just sending, because a network is between.
   * Default: false.
   */
  readonly losesCancelledPolls?: boolean;
  /** A later layer checks payload sizes, after the codec. Default: false. */
  readonly checksPayloads?: boolean;
  /** @internal Runs reducers in the transaction that commits a workflow task. */
  readonly runsReducers?: boolean;
  /**
   * @internal Stores what runs show of themselves: `CallOptions.shown` of completed workflow tasks.
   */
  readonly showsRuns?: boolean;
  /** @internal Returns the running workflow tasks, for a service that ends with this process. */
  runningTasks?(): RunningTasks | undefined;
  /** @internal Reports runs that end without their worker. */
  readonly closedRuns?: ClosedRunsSource | undefined;
  /** Rejects with a ServiceError. */
  call(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  /** @internal Calls a method of another service of the same server: "/package.Service/Method". */
  callOther?(path: string, request: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
}

/**
 * @internal Number of a field of DescribeTaskQueueResponse that an embedded engine adds to
 * Temporal's API: a JSON list of the queues whose workflow tasks are polled.
 */
export const POLLED_QUEUES = 50_118;

/** gRPC status codes. */
export const Code = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;
/** One of the gRPC status codes. */
export type Code = typeof Code[keyof typeof Code];

/**
 * `ServiceError.reason` of an operation that was not done because another one of the same call
 * failed.
 */
export const OPERATION_ABORTED = "MultiOperationExecutionAborted";

/** A call that the service rejected or that did not reach it. */
export class ServiceError extends Error {
  override name = "ServiceError";
  /** The gRPC status code. */
  readonly code: Code;
  /**
   * Name of the error for programs, e.g. "WorkflowExecutionAlreadyStarted"; "" when the code is
   * sufficient.
   */
  readonly reason: string;
  /** Details of the error by name. */
  readonly metadata: { readonly [key: string]: string };
  /** Failure of a query: bytes of temporal.api.failure.v1.Failure. */
  readonly failure: Uint8Array | undefined;
  /** Results of a call with several operations, in their order; undefined for a successful one. */
  readonly operations: readonly (ServiceError | undefined)[];

  constructor(
    code: Code,
    message: string,
    reason = "",
    metadata: { readonly [key: string]: string } = {},
    options?: ErrorOptions & {
      failure?: Uint8Array | undefined;
      operations?: readonly (ServiceError | undefined)[] | undefined;
    },
  ) {
    super(message, options);
    this.code = code;
    this.reason = reason;
    this.metadata = metadata;
    this.failure = options?.failure;
    this.operations = options?.operations ?? [];
  }
}
