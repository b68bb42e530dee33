// Detects a closed run during a long poll. Temporal's server keeps one unread notice for each poll,
// so on a busy server the notice of the end can be lost, and the poll ends empty after 20 s. It
// affects short runs, one in a thousand on a server of two cores. So early in a wait, the run is
// described, and the poll of a closed one is repeated. The last check also warns, once for each
// queue, if no worker polls the queue of a waiting task: a misspelled queue causes no error.
import {
  PendingActivityState,
  PendingWorkflowTaskState,
  WorkflowExecutionStatus,
} from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { TaskQueueType } from "../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type {
  DescribeTaskQueueResponse,
  DescribeWorkflowExecutionResponse,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { concat, fieldHead, readTextField, tagWithLength } from "../messages/wire.ts";
import { realTimers } from "../base/timers.ts";
import { PROCEDURE_QUEUE } from "../converter/procedure_names.ts";
import { POLLED_QUEUES } from "../service/raw.ts";
import { type Calls, Deadline } from "./calls.ts";
import type { ClientContext } from "./context.ts";

/** Times of the checks in milliseconds, from the beginning of the wait. */
const LOOKS_MS: readonly number[] = [2000, 6000];

export class CloseCheck {
  readonly #context: ClientContext;
  readonly #execution: { readonly workflowId: string; readonly runId: string };
  readonly #deadline: Deadline;
  #looks = 0;
  #waited = 0;
  #cancel: (() => void) | undefined;
  /** Cancels the current poll. */
  #poll: AbortController | undefined;

  constructor(
    context: ClientContext,
    execution: { workflowId: string; runId: string },
    deadline: Deadline,
  ) {
    this.#context = context;
    this.#execution = execution;
    this.#deadline = deadline;
    this.#next();
  }

  /**
   * Waits by `poll`. Returns undefined, like a poll without news, once a check has shown that the
   * run is closed.
   */
  async during<T>(poll: (deadline: Deadline) => Promise<T | undefined>): Promise<T | undefined> {
    // After the last check only the caller cancels the poll.
    if (this.#cancel === undefined && this.#looks >= LOOKS_MS.length) {
      return await poll(this.#deadline);
    }
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

  end(): void {
    this.#cancel?.();
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

  /** Only "closed" matters here; the poll reports everything else. */
  async #look(): Promise<void> {
    const { calls, namespace } = this.#context;
    const poll = this.#poll;
    if (poll === undefined) return;
    const request = { namespace, execution: this.#execution };
    const under = this.#deadline.under(poll.signal);
    const seen = await calls.call("describeWorkflowExecution", request, under, undefined, {
      asStored: true,
    }).catch(() => undefined);
    const status = seen?.workflowExecutionInfo?.status ?? WorkflowExecutionStatus.RUNNING;
    if (
      status !== WorkflowExecutionStatus.RUNNING && status !== WorkflowExecutionStatus.UNSPECIFIED
    ) poll.abort(CLOSED);
    else if (seen !== undefined && this.#looks === LOOKS_MS.length) {
      await this.#tellOfNoWorker(seen, poll.signal);
    }
  }

  /** A run can wait for a workflow task, an activity, or a child's workflow task. */
  async #tellOfNoWorker(
    seen: DescribeWorkflowExecutionResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const limit = new Deadline({ signal, timeout: QUEUE_MS });
    const workflow = `workflow "${this.#execution.workflowId}"`;
    const own = waitingQueue(seen);
    if (own !== undefined) {
      const waits = `${workflow} waits for a worker: no worker polls its task queue`;
      return await this.#tellOf(own, TaskQueueType.WORKFLOW, waits, limit);
    }
    const activity = seen.pendingActivities.find(({ state, attempt }) =>
      state === PendingActivityState.SCHEDULED && attempt <= 1
    );
    const queue = activity?.activityOptions?.taskQueue?.name ?? PROCEDURE_QUEUE;
    if (queue !== PROCEDURE_QUEUE && queue !== "") {
      const waits = `${workflow} waits for its activity "${
        activity!.activityType?.name
      }": no worker polls activities of task queue`;
      return await this.#tellOf(queue, TaskQueueType.ACTIVITY, waits, limit);
    }
    const [child] = seen.pendingChildren;
    if (child === undefined) return;
    const { calls, namespace } = this.#context;
    const { workflowId, runId } = child;
    const request = { namespace, execution: { workflowId, runId } };
    const childSeen = await calls.call("describeWorkflowExecution", request, limit, undefined, {
      asStored: true,
    }).catch(() => undefined);
    const childsQueue = childSeen && waitingQueue(childSeen);
    if (childsQueue === undefined) return;
    const waits = `${workflow} waits for its child "${workflowId}": no worker polls task queue`;
    await this.#tellOf(childsQueue, TaskQueueType.WORKFLOW, waits, limit);
  }

  async #tellOf(
    name: string,
    taskQueueType: TaskQueueType,
    waits: string,
    limit: Deadline,
  ): Promise<void> {
    const { calls, namespace, logger } = this.#context;
    const request = { namespace, taskQueue: { name }, taskQueueType };
    // Some services lack the method, and some callers have no permission.
    const queue = await calls.call("describeTaskQueue", request, limit).catch(() => undefined);
    if (queue === undefined || queue.pollers.length > 0) return;
    const told = toldOf(calls);
    const key = `${taskQueueType} ${name}`;
    if (told.has(key)) return;
    told.add(key);
    const { workflowId } = this.#execution;
    logger.warn(`${waits} "${name}"${otherQueues(queue)}`, { workflowId, taskQueue: name });
  }
}

/** Returns the queue where a run's workflow task waits. */
function waitingQueue(
  { pendingWorkflowTask, executionConfig }: DescribeWorkflowExecutionResponse,
): string | undefined {
  if (pendingWorkflowTask?.state !== PendingWorkflowTaskState.SCHEDULED) return undefined;
  return executionConfig?.taskQueue?.name || undefined;
}

const QUEUE_MS = 5000;

/** Queues that were reported to each client. */
const told = new WeakMap<Calls, Set<string>>();

function toldOf(calls: Calls): Set<string> {
  let queues = told.get(calls);
  if (queues === undefined) told.set(calls, queues = new Set());
  return queues;
}

/** Lists the queues that have workers, if the service reports them. */
function otherQueues({ $unknown = [] }: DescribeTaskQueueResponse): string {
  const field = $unknown.find(({ no }) => no === POLLED_QUEUES);
  if (field === undefined) return "";
  const tag = tagWithLength(POLLED_QUEUES);
  try {
    const names = JSON.parse(readTextField(concat([fieldHead(tag), field.data]), tag)) as string[];
    if (names.length === 0) return "; no task queue has a worker";
    return `; workers poll ${names.map((name) => `"${name}"`).join(", ")}`;
  } catch {
    return "";
  }
}

/** Reason of a canceled poll. */
const CLOSED = new Error("the run is closed");
