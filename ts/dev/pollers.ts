// Who has polled which task queue lately, for DescribeTaskQueue: `temporal task-queue describe` answers "is there a worker at all".
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EmbeddedEngine } from "../engine/host.ts";
import { decode, invalid } from "../engine/host_bytes.ts";
import { DescribeTaskQueueMode, TaskQueueType } from "../api/generated/temporal/api/enums/v1/task_queue_pb.ts";
import { PollWorkflowTaskQueueRequest as Poll, TaskQueue } from "../api/generated/fields.ts";
import { Fields, textOf } from "../api/wire.ts";
import type { PollerInfoSchema } from "../api/generated/temporal/api/taskqueue/v1/message_pb.ts";
import {
  DescribeTaskQueueRequestSchema,
  type DescribeTaskQueueResponseSchema,
} from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

import { durationFromMs } from "../api/well_known.ts";

type Poller = MessageInitShape<typeof PollerInfoSchema>;

/** As long as Temporal's servers remember a poller. */
const REMEMBERED_MS = 5 * 60_000;

const RATE_PER_SECOND = 100_000;
/** Deprecated, and read by tools without a look whether it is there. There are no blocks of ids here. */
const STATUS = { ratePerSecond: RATE_PER_SECOND, taskIdBlock: { startId: 1n, endId: 100_000n } };

interface Seen {
  readonly atMs: number;
  readonly poller: Poller;
}

/** Queue and identity of a poll; both kinds have them in the same fields. Undefined for what does not decode. */
function readPoll(request: Uint8Array): { readonly queue: string; readonly identity: string } | undefined {
  let queue = "", identity = "";
  try {
    for (const at = new Fields(request); at.next();) {
      if (at.tag === Poll.identity) identity = at.text();
      else if (at.tag === Poll.taskQueue) queue = textOf(at.bytes(), TaskQueue.name);
    }
  } catch {
    return undefined;
  }
  return { queue, identity };
}

export class Pollers {
  /** By side and queue, then by identity. */
  readonly #queues = new Map<string, Map<string, Seen>>();
  readonly #nowMs: () => number;
  #sweptMs = 0;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** A poll came. What does not decode, the engine refuses. */
  note(method: "pollWorkflowTaskQueue" | "pollActivityTaskQueue", request: Uint8Array): void {
    const side = method === "pollWorkflowTaskQueue" ? TaskQueueType.WORKFLOW : TaskQueueType.ACTIVITY;
    const poll = readPoll(request);
    if (poll === undefined) return;
    const atMs = this.#nowMs();
    const key = `${side} ${poll.queue}`;
    let queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, queue = new Map());
    queue.set(poll.identity, {
      atMs,
      poller: {
        identity: poll.identity,
        ratePerSecond: RATE_PER_SECOND,
        lastAccessTime: { seconds: BigInt(Math.floor(atMs / 1000)), nanos: (atMs % 1000) * 1e6 },
      },
    });
    if (atMs - this.#sweptMs > REMEMBERED_MS) this.#sweep(atMs);
  }

  /** Sticky queues have new names with every worker: what nobody polls any more is forgotten. */
  #sweep(nowMs: number): void {
    this.#sweptMs = nowMs;
    for (const [key, queue] of this.#queues) {
      for (const [identity, { atMs }] of queue) if (nowMs - atMs > REMEMBERED_MS) queue.delete(identity);
      if (queue.size === 0) this.#queues.delete(key);
    }
  }

  #of(side: TaskQueueType, queue: string): Poller[] {
    const now = this.#nowMs();
    return [...this.#queues.get(`${side} ${queue}`)?.values() ?? []]
      .filter(({ atMs }) => now - atMs <= REMEMBERED_MS)
      .map(({ poller }) => poller);
  }

  /** Answers DescribeTaskQueue, in both of its forms. There are no build ids, so everything is under the unversioned one. */
  describe(bytes: Uint8Array, engine: Pick<EmbeddedEngine, "backlog">): MessageInitShape<typeof DescribeTaskQueueResponseSchema> {
    const request = decode(DescribeTaskQueueRequestSchema, bytes);
    const name = request.taskQueue?.name ?? "";
    if (name === "") throw invalid("TaskQueue is not set on request.");
    const backlog = engine.backlog(name);
    const statsOf = (side: TaskQueueType) => {
      const { tasks, oldestMs } = side === TaskQueueType.ACTIVITY ? backlog.activity : backlog.workflow;
      return { approximateBacklogCount: BigInt(tasks), approximateBacklogAge: durationFromMs(oldestMs) };
    };
    if (request.apiMode !== DescribeTaskQueueMode.ENHANCED) {
      const side = request.taskQueueType === TaskQueueType.UNSPECIFIED ? TaskQueueType.WORKFLOW : request.taskQueueType;
      return {
        pollers: this.#of(side, name),
        ...(request.reportStats && { stats: statsOf(side) }),
        ...(request.includeTaskQueueStatus &&
          { taskQueueStatus: { ...STATUS, backlogCountHint: statsOf(side).approximateBacklogCount } }),
      };
    }
    const sides = request.taskQueueTypes.length > 0 ? request.taskQueueTypes : [TaskQueueType.WORKFLOW, TaskQueueType.ACTIVITY];
    const typesInfo = Object.fromEntries(sides.map((side) => [side, { pollers: this.#of(side, name), stats: statsOf(side) }]));
    return { versionsInfo: { "": { typesInfo } } };
  }
}
