// Eager starts: a client of the worker's process requests the first workflow task with the start,
// and the worker processes it without a poll. As in Core: without a free slot of a worker for the
// queue, the start is an ordinary one.
import {
  StartWorkflowExecutionRequest as Start,
  StartWorkflowExecutionResponse as Started,
  TaskQueue,
} from "../messages/generated/fields.ts";
import { concat, Fields, firstOf, Message, readTextField } from "../messages/wire.ts";
import type { CallOptions, MethodName, RawService } from "../service/raw.ts";
import type { ReservedTask } from "./polls/worker_pollers.ts";

/** Reserves a slot for a workflow task; undefined without a free one. */
export type Reserve = () => ReservedTask | undefined;

/** Appended to a start: later fields replace earlier ones. */
const REQUESTED = new Message().bool(Start.requestEagerExecution, true).finish();
const NOT_REQUESTED = new Message().bool(Start.requestEagerExecution, false).finish();

const makeKey = (namespace: string, taskQueue: string) =>
  `${namespace.length}/${namespace}/${taskQueue}`;

/** Workers of a process, and the start calls of its clients. */
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

  #reserve(namespace: string, taskQueue: string): ReservedTask | undefined {
    for (const reserve of this.#workers.get(makeKey(namespace, taskQueue)) ?? []) {
      const reserved = reserve();
      if (reserved !== undefined) return reserved;
    }
    return undefined;
  }

  /**
   * Returns the service for clients. `all`: every start requests its task, and clients do not see
   * it. Otherwise only starts of clients that request it.
   */
  around<Service extends RawService>(inner: Service, all = false): RawService {
    return {
      ...(inner.losesCancelledPolls !== undefined &&
        { losesCancelledPolls: inner.losesCancelledPolls }),
      call: (method: MethodName, request: Uint8Array, options?: CallOptions) =>
        method === "startWorkflowExecution"
          ? this.#start(inner, request, options, all)
          : inner.call(method, request, options),
      ...(inner.callOther && {
        callOther: (path: string, request: Uint8Array, options?: CallOptions) =>
          inner.callOther!(path, request, options),
      }),
    };
  }

  async #start(
    inner: RawService,
    request: Uint8Array,
    options: CallOptions | undefined,
    all: boolean,
  ): Promise<Uint8Array> {
    const { namespace, taskQueue, isRequested } = readStart(request);
    const reserved = all || isRequested ? this.#reserve(namespace, taskQueue) : undefined;
    if (reserved === undefined) {
      const plain = isRequested ? concat([request, NOT_REQUESTED]) : request;
      return await inner.call("startWorkflowExecution", plain, options);
    }
    const parts = [request, REQUESTED];
    const { deploymentOptions } = reserved;
    if (deploymentOptions !== undefined) {
      parts.push(
        new Message().bytes(Start.eagerWorkerDeploymentOptions, deploymentOptions).finish(),
      );
    }
    try {
      const response = await inner.call("startWorkflowExecution", concat(parts), options);
      const task = firstOf(response, Started.eagerWorkflowTask);
      if (task === undefined) return response;
      reserved.run(task);
      return all ? withoutTask(response) : response;
    } finally {
      reserved.release();
    }
  }
}

/** Reads a start; one that does not decode, which the service rejects, requests nothing. */
function readStart(request: Uint8Array) {
  const start = { namespace: "", taskQueue: "", isRequested: false };
  try {
    for (const at = new Fields(request); at.next();) {
      if (at.tag === Start.namespace) start.namespace = at.text();
      else if (at.tag === Start.taskQueue) {
        start.taskQueue = readTextField(at.bytes(), TaskQueue.name);
      } else if (at.tag === Start.requestEagerExecution) start.isRequested = at.bool();
    }
  } catch {
    return { namespace: "", taskQueue: "", isRequested: false };
  }
  return start;
}

function withoutTask(response: Uint8Array): Uint8Array {
  const at = new Fields(response);
  while (at.next()) {
    if (at.tag !== Started.eagerWorkflowTask) continue;
    return concat([response.subarray(0, at.start), response.subarray(at.end)]);
  }
  return response;
}
