// MockActivityEnvironment: calls activities with a context, as a worker would, without a worker.
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
  interceptors?: ActivityInterceptorsFactory[];
  /** Default: warnings and errors on standard error. */
  logger?: Logger;
  /** Default: discards metrics. */
  metricMeter?: MetricMeter;
  /** Result of `Context.client`. */
  client?: Client;
}

/** Reason of a cancellation. */
export type CancelReason =
  | "CANCELLED"
  | "NOT_FOUND"
  | "TIMED_OUT"
  | "WORKER_SHUTDOWN"
  | "HEARTBEAT_DETAILS_CONVERSION_FAILED";

const bytes = new TextEncoder().encode("test");

/** Default information about activities. */
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

/**
 * The part of Node's EventEmitter that tests use, declared here so that public types do not depend
 * on Node's.
 */
export interface Emitter {
  /** Adds a listener for an event. */
  // deno-lint-ignore no-explicit-any
  on(event: string, listener: (...args: any[]) => void): this;
  /** Adds a listener for the next event. */
  // deno-lint-ignore no-explicit-any
  once(event: string, listener: (...args: any[]) => void): this;
  /** Removes a listener. */
  // deno-lint-ignore no-explicit-any
  off(event: string, listener: (...args: any[]) => void): this;
  /** Same as `on`. */
  // deno-lint-ignore no-explicit-any
  addListener(event: string, listener: (...args: any[]) => void): this;
  /** Same as `off`. */
  // deno-lint-ignore no-explicit-any
  removeListener(event: string, listener: (...args: any[]) => void): this;
  /** Removes all listeners. */
  removeAllListeners(event?: string): this;
  /** Calls the listeners of an event. */
  // deno-lint-ignore no-explicit-any
  emit(event: string, ...args: any[]): boolean;
  /** Returns the number of listeners of an event. */
  listenerCount(event: string): number;
}
const Emitting = EventEmitter as unknown as new () => Emitter;

/**
 * Runs activities in tests: `await new MockActivityEnvironment({ attempt: 2 }).run(charge, 900)`.
 * Emits "heartbeat" with the details of each heartbeat. All activities of an environment share its
 * context, so after `cancel()` each one starts canceled.
 */
export class MockActivityEnvironment extends Emitting {
  readonly cancel: (reason?: CancelReason, details?: ActivityCancellationDetails) => void;
  /** Result of `Context.current()` in the activity. */
  readonly context: Context;
  readonly #inbound: readonly ActivityInboundCallsInterceptor[];
  readonly #log: Logger;

  /** `info`: overrides of {@link defaultActivityInfo}. */
  constructor(info?: Partial<Info>, options: MockActivityEnvironmentOptions = {}) {
    super();
    const full = { ...defaultActivityInfo, ...info };
    const abort = new AbortController();
    const told: { details?: ActivityCancellationDetails } = {};
    let reject!: (error: Error) => void;
    const cancelled = new Promise<never>((_, fail) => reject = fail);
    // Prevents an unhandled rejection in tests that do not use it.
    cancelled.catch(() => {});
    this.cancel = (
      reason = "CANCELLED",
      details = new ActivityCancellationDetails({ cancelRequested: true }),
    ) => {
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
    this.#inbound = (options.interceptors ?? []).flatMap((factory) =>
      factory(this.context).inbound ?? []
    );
  }

  /** Runs a function as an activity. Resolves with its result and rejects with what it throws. */
  // deno-lint-ignore no-explicit-any
  async run<P extends any[], R, F extends ActivityFunction<P, R>>(fn: F, ...args: P): Promise<R> {
    const last = (input: { readonly args: unknown[] }) => Promise.resolve(fn(...input.args as P));
    const call = composeInterceptors([...this.#inbound], "execute", last as never);
    try {
      return await asyncLocalStorage.run(
        this.context,
        () => call({ args, headers: {} }) as Promise<R>,
      );
    } catch (error) {
      if (!(error instanceof CancelledFailure)) this.#log.warn("Activity failed", { error });
      throw error;
    }
  }
}
