// Polls for Nexus tasks. They stay open until a task comes or their worker shuts down: the
// namespaces state workerPollCompleteOnShutdown, and SDKs wait for it.
import {
  PollNexusTaskQueueRequest,
  ShutdownWorkerRequest,
} from "../../messages/generated/fields.ts";
import { textField } from "../../engine/host_bytes.ts";
import { LONG_POLL_MS } from "../../engine/methods.ts";
import { callCanceled, closed, tooLate } from "../../engine/refusals.ts";
import type { CallOptions, ServiceError } from "../../service/raw.ts";

/**
 * Workers whose shutdown is remembered: a poll can arrive after the ShutdownWorker of its worker.
 */
const MAX_ENDED_WORKERS = 1000;
const EMPTY_RESPONSE = new Uint8Array(0);

interface Poll {
  readonly worker: string;
  readonly queue: string;
  /** Resolves with a task. */
  take(task: Uint8Array): void;
  /** Resolves without a task, or rejects. */
  end(error?: ServiceError): void;
}

export class NexusPolls {
  readonly #polls = new Set<Poll>();
  readonly #ended = new Set<string>();
  readonly #longPollMs: number;
  #closed = false;

  constructor(longPollMs: number = LONG_POLL_MS.pollNexusTaskQueue!) {
    this.#longPollMs = longPollMs;
  }

  /** Polls that are open. */
  get size(): number {
    return this.#polls.size;
  }

  /**
   * Resolves with an empty response when the long poll is over or its worker shuts down. Rejects
   * with a ServiceError.
   */
  poll(
    request: Uint8Array,
    { signal, timeoutMs = Infinity }: CallOptions = {},
    queue = "",
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const worker = textField(request, PollNexusTaskQueueRequest.workerInstanceKey);
      if (this.#closed) return reject(closed());
      if (signal?.aborted) return reject(callCanceled());
      if (this.#ended.has(worker)) return resolve(EMPTY_RESPONSE);
      const waitMs = Math.min(this.#longPollMs, timeoutMs);
      const timer = setTimeout(
        () =>
          poll.end(
            timeoutMs <= this.#longPollMs
              ? tooLate("pollNexusTaskQueue reached its deadline", undefined)
              : undefined,
          ),
        waitMs,
      );
      const abort = () => poll.end(callCanceled());
      const isOpen = () => {
        if (!this.#polls.delete(poll)) return false;
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        return true;
      };
      const poll: Poll = {
        worker,
        queue,
        take: (task) => {
          if (isOpen()) resolve(task);
        },
        end: (error) => {
          if (!isOpen()) return;
          if (error === undefined) resolve(EMPTY_RESPONSE);
          else reject(error);
        },
      };
      this.#polls.add(poll);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Gives a task to the oldest poll of a queue; false without one. */
  hand(queue: string, task: Uint8Array): boolean {
    for (const poll of this.#polls) {
      if (poll.queue !== queue) continue;
      poll.take(task);
      return true;
    }
    return false;
  }

  /** Ends the polls of a worker. `request` is the bytes of a ShutdownWorkerRequest. */
  shutDown(request: Uint8Array): void {
    const worker = textField(request, ShutdownWorkerRequest.workerInstanceKey);
    if (worker === "") return;
    this.#ended.add(worker);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= MAX_ENDED_WORKERS) break;
      this.#ended.delete(oldest);
    }
    for (const poll of [...this.#polls]) if (poll.worker === worker) poll.end();
  }

  close(): void {
    this.#closed = true;
    for (const poll of [...this.#polls]) poll.end(closed());
  }
}
