// One attempt of an activity of `@temporalio/activity`: the official context around the native one,
// interceptors around the function, and the official worker's log lines.
import { asyncLocalStorage, Context, type Info } from "../activity/mod.ts";
import type { Client } from "../client/mod.ts";
import { runWithAbortSignal } from "./client_signal.ts";
import {
  ActivityCancellationDetails,
  type ActivityCancellationDetailsHolder,
  ApplicationFailure,
  CancelledFailure,
  CompleteAsyncError,
  type Duration,
  type LoadedDataConverter,
  type Logger,
  LoggerWithComposedMetadata,
  type MetricMeter,
  MetricMeterWithComposedTags,
  type MetricTags,
  SdkComponent,
} from "../common/mod.ts";
import { encodesErrorText } from "../common/data_converter.ts";
import { composeInterceptors } from "../common/interceptors.ts";
import { msToNumber } from "../common/time.ts";
import { type ActivityContext, type CancelReason, runInContext } from "../../activity/context.ts";
import { loggable } from "../../codec/loggable.ts";
import { read } from "../../converter/thrown.ts";
import { activityLogAttributes, makeActivityInfo } from "./activity_info.ts";
import {
  type ActivityExecuteInput,
  type ActivityInboundCallsInterceptor,
  type ActivityInterceptorsFactory,
  type ActivityOutboundCallsInterceptor,
  checkActivityInterceptors,
} from "./interceptors.ts";

/** Shared by the attempts of a worker. */
export interface ActivityEnvironment {
  readonly namespace: string;
  readonly taskQueue: string;
  readonly converter: LoadedDataConverter;
  /** By registered name. Undefined in threads, where payloads are not converted. */
  readonly activities?: ReadonlyMap<string, unknown>;
  readonly logger: Logger;
  readonly metricMeter: MetricMeter;
  readonly interceptors: readonly ActivityInterceptorsFactory[];
  /** Number of attempts that have sent a heartbeat. */
  readonly heartbeating: { count: number };
  /** Client for activities; created on first use. */
  client(): Client | undefined;
}

/** Its `sleep` uses the worker's timers, which may run on virtual time. */
class WorkerContext extends Context {
  /** Sets the worker's wait function. */
  onSleep(wait: (ms: Duration) => Promise<void>): void {
    this.sleep = (ms) => Promise.race([this.cancelled, wait(ms)]);
  }
}

/** Reason of a cancellation because details could not be converted. */
const CONVERSION_FAILED = "HEARTBEAT_DETAILS_CONVERSION_FAILED";

const isAbort = (error: unknown): boolean => read(error, "name") === "AbortError";

export class ActivityRun {
  readonly info: Info;
  readonly context: Context;
  /** True if details of a heartbeat could not be converted. */
  conversionFailed = false;
  readonly #native: ActivityContext;
  readonly #environment: ActivityEnvironment;
  /** Logger of the worker, with the activity's attributes. */
  readonly #logger: Logger;
  readonly #inbound: ActivityInboundCallsInterceptor[] = [];
  readonly #outbound: ActivityOutboundCallsInterceptor[] = [];
  readonly #abort = new AbortController();
  readonly #details: ActivityCancellationDetailsHolder = {};
  readonly #client: Client | undefined;
  #heartbeats = false;
  #cancel!: (error: CancelledFailure) => void;

