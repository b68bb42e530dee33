// The narrow waist between everything that asks (client, worker) and everything that answers (embedded engine, Temporal cluster):
// one method name of temporal.api.workflowservice.v1.WorkflowService, bytes of its request, bytes of its response.
import type { WorkflowService } from "../api/generated/temporal/api/workflowservice/v1/service_pb.ts";
import type { RunningTasks } from "../crash_notes/running_tasks.ts";

/** Names of the methods, as protobuf-es spells them: "startWorkflowExecution", "pollWorkflowTaskQueue", ... */
export type MethodName = keyof typeof WorkflowService.method;

/** Options of one call. */
export interface CallOptions {
  /** Gives the call up; a waiting poll is taken back without losing a task, unless the service `losesCancelledPolls`. */
  signal?: AbortSignal;
  /** Deadline in milliseconds; then DEADLINE_EXCEEDED. */
  timeoutMs?: number;
  /** Payloads of the answer stay as the service keeps them; a codec on the way does not decode them. */
  asStored?: boolean;
  /** @internal What a completed workflow task shows of its run, for a service that `showsRuns`. */
  shown?: { readonly runId: string; readonly phase: number; readonly state?: string | null };
  /** Sent with this call, over what its connection sends with all: names in lower case; values of names that end in "-bin" are bytes. */
  metadata?: { readonly [name: string]: string | Uint8Array };
}

/** Reports runs that end without their worker. */
export interface ClosedRunsSource {
  /** Calls the listener with the id of each such run. Returns a function that removes the listener. */
  watch(listener: (runId: string) => void): () => void;
}

/** What clients and workers stand on: a method of Temporal's WorkflowService by name, bytes in, bytes out. */
export interface RawService {
  /** A poll that is given up may take a task with it, if one is just being handed out: a network lies between. Default: false. */
  readonly losesCancelledPolls?: boolean;
  /** Sizes of payloads are checked behind this point, where a codec has changed them. Default: false. */
  readonly checksPayloads?: boolean;
  /** @internal It runs reducers in the transaction that commits a workflow task. */
  readonly runsReducers?: boolean;
  /** @internal It keeps what runs show of themselves: `CallOptions.shown` of completed workflow tasks. */
  readonly showsRuns?: boolean;
  /** @internal Which runs' workflow tasks are running, where the service lives and dies with this process. */
  runningTasks?(): RunningTasks | undefined;
  /** @internal Reports runs that end without their worker. */
  readonly closedRuns?: ClosedRunsSource | undefined;
  /** Rejects with a ServiceError. */
  call(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  /** @internal Calls a method of another service of the same server: "/package.Service/Method". */
  callOther?(path: string, request: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
}

/**
 * @internal Number of a field of DescribeTaskQueueResponse that Temporal's API does not have, and an embedded engine fills: a JSON list
 * of the queues whose workflow tasks workers take.
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

/** `ServiceError.reason` of an operation that was given up because another one of the same call failed. */
export const OPERATION_ABORTED = "MultiOperationExecutionAborted";

/** A call that the service refused or that did not reach it. */
export class ServiceError extends Error {
  override name = "ServiceError";
  /** The gRPC status code. */
  readonly code: Code;
  /** Name of the error for programs, e.g. "WorkflowExecutionAlreadyStarted"; "" when the code says it all. */
  readonly reason: string;
  /** What the service says beside the message, by name. */
  readonly metadata: { readonly [key: string]: string };
  /** The failure behind a query's error: bytes of temporal.api.failure.v1.Failure. */
  readonly failure: Uint8Array | undefined;
  /** Of a call of several operations: how each of them fared, in their order; undefined for one that went well. */
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
