// Whether a long poll for the end of a run waits for something that has happened. Temporal's server tells those who wait of each change once,
// and keeps one unread notice for each of them: on a busy server the notice of the end is dropped behind the one before it, and the poll ends
// with nothing 20 s after it began. Short runs are hit, whose last changes come at once; it was one in a thousand on a server of two busy
// cores. So whoever has been waiting for a while looks, and a poll that waits for a run that is closed is given up and sent again, to be
// answered at once. Only at first: who has been waiting for long does not mind 20 s, and a service is not asked more often for it.
//
// The last look also asks whether anybody takes the tasks of a run that waits for a worker: a task queue that was misspelt is no error
// anywhere, and its workflows wait for ever. That is told by a warning, once for each queue, and changes nothing else.
import { PendingWorkflowTaskState, WorkflowExecutionStatus } from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import { TaskQueueType } from "../api/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type {
  DescribeTaskQueueResponse,
  DescribeWorkflowExecutionResponse,
} from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { concat, fieldHead, tagWithLength, textOf } from "../api/wire.ts";
import { realTimers } from "../base/timers.ts";
import { POLLED_QUEUES } from "../service/raw.ts";
import { type Calls, Deadline } from "./calls.ts";
import type { ClientContext } from "./context.ts";

/** When one looks, from the beginning of the wait. */
const LOOKS_MS: readonly number[] = [2000, 6000];

export class CloseCheck {
  readonly #context: ClientContext;
  readonly #execution: { readonly workflowId: string; readonly runId: string };
  readonly #deadline: Deadline;
  #looks = 0;
  #waited = 0;
  #cancel: (() => void) | undefined;
  /** Of the poll that waits. */
  #poll: AbortController | undefined;

  constructor(context: ClientContext, execution: { workflowId: string; runId: string }, deadline: Deadline) {
    this.#context = context;
    this.#execution = execution;
    this.#deadline = deadline;
    this.#next();
  }

  /** Waits by `poll`; answers undefined, as a poll that ended with nothing, once a look has shown that the run is closed. */
  async during<T>(poll: (deadline: Deadline) => Promise<T | undefined>): Promise<T | undefined> {
    // All looks are over: nothing will give the poll up but its caller.
    if (this.#cancel === undefined && this.#looks >= LOOKS_MS.length) return await poll(this.#deadline);
    const controller = this.#poll = new AbortController();
    const { signal } = this.#deadline;
    const follow = () => controller.abort(signal!.reason);
    signal?.addEventListener("abort", follow);
    if (signal?.aborted === true) follow();
    try {
      return await poll(this.#deadline.under(controller.signal));
    } catch (error) {
      if (controller.signal.aborted && controller.signal.reason === CLOSED) return undefined;
      throw error;
    } finally {
      signal?.removeEventListener("abort", follow);
      this.#poll = undefined;
    }
  }

  /** No more looks. */
  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#looks = LOOKS_MS.length;
  }

  #next(): void {
    const at = LOOKS_MS[this.#looks];
    this.#cancel = at === undefined ? undefined : realTimers.after(at - this.#waited, () => {
      this.#waited = at;
      this.#looks++;
      void this.#look().finally(() => this.#next());
    });
  }

  /** What a look says besides "closed" the poll says better. */
  async #look(): Promise<void> {
    const { calls, namespace } = this.#context;
    const poll = this.#poll;
    if (poll === undefined) return;
    const request = { namespace, execution: this.#execution };
    const under = this.#deadline.under(poll.signal);
    const seen = await calls.call("describeWorkflowExecution", request, under, undefined, { asStored: true }).catch(() =>
      undefined
    );
    const status = seen?.workflowExecutionInfo?.status ?? WorkflowExecutionStatus.RUNNING;
    if (status !== WorkflowExecutionStatus.RUNNING && status !== WorkflowExecutionStatus.UNSPECIFIED) poll.abort(CLOSED);
    else if (seen !== undefined && this.#looks === LOOKS_MS.length) await this.#tellOfNoWorker(seen, poll.signal);
  }

  async #tellOfNoWorker(seen: DescribeWorkflowExecutionResponse, signal: AbortSignal): Promise<void> {
    const { calls, namespace, logger } = this.#context;
    const name = seen.executionConfig?.taskQueue?.name ?? "";
    if (seen.pendingWorkflowTask?.state !== PendingWorkflowTaskState.SCHEDULED || name === "") return;
    const request = { namespace, taskQueue: { name }, taskQueueType: TaskQueueType.WORKFLOW };
    const limit = new Deadline({ signal, timeout: QUEUE_MS });
    // Not every service has the method, and not everybody may call it.
    const queue = await calls.call("describeTaskQueue", request, limit).catch(() => undefined);
    if (queue === undefined || queue.pollers.length > 0) return;
    const told = toldOf(calls);
    if (told.has(name)) return;
    told.add(name);
    const { workflowId } = this.#execution;
    const waits = `workflow "${workflowId}" waits for a worker: none takes tasks of its task queue "${name}"`;
    logger.warn(`${waits}${otherQueues(queue)}`, { workflowId, taskQueue: name });
  }
}

const QUEUE_MS = 5000;

/** The queues that each client was told of. */
const told = new WeakMap<Calls, Set<string>>();

function toldOf(calls: Calls): Set<string> {
  let queues = told.get(calls);
  if (queues === undefined) told.set(calls, queues = new Set());
  return queues;
}

/** The queues that have workers, where the service tells them. */
function otherQueues({ $unknown = [] }: DescribeTaskQueueResponse): string {
  const field = $unknown.find(({ no }) => no === POLLED_QUEUES);
  if (field === undefined) return "";
  const tag = tagWithLength(POLLED_QUEUES);
  try {
    const names = JSON.parse(textOf(concat([fieldHead(tag), field.data]), tag)) as string[];
    if (names.length === 0) return "; no task queue has a worker";
    return `; workers take tasks of ${names.map((name) => `"${name}"`).join(", ")}`;
  } catch {
    return "";
  }
}

/** The reason why a poll is given up. */
const CLOSED = new Error("the run is closed");
