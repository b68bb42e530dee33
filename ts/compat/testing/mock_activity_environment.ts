// MockActivityEnvironment: activities are called as a worker would call them, with a context and without a worker.
import { EventEmitter } from "node:events";
import { asyncLocalStorage, Context, type Info } from "../activity/mod.ts";
import type { Client } from "../client/mod.ts";
import {
  ActivityCancellationDetails,
  type ActivityFunction,
  CancelledFailure,
  type Logger,
  LoggerWithComposedMetadata,
  type MetricMeter,
  noopMetricMeter,
  SdkComponent,
} from "../common/mod.ts";
import { composeInterceptors } from "../common/interceptors.ts";
import {
  type ActivityInboundCallsInterceptor,
  type ActivityInterceptorsFactory,
  activityLogAttributes,
  DefaultLogger,
} from "../worker/mod.ts";

/** Options of a {@link MockActivityEnvironment}. */
export interface MockActivityEnvironmentOptions {
  /** Around the activities that it runs. */
  interceptors?: ActivityInterceptorsFactory[];
  /** Default: warnings and errors on standard error. */
  logger?: Logger;
  /** Default: measures are dropped. */
  metricMeter?: MetricMeter;
  /** What `Context.client` returns. */
  client?: Client;
}

/** What an activity is told when it is asked to stop. */
export type CancelReason = "CANCELLED" | "NOT_FOUND" | "TIMED_OUT" | "WORKER_SHUTDOWN" | "HEARTBEAT_DETAILS_CONVERSION_FAILED";

const bytes = new TextEncoder().encode("test");

/** What activities are told of themselves, where the test says nothing else. */
export const defaultActivityInfo: Info = {
  attempt: 1,
  taskQueue: "test",
  isLocal: false,
  taskToken: bytes,
  activityId: "test",
  activityType: "unknown",
  workflowType: "test",
  base64TaskToken: btoa("test"),
  heartbeatTimeoutMs: undefined,
  heartbeatDetails: undefined,
  activityNamespace: "default",
  workflowNamespace: "default",
  workflowExecution: { workflowId: "test", runId: "00000000-0000-0000-0000-000000000000" },
  scheduledTimestampMs: 1,
  startToCloseTimeoutMs: 1000,
  scheduleToCloseTimeoutMs: 1000,
  currentAttemptScheduledTimestampMs: 1,
  priority: undefined,
  retryPolicy: undefined,
  namespace: "test",
  activityRunId: undefined,
  inWorkflow: true,
} as Info;

/** Node's emitter of events, as far as tests use it; named here, so that these types need none of Node's. */
export interface Emitter {
  /** Calls a function at each event. */
  // deno-lint-ignore no-explicit-any
  on(event: string, listener: (...args: any[]) => void): this;
  /** Calls a function at the next event. */
  // deno-lint-ignore no-explicit-any
  once(event: string, listener: (...args: any[]) => void): this;
  /** Takes back `on`. */
  // deno-lint-ignore no-explicit-any
  off(event: string, listener: (...args: any[]) => void): this;
  /** `on`. */
  // deno-lint-ignore no-explicit-any
  addListener(event: string, listener: (...args: any[]) => void): this;
  /** `off`. */
  // deno-lint-ignore no-explicit-any
  removeListener(event: string, listener: (...args: any[]) => void): this;
  /** Takes all back. */
  removeAllListeners(event?: string): this;
  /** Calls the functions of an event. */
  // deno-lint-ignore no-explicit-any
  emit(event: string, ...args: any[]): boolean;
  /** How many functions an event has. */
  listenerCount(event: string): number;
}
const Emitting = EventEmitter as unknown as new () => Emitter;

/**
 * Runs activities of a test: `await new MockActivityEnvironment({ attempt: 2 }).run(charge, 900)`. It emits "heartbeat" with the details of
 * each heartbeat. All activities that one environment runs share its context, so after `cancel()` each of them begins cancelled.
 */
export class MockActivityEnvironment extends Emitting {
  /** Asks the activity to stop. */
  readonly cancel: (reason?: CancelReason, details?: ActivityCancellationDetails) => void;
  /** What `Context.current()` returns in the activity. */
  readonly context: Context;
  readonly #inbound: readonly ActivityInboundCallsInterceptor[];
  readonly #log: Logger;

  /** `info`: what differs from {@link defaultActivityInfo}. */
  constructor(info?: Partial<Info>, options: MockActivityEnvironmentOptions = {}) {
    super();
    const full = { ...defaultActivityInfo, ...info };
    const abort = new AbortController();
    const told: { details?: ActivityCancellationDetails } = {};
    let reject!: (error: Error) => void;
    const cancelled = new Promise<never>((_, fail) => reject = fail);
    // A test that does not look at it is no test with an unhandled rejection.
    cancelled.catch(() => {});
    this.cancel = (reason = "CANCELLED", details = new ActivityCancellationDetails({ cancelRequested: true })) => {
      told.details = details;
      const error = new CancelledFailure(reason);
      reject(error);
      abort.abort(error);
    };
    this.#log = LoggerWithComposedMetadata.compose(options.logger ?? new DefaultLogger(), {
      sdkComponent: SdkComponent.worker,
      ...activityLogAttributes(full),
    });
    this.context = new Context(
      full,
      cancelled,
      abort.signal,
      (details) => void this.emit("heartbeat", details),
      options.client,
      LoggerWithComposedMetadata.compose(this.#log, { sdkComponent: SdkComponent.activity }),
      options.metricMeter ?? noopMetricMeter,
      told,
    );
    this.#inbound = (options.interceptors ?? []).flatMap((factory) => factory(this.context).inbound ?? []);
  }

  /** Runs a function as an activity; resolves with its result and rejects with what it throws. */
  // deno-lint-ignore no-explicit-any
  async run<P extends any[], R, F extends ActivityFunction<P, R>>(fn: F, ...args: P): Promise<R> {
    const last = (input: { readonly args: unknown[] }) => Promise.resolve(fn(...input.args as P));
    const call = composeInterceptors([...this.#inbound], "execute", last as never);
    try {
      return await asyncLocalStorage.run(this.context, () => call({ args, headers: {} }) as Promise<R>);
    } catch (error) {
      if (!(error instanceof CancelledFailure)) this.#log.warn("Activity failed", { error });
      throw error;
    }
  }
}
