// Whether a long poll for the end of a run waits for something that has happened. Temporal's server tells those who wait of each change once,
// and keeps one unread notice for each of them: on a busy server the notice of the end is dropped behind the one before it, and the poll ends
// with nothing 20 s after it began. Short runs are hit, whose last changes come at once; it was one in a thousand on a server of two busy
// cores. So whoever has been waiting for a while looks, and a poll that waits for a run that is closed is given up and sent again, to be
// answered at once. Only at first: who has been waiting for long does not mind 20 s, and a service is not asked more often for it.
//
// The last look also asks whether anybody takes the task that a run waits for: a task queue that was misspelt is no error anywhere, and
// what is on it waits for ever. That is told by a warning, once for each queue, and changes nothing else.
import {
  PendingActivityState,
  PendingWorkflowTaskState,
  WorkflowExecutionStatus,
} from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import { TaskQueueType } from "../api/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type {
  DescribeTaskQueueResponse,
  DescribeWorkflowExecutionResponse,
} from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { concat, fieldHead, readTextField, tagWithLength } from "../api/wire.ts";
import { realTimers } from "../base/timers.ts";
import { PROCEDURE_QUEUE } from "../converter/procedure_names.ts";
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

  /** What a run waits for may be a workflow task of its own, an activity, or a child's workflow task. */
  async #tellOfNoWorker(seen: DescribeWorkflowExecutionResponse, signal: AbortSignal): Promise<void> {
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
    const childSeen = await calls.call("describeWorkflowExecution", request, limit, undefined, { asStored: true }).catch(() =>
      undefined
    );
    const childsQueue = childSeen && waitingQueue(childSeen);
    if (childsQueue === undefined) return;
    const waits = `${workflow} waits for its child "${workflowId}": no worker polls task queue`;
    await this.#tellOf(childsQueue, TaskQueueType.WORKFLOW, waits, limit);
  }

  async #tellOf(name: string, taskQueueType: TaskQueueType, waits: string, limit: Deadline): Promise<void> {
    const { calls, namespace, logger } = this.#context;
    const request = { namespace, taskQueue: { name }, taskQueueType };
    // Not every service has the method, and not everybody may call it.
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

/** The queue where a run's workflow task waits to be taken. */
function waitingQueue({ pendingWorkflowTask, executionConfig }: DescribeWorkflowExecutionResponse): string | undefined {
  if (pendingWorkflowTask?.state !== PendingWorkflowTaskState.SCHEDULED) return undefined;
  return executionConfig?.taskQueue?.name || undefined;
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
    const names = JSON.parse(readTextField(concat([fieldHead(tag), field.data]), tag)) as string[];
    if (names.length === 0) return "; no task queue has a worker";
    return `; workers poll ${names.map((name) => `"${name}"`).join(", ")}`;
  } catch {
    return "";
  }
}

/** The reason why a poll is given up. */
const CLOSED = new Error("the run is closed");
