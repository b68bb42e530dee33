// Eager starts (`requestEagerStart`): a client on a worker's connection requests the first workflow
// task with the start, and the worker processes it without a poll. As in Core: without a free slot
// of a worker for the queue, the start is an ordinary one.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  PollWorkflowTaskQueueResponseSchema,
  type StartWorkflowExecutionRequest,
  StartWorkflowExecutionRequestSchema,
  StartWorkflowExecutionResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { WorkerDeploymentOptionsSchema } from "../../messages/generated/temporal/api/deployment/v1/message_pb.ts";
import type { CallOptions, MethodName, RawService } from "../../service/raw.ts";
import type { ReservedTask } from "../../worker/polls/worker_pollers.ts";

/** Reserves a slot for a workflow task; undefined without a free one. */
export type Reserve = () => ReservedTask | undefined;

const makeKey = (namespace: string, taskQueue: string) =>
  `${namespace.length}/${namespace}/${taskQueue}`;

/** Workers of a connection, and the start calls of its clients. */
export class EagerStarts {
  readonly #workers = new Map<string, Set<Reserve>>();

  /** Registers a worker; returns the function that unregisters it. */
  add(namespace: string, taskQueue: string, reserve: Reserve): () => void {
    const key = makeKey(namespace, taskQueue);
    const workers = this.#workers.get(key) ?? new Set();
    this.#workers.set(key, workers.add(reserve));
    return () => {
      workers.delete(reserve);
      if (workers.size === 0 && this.#workers.get(key) === workers) this.#workers.delete(key);
    };
  }

  #reserve({ namespace, taskQueue }: StartWorkflowExecutionRequest): ReservedTask | undefined {
    for (const reserve of this.#workers.get(makeKey(namespace, taskQueue?.name ?? "")) ?? []) {
      const reserved = reserve();
      if (reserved !== undefined) return reserved;
    }
    return undefined;
  }

  /** Returns the service for clients. */
  around(inner: RawService): RawService {
    return {
      losesCancelledPolls: inner.losesCancelledPolls ?? false,
      call: (method: MethodName, request: Uint8Array, options?: CallOptions) =>
        method === "startWorkflowExecution"
          ? this.#start(inner, request, options)
          : inner.call(method, request, options),
      ...(inner.callOther && {
        callOther: (path: string, request: Uint8Array, options?: CallOptions) =>
          inner.callOther!(path, request, options),
      }),
    };
  }

  async #start(
    inner: RawService,
    bytes: Uint8Array,
    options: CallOptions | undefined,
  ): Promise<Uint8Array> {
    const request = fromBinary(StartWorkflowExecutionRequestSchema, bytes);
    if (!request.requestEagerExecution) {
      return await inner.call("startWorkflowExecution", bytes, options);
    }
    const reserved = this.#reserve(request);
    request.requestEagerExecution = reserved !== undefined;
    if (reserved?.deploymentOptions !== undefined) {
      request.eagerWorkerDeploymentOptions = fromBinary(
        WorkerDeploymentOptionsSchema,
        reserved.deploymentOptions,
      );
    }
    try {
      const sent = toBinary(StartWorkflowExecutionRequestSchema, request);
      const response = await inner.call("startWorkflowExecution", sent, options);
      const { eagerWorkflowTask: task } = fromBinary(
        StartWorkflowExecutionResponseSchema,
        response,
      );
      if (task !== undefined) reserved?.run(toBinary(PollWorkflowTaskQueueResponseSchema, task));
      return response;
    } finally {
      reserved?.release();
    }
  }
}
