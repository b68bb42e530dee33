// Configurations of task queues: rate limits of a queue and of its fairness keys, and weights of keys
// (UpdateTaskQueueConfig). The store keeps them; the state machine applies them to tasks.
import { TaskQueueType } from "../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import {
  type RateLimitConfig,
  type TaskQueueConfig,
  TaskQueueConfigSchema,
} from "../messages/generated/temporal/api/taskqueue/v1/message_pb.ts";
import {
  type UpdateTaskQueueConfigRequest,
  type UpdateTaskQueueConfigRequest_RateLimitUpdate,
  UpdateTaskQueueConfigRequestSchema,
  UpdateTaskQueueConfigResponseSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import {
  EngineKeyWeight,
  EngineTaskQueueConfig,
  EngineTaskQueueConfigs,
  EngineTaskRate,
} from "../messages/generated/fields.ts";
import { Message } from "../messages/wire.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { decodeMessage, encodeMessage, invalid } from "./host_bytes.ts";
import { timestampOfMs } from "./schedules/durations.ts";
import type { Store, StoredTaskQueueConfig } from "./store.ts";

/** The figures of a server. */
const MAX_REASON = 1000;
const MAX_ID = 1000;
const MAX_WEIGHTS = 1000;
const MAX_KEY_BYTES = 64;

export class TaskQueueConfigs {
  readonly #store: Store;
  readonly #nowMs: () => number;
  readonly #changed: () => void;
  #stored: StoredTaskQueueConfig[] | undefined;

  /** `changed` is called after a configuration is stored. */
  constructor(store: Store, nowMs: () => number, changed: () => void) {
    this.#store = store;
    this.#nowMs = nowMs;
    this.#changed = changed;
  }

  get #all(): StoredTaskQueueConfig[] {
    return this.#stored ??= [...this.#store.taskQueueConfigs?.all() ?? []];
  }

  /** The configuration of a queue; undefined: it was never set. */
  of(taskQueue: string, type: TaskQueueType): TaskQueueConfig | undefined {
    const found = this.#all.find((each) => each.taskQueue === taskQueue && each.type === type);
    return found === undefined ? undefined : decodeMessage(TaskQueueConfigSchema, found.config);
  }

  /** Serves UpdateTaskQueueConfig. */
  update(bytes: Uint8Array, checkNamespace: (name: string) => void): Uint8Array {
    const request = decodeMessage(UpdateTaskQueueConfigRequestSchema, bytes);
    checkNamespace(request.namespace);
    check(request);
    const store = this.#store.taskQueueConfigs;
    if (store === undefined) {
      throw new ServiceError(Code.UNIMPLEMENTED, "this store does not keep limits of task queues");
    }
    const { taskQueue, taskQueueType: type } = request;
    const config = changed(this.of(taskQueue, type), request, this.#nowMs());
    const row = { taskQueue, type, config: encodeMessage(TaskQueueConfigSchema, config) };
    store.set(row);
    this.#stored = [
      ...this.#all.filter((each) => each.taskQueue !== taskQueue || each.type !== type),
      row,
    ];
    this.#changed();
    return encodeMessage(UpdateTaskQueueConfigResponseSchema, { config });
  }

  /** All configurations as the core reads them; undefined: no queue has one. */
  encode(): Uint8Array | undefined {
    if (this.#all.length === 0) return undefined;
    const message = new Message();
    for (const { taskQueue, type, config } of this.#all) {
      const { queueRateLimit, fairnessKeysRateLimitDefault, fairnessWeightOverrides } =
        decodeMessage(TaskQueueConfigSchema, config);
      message.message(EngineTaskQueueConfigs.queues, (each) => {
        each.text(EngineTaskQueueConfig.name, taskQueue);
        if (type === TaskQueueType.ACTIVITY) each.int(EngineTaskQueueConfig.activity, 1);
        const rates = [
          [EngineTaskQueueConfig.rate, queueRateLimit],
          [EngineTaskQueueConfig.keyRate, fairnessKeysRateLimitDefault],
        ] as const;
        for (const [tag, limit] of rates) {
          const rate = limit?.rateLimit?.requestsPerSecond;
          if (rate !== undefined) {
            each.message(tag, (value) => value.double(EngineTaskRate.perSecond, rate));
          }
        }
        for (const [key, weight] of Object.entries(fairnessWeightOverrides)) {
          each.message(
            EngineTaskQueueConfig.weights,
            (entry) => entry.text(EngineKeyWeight.key, key).double(EngineKeyWeight.weight, weight),
          );
        }
      });
    }
    return message.finish();
  }
}

function check(request: UpdateTaskQueueConfigRequest): void {
  if (request.taskQueue === "") throw invalid("TaskQueue is not set on request.");
  const { updateQueueRateLimit, updateFairnessKeyRateLimitDefault, identity } = request;
  const limits = [
    ["UpdateQueueRateLimit", updateQueueRateLimit],
    ["UpdateFairnessKeyRateLimitDefault", updateFairnessKeyRateLimitDefault],
  ] as const;
  for (const [label, update] of limits) {
    const limit = update?.rateLimit;
    if (limit === undefined) continue;
    if (request.taskQueueType === TaskQueueType.WORKFLOW) {
      throw invalid("Setting rate limit on workflow task queues is not allowed.");
    }
    if (!(limit.requestsPerSecond >= 0)) {
      throw invalid(`RequestsPerSecond for ${label} rate limit must be non-negative.`);
    }
    checkLength(`${label}.Reason`, update!.reason, MAX_REASON);
  }
  checkLength("Identity", identity, MAX_ID);
  checkWeights(request);
}

function checkLength(field: string, text: string, limit: number): void {
  if (utf8Length(text) > limit) throw invalid(`${field} field too long (max ${limit} characters).`);
}

const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

function checkWeights(request: UpdateTaskQueueConfigRequest): void {
  const set = Object.entries(request.setFairnessWeightOverrides);
  const unset = request.unsetFairnessWeightOverrides;
  const total = set.length + unset.length;
  if (total > MAX_WEIGHTS) {
    throw invalid(
      `too many fairness weight overrides in request: got ${total}, maximum ${MAX_WEIGHTS}`,
    );
  }
  for (const key of [...set.map(([key]) => key), ...unset]) {
    if (key === "") throw invalid("fairness weight override key must not be empty");
    if (utf8Length(key) > MAX_KEY_BYTES) {
      throw invalid(`fairness key length exceeds limit of ${MAX_KEY_BYTES} bytes: "${key}"`);
    }
  }
  for (const [key, weight] of set) {
    if (!(weight >= 0)) {
      throw invalid(`invalid fairness weight for key "${key}": ${weight}, must not be negative`);
    }
  }
  const both = unset.find((key) => Object.hasOwn(request.setFairnessWeightOverrides, key));
  if (both !== undefined) {
    throw invalid(`fairness weight override key "${both}" present in both set and unset lists`);
  }
}

/** The configuration after a request. */
function changed(
  before: TaskQueueConfig | undefined,
  request: UpdateTaskQueueConfigRequest,
  nowMs: number,
): Omit<TaskQueueConfig, "$typeName" | "$unknown"> & { $typeName?: never } {
  const limitOf = (update: UpdateTaskQueueConfigRequest_RateLimitUpdate | undefined) =>
    update && {
      $typeName: "temporal.api.taskqueue.v1.RateLimitConfig" as const,
      ...(update.rateLimit !== undefined && { rateLimit: update.rateLimit }),
      metadata: {
        $typeName: "temporal.api.taskqueue.v1.ConfigMetadata" as const,
        reason: update.reason,
        updateIdentity: request.identity,
        updateTime: timestampOfMs(nowMs),
      },
    } satisfies RateLimitConfig;
  const queue = limitOf(request.updateQueueRateLimit) ?? before?.queueRateLimit;
  const keys = limitOf(request.updateFairnessKeyRateLimitDefault) ??
    before?.fairnessKeysRateLimitDefault;
  const weights = { ...before?.fairnessWeightOverrides };
  for (const key of request.unsetFairnessWeightOverrides) delete weights[key];
  Object.assign(weights, request.setFairnessWeightOverrides);
  if (Object.keys(weights).length > MAX_WEIGHTS) {
    throw invalid(
      `too many fairness weight overrides of task queue "${request.taskQueue}": at most ${MAX_WEIGHTS}; unset some`,
    );
  }
  return {
    ...(queue !== undefined && { queueRateLimit: queue }),
    ...(keys !== undefined && { fairnessKeysRateLimitDefault: keys }),
    fairnessWeightOverrides: weights,
  };
}