  constructor(native: ActivityContext, environment: ActivityEnvironment) {
    this.#native = native;
    this.#environment = environment;
    this.info = makeActivityInfo(native, environment.namespace);
    this.#logger = LoggerWithComposedMetadata.compose(
      environment.logger,
      () => this.#logAttributes(),
    );
    this.#client = environment.client();
    const cancelled = new Promise<never>((_, reject) => this.#cancel = reject);
    cancelled.catch(() => {});
    const context = new WorkerContext(
      this.info,
      cancelled,
      this.#abort.signal,
      (details) => this.#heartbeat(details),
      this.#client,
      LoggerWithComposedMetadata.compose(this.#logger, { sdkComponent: SdkComponent.activity }),
      MetricMeterWithComposedTags.compose(environment.metricMeter, () => this.#metricTags()),
      this.#details,
    );
    context.onSleep((ms) => this.#sleep(ms));
    this.context = context;
    for (const factory of environment.interceptors) {
      const { inbound, outbound } = checkActivityInterceptors(factory(context));
      if (inbound !== undefined) this.#inbound.push(inbound);
      if (outbound !== undefined) this.#outbound.push(outbound);
    }
    const told = () => this.#stop(native.cancelReason ?? "CANCELLED", native.cancelReason);
    if (native.cancelled.aborted) told();
    else native.cancelled.addEventListener("abort", told, { once: true });
  }

  /** Runs the activity. Rejects with what it threw. */
  execute(fn: (...args: unknown[]) => unknown, input: ActivityExecuteInput): Promise<unknown> {
    const run = () => this.#execute(fn, input);
    const client = this.#client;
    return runInContext(
      this.#native,
      () =>
        asyncLocalStorage.run(
          this.context,
          async () =>
            client === undefined
              ? await run()
              : await runWithAbortSignal(client, this.#abort.signal, run),
        ),
    );
  }

  async #execute(
    fn: (...args: unknown[]) => unknown,
    input: ActivityExecuteInput,
  ): Promise<unknown> {
    const began = performance.now();
    const meta = () => ({ durationMs: Math.floor(performance.now() - began) });
    this.#logger.debug("Activity started");
    try {
      const last = (input: ActivityExecuteInput) => Promise.resolve(fn(...input.args));
      const result = await composeInterceptors(this.#inbound, "execute", last as never)(input);
      this.#logger.debug("Activity completed", meta());
      return result;
    } catch (error) {
      this.#logEnd(error, meta());
      throw error;
    } finally {
      if (this.#heartbeats) this.#environment.heartbeating.count--;
    }
  }

  /** Returns an error for the log, without its text if that is encoded. */
  #shown(error: unknown): unknown {
    return loggable(error, { hidesText: encodesErrorText(this.#environment.converter) });
  }

  #logEnd(error: unknown, meta: Record<string, unknown>): void {
    const { details } = this.#details;
    if ((error instanceof CancelledFailure || isAbort(error)) && this.#abort.signal.aborted) {
      const how = details?.cancelRequested
        ? "completed as cancelled"
        : details?.reset
        ? "reset"
        : details?.paused
        ? "paused"
        : "completed as cancelled";
      this.#logger.debug(`Activity ${how}`, meta);
    } else if (error instanceof CompleteAsyncError) {
      this.#logger.debug("Activity will complete asynchronously", meta);
    } else if (error instanceof ApplicationFailure && error.category === "BENIGN") {
      this.#logger.debug("Activity failed", { error: this.#shown(error), ...meta });
    } else this.#logger.warn("Activity failed", { error: this.#shown(error), ...meta });
  }

  #stop(reason: string, native: CancelReason | undefined): void {
    if (this.#abort.signal.aborted) return;
    this.#details.details = new ActivityCancellationDetails({
      cancelRequested: native === "CANCELLED",
      notFound: native === "NOT_FOUND",
      paused: native === "PAUSED",
      reset: native === "RESET",
      timedOut: native === "TIMED_OUT",
      workerShutdown: native === "WORKER_SHUTDOWN",
    });
    const error = new CancelledFailure(reason);
    this.#abort.abort(error);
    this.#cancel(error);
  }

  #heartbeat(details: unknown): void {
    if (!this.#heartbeats) this.#environment.heartbeating.count++;
    this.#heartbeats = true;
    try {
      this.#native.heartbeat(details);
    } catch {
      // The official worker converts later, when it can no longer throw into the activity.
      this.conversionFailed = true;
      this.#stop(CONVERSION_FAILED, undefined);
    }
  }

  /**
   * The worker's rejection on cancellation has another form: `cancelled` rejects with the official
   * one.
   */
  async #sleep(ms: Duration): Promise<void> {
    try {
      await this.#native.sleep(msToNumber(ms));
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error;
      await new Promise(() => {});
    }
  }

  #logAttributes(): Record<string, unknown> {
    const attributes = activityLogAttributes(this.info);
    return composeInterceptors(
      this.#outbound,
      "getLogAttributes",
      ((input: unknown) => input) as never,
    )(attributes);
  }

  #metricTags(): MetricTags {
    const { namespace, taskQueue, activityType } = this.info;
    const tags = { namespace, taskQueue, activityType };
    return composeInterceptors(
      this.#outbound,
      "getMetricTags",
      ((input: unknown) => input) as never,
    )(tags);
  }
}
