// Nexus tasks between the calls of engines and the polls of workers. They are in memory only: the
// engine that made a call makes it again after a restart.
import { create, toBinary } from "@bufbuild/protobuf";
import type {
  HandlerError,
  Request,
  Response,
} from "../../messages/generated/temporal/api/nexus/v1/message_pb.ts";
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  PollNexusTaskQueueRequestSchema,
  PollNexusTaskQueueResponseSchema,
  RespondNexusTaskCompletedRequestSchema,
  RespondNexusTaskFailedRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { decodeMessage, invalid } from "../../engine/host_bytes.ts";
import { type CallOptions, Code, ServiceError } from "../../service/raw.ts";
import { closed } from "../../engine/refusals.ts";
import { NexusPolls } from "./polls.ts";

/** How a handler ended a task. */
export type HandlerResponse =
  | { readonly kind: "response"; readonly response: Response | undefined }
  | { readonly kind: "error"; readonly error: HandlerError | undefined }
  | { readonly kind: "failure"; readonly failure: Failure }
  | { readonly kind: "timeout" };

const MAX_TOKEN_BYTES = 4096;
const EMPTY_RESPONSE = new Uint8Array(0);

interface Task {
  readonly bytes: Uint8Array;
  end(response: HandlerResponse): void;
  /** Rejects the call: the server was closed. */
  drop(): void;
}

export class NexusTaskMatcher {
  readonly #polls: NexusPolls;
  /** By token: tasks without a response. */
  readonly #tasks = new Map<string, Task>();
  /** Tokens of tasks that wait for a poll, by queue. */
  readonly #waiting = new Map<string, Set<string>>();
  #closed = false;

  constructor(polls: NexusPolls = new NexusPolls()) {
    this.#polls = polls;
  }

  /** Waits for a task. Resolves without one when the long poll is over. */
  poll(namespace: string, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    const { taskQueue } = decodeMessage(PollNexusTaskQueueRequestSchema, request);
    const queue = queueKey(namespace, taskQueue?.name ?? "");
    if (!taskQueue?.name) throw invalid("missing task queue name");
    const polled = this.#polls.poll(request, options, queue);
    this.#match(queue);
    return polled;
  }

  /**
   * Hands a request to a worker of the queue. Resolves when the worker has responded. Rejects when
   * the server is closed.
   */
  dispatch(
    namespace: string,
    taskQueue: string,
    request: Request,
    timeoutMs: number,
  ): Promise<HandlerResponse> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(closed());
      const token = crypto.randomUUID();
      const queue = queueKey(namespace, taskQueue);
      const ends = () => {
        clearTimeout(timer);
        this.#waiting.get(queue)?.delete(token);
        return this.#tasks.delete(token);
      };
      const end = (response: HandlerResponse) => void (ends() && resolve(response));
      const drop = () => void (ends() && reject(closed()));
      const timer = setTimeout(() => end({ kind: "timeout" }), timeoutMs);
      const bytes = toBinary(
        PollNexusTaskQueueResponseSchema,
        create(PollNexusTaskQueueResponseSchema, {
          taskToken: new TextEncoder().encode(token),
          request,
        }),
      );
      this.#tasks.set(token, { bytes, end, drop });
      const waiting = this.#waiting.get(queue) ?? new Set();
      this.#waiting.set(queue, waiting.add(token));
      this.#match(queue);
    });
  }

  /** Gives waiting tasks to waiting polls, the oldest first. */
  #match(queue: string): void {
    const waiting = this.#waiting.get(queue);
    if (waiting === undefined) return;
    for (const token of [...waiting]) {
      if (!this.#polls.hand(queue, this.#tasks.get(token)!.bytes)) return;
      waiting.delete(token);
    }
    this.#waiting.delete(queue);
  }

  /** RespondNexusTaskCompleted. */
  completed(request: Uint8Array): Uint8Array {
    const { taskToken, response } = decodeMessage(RespondNexusTaskCompletedRequestSchema, request);
    const started = response?.variant.case === "startOperation"
      ? response.variant.value.variant
      : undefined;
    if (started?.case === "asyncSuccess") {
      // Older workers set the operation id only.
      const token = started.value.operationToken || started.value.operationId;
      if (token === "") throw invalid("missing operation token in response");
      const bytes = new TextEncoder().encode(token).length;
      if (bytes > MAX_TOKEN_BYTES) {
        throw invalid(
          `operation token length exceeds allowed limit (${bytes}/${MAX_TOKEN_BYTES})`,
        );
      }
    }
    if (started?.case === "operationError") checkDetails(started.value.failure?.details);
    this.#take(taskToken).end({ kind: "response", response });
    return EMPTY_RESPONSE;
  }

  /** RespondNexusTaskFailed. */
  failed(request: Uint8Array): Uint8Array {
    const { taskToken, error, failure } = decodeMessage(
      RespondNexusTaskFailedRequestSchema,
      request,
    );
    checkDetails(error?.failure?.details);
    const task = this.#take(taskToken);
    task.end(failure === undefined ? { kind: "error", error } : { kind: "failure", failure });
    return EMPTY_RESPONSE;
  }

  #take(token: Uint8Array): Task {
    const task = this.#tasks.get(new TextDecoder().decode(token));
    if (task !== undefined) return task;
    throw new ServiceError(
      Code.NOT_FOUND,
      "Nexus task not found or already expired",
      "NotFound",
    );
  }

  /** Ends the polls of a worker. `request` is the bytes of a ShutdownWorkerRequest. */
  shutDown(request: Uint8Array): void {
    this.#polls.shutDown(request);
  }

  close(): void {
    this.#closed = true;
    this.#polls.close();
    for (const task of [...this.#tasks.values()]) task.drop();
  }
}

const queueKey = (namespace: string, taskQueue: string) => `${namespace}\n${taskQueue}`;

function checkDetails(details: Uint8Array | undefined): void {
  if (details === undefined || details.length === 0) return;
  try {
    JSON.parse(new TextDecoder().decode(details));
  } catch {
    throw invalid("failure details must be JSON serializable");
  }
}
