// Who has polled which task queue lately, for DescribeTaskQueue: `temporal task-queue describe` answers "is there a worker at all".
import type { MessageInitShape } from "@bufbuild/protobuf";
import { DescribeTaskQueueMode, TaskQueueKind, TaskQueueType } from "../api/generated/temporal/api/enums/v1/task_queue_pb.ts";
import { PollWorkflowTaskQueueRequest as Poll, TaskQueue } from "../api/generated/fields.ts";
import { concat, Fields, intOf, Message, readTextField, tagWithLength } from "../api/wire.ts";
import type { PollerInfoSchema } from "../api/generated/temporal/api/taskqueue/v1/message_pb.ts";
import {
  type DescribeTaskQueueRequest,
  DescribeTaskQueueRequestSchema,
  DescribeTaskQueueResponseSchema,
} from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { durationFromMs } from "../api/well_known.ts";
import { POLLED_QUEUES } from "../service/raw.ts";
import { decodeMessage, encodeMessage, invalid } from "./host_bytes.ts";
import type { Backlog } from "./options.ts";

type Poller = MessageInitShape<typeof PollerInfoSchema>;

/** As long as Temporal's servers remember a poller. */
const REMEMBERED_MS = 5 * 60_000;

const RATE_PER_SECOND = 100_000;
/** Deprecated, and read by tools without a look whether it is there. There are no blocks of ids here. */
const STATUS = { ratePerSecond: RATE_PER_SECOND, taskIdBlock: { startId: 1n, endId: 100_000n } };

/** More names help nobody who looks for the one that was misspelt. */
const MAX_NAMES = 100;

/** A queue's pollers by identity, and when each came last. */
interface Polled {
  readonly side: TaskQueueType;
  readonly sticky: boolean;
  readonly seenMs: Map<string, number>;
}

type Backlogs = (queue: string) => { readonly workflow: Backlog; readonly activity: Backlog };

/** Queue and identity of a poll; both kinds have them in the same fields. Undefined for what does not decode. */
function readPoll(
  request: Uint8Array,
): { readonly queue: string; readonly sticky: boolean; readonly identity: string } | undefined {
  let queue = "", identity = "", sticky = false;
  try {
    for (const at = new Fields(request); at.next();) {
      if (at.tag === Poll.identity) identity = at.text();
      else if (at.tag === Poll.taskQueue) {
        const bytes = at.bytes();
        queue = readTextField(bytes, TaskQueue.name);
        sticky = intOf(bytes, TaskQueue.kind) === TaskQueueKind.STICKY;
      }
    }
  } catch {
    return undefined;
  }
  return { queue, sticky, identity };
}

export class Pollers {
  /** By side and name. */
  readonly #queues = new Map<string, Polled>();
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
    if (queue === undefined) this.#queues.set(key, queue = { side, sticky: poll.sticky, seenMs: new Map() });
    queue.seenMs.set(poll.identity, atMs);
    if (atMs - this.#sweptMs > REMEMBERED_MS) this.#sweep(atMs);
  }

  /** Sticky queues have new names with every worker: what nobody polls any more is forgotten. */
  #sweep(nowMs: number): void {
    this.#sweptMs = nowMs;
    for (const [key, queue] of this.#queues) {
      for (const [identity, atMs] of queue.seenMs) if (nowMs - atMs > REMEMBERED_MS) queue.seenMs.delete(identity);
      if (queue.seenMs.size === 0) this.#queues.delete(key);
    }
  }

  #of(side: TaskQueueType, queue: string): Poller[] {
    const now = this.#nowMs();
    return [...this.#queues.get(`${side} ${queue}`)?.seenMs ?? []]
      .filter(([, atMs]) => now - atMs <= REMEMBERED_MS)
      .map(([identity, atMs]) => ({
        identity,
        ratePerSecond: RATE_PER_SECOND,
        lastAccessTime: { seconds: BigInt(Math.floor(atMs / 1000)), nanos: (atMs % 1000) * 1e6 },
      }));
  }

  /** Names of the queues whose tasks of this kind somebody takes, without those of single workers. */
  #names(wanted: TaskQueueType): string[] {
    this.#sweep(this.#nowMs());
    const names = [...this.#queues].filter(([, { side, sticky }]) => side === wanted && !sticky);
    return names.slice(0, MAX_NAMES).map(([key]) => key.slice(key.indexOf(" ") + 1));
  }

  /** Answers DescribeTaskQueue, with the names of the other queues behind the fields of Temporal's API. */
  answer(bytes: Uint8Array, checkNamespace: (name: string) => void, backlogOf: Backlogs): Uint8Array {
    const request = decodeMessage(DescribeTaskQueueRequestSchema, bytes);
    checkNamespace(request.namespace);
    const described = encodeMessage(DescribeTaskQueueResponseSchema, this.#describe(request, backlogOf));
    const names = this.#names(sideOf(request));
    return concat([described, new Message().text(tagWithLength(POLLED_QUEUES), JSON.stringify(names)).finish()]);
  }

  /** In both of its forms. There are no build ids, so everything is under the unversioned one. */
  #describe(request: DescribeTaskQueueRequest, backlogOf: Backlogs): MessageInitShape<typeof DescribeTaskQueueResponseSchema> {
    const name = request.taskQueue?.name ?? "";
    if (name === "") throw invalid("TaskQueue is not set on request.");
    const backlog = backlogOf(name);
    const statsOf = (side: TaskQueueType) => {
      const { tasks, oldestMs } = side === TaskQueueType.ACTIVITY ? backlog.activity : backlog.workflow;
      return { approximateBacklogCount: BigInt(tasks), approximateBacklogAge: durationFromMs(oldestMs) };
    };
    if (request.apiMode !== DescribeTaskQueueMode.ENHANCED) {
      const side = sideOf(request);
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

const sideOf = ({ taskQueueType }: DescribeTaskQueueRequest): TaskQueueType =>
  taskQueueType === TaskQueueType.UNSPECIFIED ? TaskQueueType.WORKFLOW : taskQueueType;
