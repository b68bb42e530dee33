// The recent pollers of each task queue, for DescribeTaskQueue (`temporal task-queue describe`).
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  DescribeTaskQueueMode,
  RateLimitSource,
  TaskQueueKind,
  TaskQueueType,
} from "../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import {
  PollActivityTaskQueueRequest as PollActivity,
  PollWorkflowTaskQueueRequest as Poll,
  TaskQueue,
} from "../messages/generated/fields.ts";
import { concat, Fields, intOf, Message, readTextField, tagWithLength } from "../messages/wire.ts";
import {
  type PollerInfoSchema,
  type TaskQueueConfig,
  TaskQueueMetadataSchema,
  type TaskQueueVersioningInfoSchema,
} from "../messages/generated/temporal/api/taskqueue/v1/message_pb.ts";
import {
  type DescribeTaskQueueRequest,
  DescribeTaskQueueRequestSchema,
  DescribeTaskQueueResponseSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { POLLED_QUEUES } from "../service/raw.ts";
import { decodeMessage, encodeMessage, invalid } from "./host_bytes.ts";
import { type PriorityStats, type QueueSide, statsMessage, totalOf } from "./backlog.ts";
import { ScalingChecks } from "./poller_scaling.ts";

type Poller = MessageInitShape<typeof PollerInfoSchema>;

/** As in Temporal's servers. */
const REMEMBERED_MS = 5 * 60_000;

const RATE_PER_SECOND = 100_000;
/** Deprecated fields that tools read without checking. The engine has no blocks of task ids. */
const STATUS = { ratePerSecond: RATE_PER_SECOND, taskIdBlock: { startId: 1n, endId: 100_000n } };

/** Maximum queue names in a description; they help to find a misspelled name. */
const MAX_NAMES = 100;

/** The pollers of a queue by identity, with the time of the last poll. */
interface Polled {
  readonly side: TaskQueueType;
  readonly sticky: boolean;
  /** Of the last poll: tasks a second. */
  rate: number | undefined;
  readonly seenMs: Map<string, number>;
  readonly checks: ScalingChecks;
}

/** A recorded poll. */
export interface NotedPoll {
  readonly side: QueueSide;
  readonly queue: string;
  /** Of its queue. */
  readonly checks: ScalingChecks;
}

/** The versions of a task queue. */
export type QueueVersioning = MessageInitShape<typeof TaskQueueVersioningInfoSchema>;

/** What a description shows besides the pollers. */
export interface QueueFacts {
  statsOf(queue: string): readonly PriorityStats[];
  /** Undefined: it has no configuration. */
  configOf?(queue: string, type: TaskQueueType): TaskQueueConfig | undefined;
  /** Undefined: its workers have no versions. */
  versioningOf?(queue: string, type: TaskQueueType): QueueVersioning | undefined;
}

/**
 * Queue and identity of a poll; both kinds use the same fields. Undefined if it does not decode.
 */
function readPoll(
  request: Uint8Array,
): Pick<Polled, "sticky" | "rate"> & { queue: string; identity: string } | undefined {
  let queue = "", identity = "", sticky = false, rate: number | undefined;
  try {
    for (const at = new Fields(request); at.next();) {
      if (at.tag === Poll.identity) identity = at.text();
      else if (at.tag === Poll.taskQueue) {
        const bytes = at.bytes();
        queue = readTextField(bytes, TaskQueue.name);
        sticky = intOf(bytes, TaskQueue.kind) === TaskQueueKind.STICKY;
      } else if (at.tag === PollActivity.taskQueueMetadata) rate = readRate(at.bytes());
    }
  } catch {
    return undefined;
  }
  return { queue, sticky, identity, rate };
}

/** The limit that a worker sets for its queue. */
function readRate(metadata: Uint8Array): number | undefined {
  return fromBinary(TaskQueueMetadataSchema, metadata).maxTasksPerSecond;
}

export class Pollers {
  /** By side and queue name. */
  readonly #queues = new Map<string, Polled>();
  readonly #nowMs: () => number;
  #sweptMs = 0;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** Records a poll. Returns undefined for one that does not decode; the engine rejects it. */
  note(
    method: "pollWorkflowTaskQueue" | "pollActivityTaskQueue",
    request: Uint8Array,
  ): NotedPoll | undefined {
    const side = method === "pollWorkflowTaskQueue"
      ? TaskQueueType.WORKFLOW
      : TaskQueueType.ACTIVITY;
    const poll = readPoll(request);
    if (poll === undefined) return undefined;
    const atMs = this.#nowMs();
    const key = `${side} ${poll.queue}`;
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      const { sticky, rate } = poll;
      queue = { side, sticky, rate, seenMs: new Map(), checks: new ScalingChecks() };
      this.#queues.set(key, queue);
    }
    queue.rate = poll.rate;
    queue.seenMs.set(poll.identity, atMs);
    if (atMs - this.#sweptMs > REMEMBERED_MS) this.#sweep(atMs);
    return { side: nameOf(side), queue: poll.queue, checks: queue.checks };
  }

  /** Removes queues without recent polls: each worker has a new sticky queue. */
  #sweep(nowMs: number): void {
    this.#sweptMs = nowMs;
    for (const [key, queue] of this.#queues) {
      for (const [identity, atMs] of queue.seenMs) {
        if (nowMs - atMs > REMEMBERED_MS) queue.seenMs.delete(identity);
      }
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

  /** As a server, with its own rate where neither the configuration nor a worker sets one. */
  #limit(side: TaskQueueType, queue: string, config: TaskQueueConfig | undefined) {
    const api = config?.queueRateLimit?.rateLimit?.requestsPerSecond;
    const worker = this.#queues.get(`${side} ${queue}`)?.rate;
    const rate = api ?? worker ?? Infinity;
    return rate < RATE_PER_SECOND
      ? {
        requestsPerSecond: rate,
        rateLimitSource: api === undefined ? RateLimitSource.WORKER : RateLimitSource.API,
      }
      : { requestsPerSecond: RATE_PER_SECOND, rateLimitSource: RateLimitSource.SYSTEM };
  }

  /** Names of polled queues of this type, without sticky queues. */
  #names(wanted: TaskQueueType): string[] {
    this.#sweep(this.#nowMs());
    const names = [...this.#queues].filter(([, { side, sticky }]) => side === wanted && !sticky);
    return names.slice(0, MAX_NAMES).map(([key]) => key.slice(key.indexOf(" ") + 1));
  }

  /**
   * Returns the DescribeTaskQueue response, with the names of polled queues after Temporal's
   * fields.
   */
  answer(
    bytes: Uint8Array,
    checkNamespace: (name: string) => void,
    facts: QueueFacts,
  ): Uint8Array {
    const request = decodeMessage(DescribeTaskQueueRequestSchema, bytes);
    checkNamespace(request.namespace);
    const described = encodeMessage(
      DescribeTaskQueueResponseSchema,
      this.#describe(request, facts),
    );
    const names = this.#names(sideOf(request));
    return concat([
      described,
      new Message().text(tagWithLength(POLLED_QUEUES), JSON.stringify(names)).finish(),
    ]);
  }

  /**
   * Describes a queue in both API modes. The engine has no build ids: all is under the unversioned
   * one.
   */
  #describe(
    request: DescribeTaskQueueRequest,
    facts: QueueFacts,
  ): MessageInitShape<typeof DescribeTaskQueueResponseSchema> {
    const name = request.taskQueue?.name ?? "";
    if (name === "") throw invalid("TaskQueue is not set on request.");
    const stats = facts.statsOf(name);
    if (request.apiMode !== DescribeTaskQueueMode.ENHANCED) {
      const side = sideOf(request);
      const ofSide = stats.filter((row) => row.side === nameOf(side));
      const total = statsMessage(totalOf(stats, nameOf(side)));
      const config = facts.configOf?.(name, side);
      const versioningInfo = facts.versioningOf?.(name, side);
      return {
        pollers: this.#of(side, name),
        effectiveRateLimit: this.#limit(side, name, config),
        ...(request.reportConfig && config !== undefined && { config }),
        ...(versioningInfo !== undefined && { versioningInfo }),
        ...(request.reportStats && {
          stats: total,
          statsByPriorityKey: Object.fromEntries(
            ofSide.map((row) => [row.priority, statsMessage(row)]),
          ),
        }),
        ...(request.includeTaskQueueStatus &&
          { taskQueueStatus: { ...STATUS, backlogCountHint: total.approximateBacklogCount } }),
      };
    }
    const sides = request.taskQueueTypes.length > 0
      ? request.taskQueueTypes
      : [TaskQueueType.WORKFLOW, TaskQueueType.ACTIVITY];
    const typesInfo = Object.fromEntries(
      sides.map((side) => [side, {
        pollers: this.#of(side, name),
        stats: statsMessage(totalOf(stats, nameOf(side))),
      }]),
    );
    return { versionsInfo: { "": { typesInfo } } };
  }
}

const nameOf = (side: TaskQueueType): QueueSide =>
  side === TaskQueueType.ACTIVITY ? "activity" : "workflow";

const sideOf = ({ taskQueueType }: DescribeTaskQueueRequest): TaskQueueType =>
  taskQueueType === TaskQueueType.UNSPECIFIED ? TaskQueueType.WORKFLOW : taskQueueType;
