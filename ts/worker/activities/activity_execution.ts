// One attempt of one activity: its context, heartbeats, local deadline, and the report that ends it
// (docs/dev/semantics/activities.md). Whatever the activity does, it ends in exactly one report, or
// in none if the service does not expect one (NOT_FOUND, or the activity completes asynchronously).
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type CancelReason, completesAsync } from "../../activity/context.ts";
import { PayloadCodecError } from "../../codec/codec.ts";
import { hidesTextOf, loggable } from "../../codec/loggable.ts";
import { toFailure } from "../../converter/failure_converter.ts";
import { ApplicationFailure } from "../../converter/failures.ts";
import { namingWhat } from "../../converter/lossy_value.ts";
import { messageOf } from "../../converter/thrown.ts";
import type { MessageCodec } from "../../codec/message_codec.ts";
import {
  type Payload,
  type PayloadConverter,
  PayloadConverterError,
  toPayloads,
} from "../../converter/payload.ts";
import { checkPayloads, type PayloadLimits, PayloadTooLargeError } from "../../service/limits.ts";
import type { LogFields, Logger } from "../../base/logger.ts";
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { Code, type RawService } from "../../service/raw.ts";
import type { Timers } from "../../base/timers.ts";
import type { TypedService } from "../../service/typed.ts";
import {
  type PollActivityTaskQueueResponse,
  RespondActivityTaskCanceledRequestSchema,
  RespondActivityTaskCompletedRequestSchema,
  RespondActivityTaskFailedRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import {
  type ActivityDialect,
  attemptArguments,
  resultOf,
  type RunActivity,
  settingsFor,
} from "./activity_dialect.ts";
import { AttemptContext, limitMs } from "./attempt_context.ts";
import { STOPPED } from "./attempt_end.ts";
import type { SentVersion } from "../deployment.ts";
import { Heartbeater, heartbeatIntervalMs, type HeartbeatThrottle } from "./heartbeats.ts";
import type { ActivityAttempt, WorkerEvents } from "../events.ts";
import { nextAttemptMs } from "./next_attempt.ts";
import type { ActivitySeries, WorkerMetrics } from "../metrics/worker_metrics.ts";
import { timestampDate } from "../../messages/well_known.ts";
import { hasCode, report, unencodable } from "../workflow/reports.ts";

export interface ActivityOptions {
  service: RawService;
  /** The same service, with typed messages. */
  typed: TypedService;
  namespace: string;
  identity: string;
  taskQueue: string;
  converter: PayloadConverter;
  /** The rules of the worker's activities. */
  dialect: ActivityDialect;
  /** Encodes reports; tasks are already decoded. */
  codec: MessageCodec | undefined;
  limits: PayloadLimits;
  deployment?: SentVersion | undefined;
  throttle: HeartbeatThrottle;
  logger: Logger;
  events: WorkerEvents;
  metrics?: WorkerMetrics | undefined;
  /** Time of heartbeats, deadlines and sleeps. */
  timers: Timers;
  /** Time of report retries. */
  reportTimers: Timers;
}

/** Time that the service has to detect a timeout before the attempt is canceled locally, in ms. */
const LOCAL_TIMEOUT_SLACK_MS = 5000;
const HEARTBEAT_CALL_MS = 10_000;

export class ActivityExecution {
  readonly #task: PollActivityTaskQueueResponse;
  readonly #options: ActivityOptions;
  readonly #context: AttemptContext;
  #heartbeater: Heartbeater | undefined;
  #stopDeadline: (() => void) | undefined;

  constructor(task: PollActivityTaskQueueResponse, options: ActivityOptions) {
    this.#task = task;
    this.#options = settingsFor(options, task, false);
    this.#context = new AttemptContext(
      task,
      this.#options,
      (details) => this.#recordHeartbeat(details),
    );
  }

  /** The activity waits in `sleep`. */
  get sleeping(): boolean {
    return this.#context.sleeping;
  }

  get #logger(): Logger {
    return this.#context.logger;
  }

  /** Runs the attempt to its report. Never rejects. */
  async run(activity: RunActivity): Promise<void> {
    try {
      this.#armDeadline();
      this.#measureStart();
      const args = attemptArguments(this.#options, this.#task);
      await this.#completed(await this.#measured(() => activity(this.#context, args)));
    } catch (error) {
      await this.fail(error);
    } finally {
      this.#stopDeadline?.();
      this.#heartbeater?.stop();
    }
  }

  get #series(): ActivitySeries | undefined {
    return this.#options.metrics?.activity(
      this.#task.workflowType?.name ?? "",
      this.#task.activityType?.name ?? "",
    );
  }

  #measureStart(): void {
    const { currentAttemptScheduledTime: due, startedTime: started } = this.#task;
    if (this.#options.metrics === undefined || due === undefined || started === undefined) return;
    this.#options.metrics.activityScheduleToStart.record(
      timestampDate(started).getTime() - timestampDate(due).getTime(),
    );
  }

  async #measured<T>(run: () => Promise<T>): Promise<T> {
    if (this.#options.metrics === undefined) return await run();
    const began = performance.now();
    try {
      return await run();
    } finally {
      this.#series?.execution.record(performance.now() - began);
    }
  }

  /** Ends the attempt with an error, also before it has begun. Never rejects. */
  async fail(error: unknown): Promise<void> {
    try {
      await this.#ended(error);
    } catch (e) {
      // An attempt must never end its worker, or end without a report.
      this.#logger.error("the failure of an activity was reported without its details", {
        error: loggable(e, this.#options.codec),
      });
      const failure = toFailure(
        new ApplicationFailure(hidesTextOf(error, this.#options.codec) ? "" : messageOf(error)),
      );
      await this.#report("respondActivityTaskFailed", RespondActivityTaskFailedRequestSchema, {
        failure,
      }, true).catch(() => {});
    }
  }

  /** Requests cancellation. The first reason stays. */
  cancel(reason: CancelReason): void {
    if (this.#context.cancel(reason)) {
      this.#logger.debug("cancellation of an activity requested", { reason });
    }
  }

  /**
   * The local deadline: without it an activity that sends no heartbeats would outlive its timeout.
   */
  #armDeadline(): void {
    this.#stopDeadline?.();
    const heartbeat = limitMs(this.#task.heartbeatTimeout) || Infinity;
    const close = limitMs(this.#task.startToCloseTimeout) || Infinity;
    const limit = Math.min(heartbeat, close);
    if (limit === Infinity) return;
    const { timers } = this.#options;
    this.#stopDeadline = timers.after(limit, () => {
      // The service detects the timeout now, but a timeout with a later attempt has no history
      // event.
      const timeout = heartbeat < close ? "heartbeat" : "startToClose";
      this.#warnOfFailure("timed out", undefined, { timeout, limitMs: limit });
      this.#stopDeadline = timers.after(LOCAL_TIMEOUT_SLACK_MS, () => this.cancel("TIMED_OUT"));
    });
  }

  /** Logs a failed attempt with the time of the next one. */
  #warnOfFailure(how: string, failure: Failure | undefined, fields: LogFields): void {
    const nextInMs = nextAttemptMs(this.#task, failure, Date.now());
    const nextAttempt = nextInMs === undefined ? "none" : `in ${nextInMs} ms`;
    this.#logger.warn(`an activity ${how}`, { ...fields, nextAttempt });
  }

  #recordHeartbeat(details: unknown): void {
    const payloads = details === undefined ? [] : [
      namingWhat("the details of a heartbeat", () => this.#options.converter.toPayload(details)),
    ];
    this.#check("the details of a heartbeat", payloads);
    // A heartbeat extends only the heartbeat timeout, not start-to-close.
    if (
      (limitMs(this.#task.heartbeatTimeout) || Infinity) <=
        (limitMs(this.#task.startToCloseTimeout) || Infinity)
    ) {
      this.#armDeadline();
    }
    this.#heartbeater ??= new Heartbeater(
      heartbeatIntervalMs(limitMs(this.#task.heartbeatTimeout), this.#options.throttle),
      this.#options.timers,
      (sent) => this.#sendHeartbeat(sent),
    );
    this.#heartbeater.record(payloads);
  }

  async #sendHeartbeat(payloads: Payload[]): Promise<void> {
    const { namespace, identity } = this.#options;
    const details = payloads.length > 0 ? { details: { payloads } } : {};
    const request = { namespace, identity, taskToken: this.#task.taskToken, ...details };
    try {
      const answer = await this.#options.typed.recordActivityTaskHeartbeat(request, {
        timeoutMs: HEARTBEAT_CALL_MS,
      });
      if (answer.cancelRequested) this.cancel("CANCELLED");
      else if (answer.activityReset) this.cancel("RESET");
      else if (answer.activityPaused) this.cancel("PAUSED");
    } catch (error) {
      if (hasCode(error, Code.NOT_FOUND)) this.cancel("NOT_FOUND");
      // The next heartbeat may succeed; without one, the service times the attempt out.
      else {this.#logger.warn("a heartbeat could not be sent to the service", {
          error: loggable(error, this.#options.codec),
        });}
    }
  }

  async #completed(result: unknown): Promise<void> {
    let payload: Payload;
    try {
      payload = namingWhat(
        `the result of activity "${this.#task.activityType?.name}"`,
        () => resultOf(this.#options, this.#task, result),
      );
      this.#check("the result of the activity", [payload]);
    } catch (error) {
      if (!(error instanceof PayloadConverterError || error instanceof PayloadTooLargeError)) {
        throw error;
      }
      const isFinal = error instanceof PayloadTooLargeError ||
        this.#options.dialect.refusedResultIsFinal;
      return this.#ended(isFinal ? final(error) : error);
    }
    try {
      await this.#report(
        "respondActivityTaskCompleted",
        RespondActivityTaskCompletedRequestSchema,
        {
          result: { payloads: [payload] },
        },
      );
      const { scheduledTime } = this.#task;
      if (scheduledTime !== undefined) {
        this.#series?.endToEnd.record(Date.now() - timestampDate(scheduledTime).getTime());
      }
    } catch (error) {
      // A codec may recover (a key service, a blob store); a payload that is too large stays so.
      await this.#ended(error instanceof PayloadTooLargeError ? final(error) : error);
    }
  }

  async #ended(error: unknown): Promise<void> {
    const { events } = this.#options;
    if (completesAsync(error)) return events.activityCompletesAsync?.(this.#attempt());
    await this.#heartbeater?.flush();
    const reason = this.#context.cancelReason;
    if (reason === "NOT_FOUND") {
      this.#logger.debug("an activity stopped; its result is no longer needed");
      return;
    }
    const end = this.#options.dialect.end(error, this.#context);
    if (end === STOPPED) return this.#cancelled(error);
    error = end;
    this.#series?.failed.add();
    const failure = this.#options.dialect.toFailure(error, this.#options.converter);
    if (this.#options.dialect.logsFailures !== true) {
      this.#warnOfFailure("failed", failure, { error: loggable(error, this.#options.codec) });
    }
    events.activityFailed?.({ ...this.#attempt(), message: failure.message });
    await this.#report("respondActivityTaskFailed", RespondActivityTaskFailedRequestSchema, {
      failure,
    }).catch((e) => {
      // The failure cannot be encoded, but must be reported nevertheless.
      const failure = toFailure(
        e instanceof PayloadCodecError ? unencodable(error, e, this.#options.codec!) : final(e),
      );
      return this.#report("respondActivityTaskFailed", RespondActivityTaskFailedRequestSchema, {
        failure,
      }, true);
    });
  }

  #attempt(): ActivityAttempt {
    const { workflowId, runId, activityId, activityType, attempt } = this.#context.info;
    return { workflowId, runId, activityId, activityType, attempt };
  }

  async #cancelled(error: unknown): Promise<void> {
    let payloads: Payload[] = [];
    try {
      payloads = toPayloads(this.#options.converter, this.#options.dialect.detailsOf(error));
    } catch (e) {
      this.#detailsDropped(e);
    }
    const send = (fields: { details?: { payloads: Payload[] } }) =>
      this.#report("respondActivityTaskCanceled", RespondActivityTaskCanceledRequestSchema, fields);
    if (payloads.length === 0) return await send({});
    await send({ details: { payloads } }).catch((e) => {
      this.#detailsDropped(e);
      return send({});
    });
  }

  #detailsDropped(error: unknown): void {
    this.#logger.warn("the details of a cancellation were dropped", {
      error: loggable(error, this.#options.codec),
    });
  }

  /** Rejects if the report cannot be encoded; errors of the service are logged. */
  async #report<S extends ReportSchema>(
    method:
      | "respondActivityTaskCompleted"
      | "respondActivityTaskFailed"
      | "respondActivityTaskCanceled",
    schema: S,
    fields: MessageInitShape<S>,
    bare = false,
  ): Promise<void> {
    const { namespace, identity, deployment } = this.#options;
    this.#heartbeater?.stop();
    const common = {
      namespace,
      identity,
      taskToken: this.#task.taskToken,
      ...deployment?.report,
    };
    const request = toBinary(
      schema as never,
      create(schema as never, { ...common, ...fields } as never),
    );
    try {
      const { service, limits, reportTimers: timers } = this.#options;
      const codec = bare ? undefined : this.#options.codec;
      await report(
        { service, codec, payloadLimits: limits, timers, logger: this.#logger },
        method,
        request,
      );
    } catch (error) {
      if (error instanceof PayloadCodecError || error instanceof PayloadTooLargeError) throw error;
      if (hasCode(error, Code.NOT_FOUND)) {
        this.#logger.debug("the service no longer waits for the activity", { error });
      } else {this.#logger.error(
          "the result of an activity could not be reported; the activity will time out and be retried",
          {
            error,
          },
        );}
    }
  }

  /** With a codec, sizes are checked after encoding. */
  #check(what: string, payloads: Payload[]): void {
    if (this.#options.codec !== undefined) return;
    checkPayloads(
      `${what} ${this.#task.activityType?.name}`,
      payloads,
      this.#options.limits,
      (message) => this.#logger.warn(message),
    );
  }
}

/**
 * Returns a non-retryable failure: the work is done, and another attempt would fail the same way.
 */
export function final(error: PayloadConverterError | PayloadTooLargeError): ApplicationFailure {
  return new ApplicationFailure(error.message, {
    type: error.name,
    nonRetryable: true,
    cause: error,
  });
}

type ReportSchema =
  | typeof RespondActivityTaskCompletedRequestSchema
  | typeof RespondActivityTaskFailedRequestSchema
  | typeof RespondActivityTaskCanceledRequestSchema;
