// The running activities: from the response of a poll to an attempt, and their cancellation at
// shutdown.
import { fromBinary } from "@bufbuild/protobuf";
import type { CancelReason } from "../../activity/context.ts";
import { decodeResponse } from "../../codec/coded_service.ts";
import { PollActivityTaskQueueResponseSchema } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { type ActivityInterceptor, interceptActivity } from "../interceptors.ts";
import type { RunActivity } from "./activity_dialect.ts";
import { ActivityExecution, type ActivityOptions } from "./activity_execution.ts";

export interface ActivityTasksOptions extends ActivityOptions {
  /** Returns the function of a type; throws a failure for an unknown type. */
  find: (activityType: string) => RunActivity;
  /** Interceptors of each attempt, the first one outermost. */
  activityInterceptors?: readonly ActivityInterceptor[];
}

export class ActivityTasks {
  readonly #options: ActivityTasksOptions;
  readonly #running = new Set<ActivityExecution>();
  #cancelled: CancelReason | undefined;
  /** Tasks that came with a report, for metrics. */
  readonly #eager = new WeakSet<Uint8Array>();

  constructor(options: ActivityTasksOptions) {
    this.#options = options;
  }

  /** Number of attempts that wait in `sleep`. */
  get sleeping(): number {
    let count = 0;
    for (const execution of this.#running) if (execution.sleeping) count++;
    return count;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Marks a task that came with a report instead of a poll. */
  noteEager(bytes: Uint8Array): void {
    if (this.#options.metrics !== undefined) this.#eager.add(bytes);
  }

  /** Processes a task (encoded PollActivityTaskQueueResponse) up to its report. Never rejects. */
  async handle(bytes: Uint8Array): Promise<void> {
    let execution: ActivityExecution;
    let type: string;
    const eager = this.#eager.delete(bytes);
    try {
      const task = fromBinary(PollActivityTaskQueueResponseSchema, bytes);
      type = task.activityType?.name ?? "";
      const series = this.#options.metrics?.activity(task.workflowType?.name ?? "", type);
      (eager ? series?.receivedEagerly : series?.received)?.add();
      execution = new ActivityExecution(task, this.#options);
    } catch (error) {
      const { logger, taskQueue } = this.#options;
      logger.error(
        "cannot decode an activity task from the service; the activity will time out and be retried",
        { error, taskQueue, bytes: bytes.length },
      );
      return;
    }
    const { codec } = this.#options;
    if (codec !== undefined) {
      try {
        const decoded = await decodeResponse(codec, "pollActivityTaskQueue", bytes);
        execution = new ActivityExecution(
          fromBinary(PollActivityTaskQueueResponseSchema, decoded),
          this.#options,
        );
      } catch (error) {
        // Another attempt may run on a worker with the right key, or after a key service recovers.
        return await execution.fail(error);
      }
    }
    this.#running.add(execution);
    if (this.#cancelled !== undefined) execution.cancel(this.#cancelled);
    try {
      const activity: RunActivity = async (context, args) =>
        await this.#options.find(type)(context, args);
      await execution.run(
        interceptActivity(activity, this.#options.activityInterceptors ?? [], codec),
      );
    } finally {
      this.#running.delete(execution);
    }
  }

  /** Requests cancellation of all current and future activities. */
  cancelAll(reason: CancelReason): void {
    this.#cancelled = reason;
    for (const execution of this.#running) execution.cancel(reason);
  }
}
