// Interceptors of a worker: of activities, of their client, and modules with workflow interceptors.
import type { Context } from "../activity/mod.ts";
import type { ClientInterceptors } from "../client/mod.ts";
import type { Headers, MetricTags, Next } from "../common/mod.ts";

import type { CancelOperationContext, OperationContext, StartOperationContext, StartResult } from "../nexus/types.ts";

export type { Headers, Next };

/** Input of an activity. */
export interface ActivityExecuteInput {
  /** Arguments of the activity. */
  readonly args: unknown[];
  /** Headers of the call. */
  readonly headers: Headers;
}

/** Interceptor of activity attempts. */
export interface ActivityInboundCallsInterceptor {
  /** Intercepts an attempt. */
  execute?: (input: ActivityExecuteInput, next: Next<ActivityInboundCallsInterceptor, "execute">) => Promise<unknown>;
}

/** Attributes of an activity's log lines. */
export type GetLogAttributesInput = Record<string, unknown>;
/** Tags of an activity's metrics. */
export type GetMetricTagsInput = MetricTags;

/** Interceptor of an activity's calls to the worker. */
export interface ActivityOutboundCallsInterceptor {
  /** Returns changed attributes of log lines. */
  getLogAttributes?: (
    input: GetLogAttributesInput,
    next: Next<ActivityOutboundCallsInterceptor, "getLogAttributes">,
  ) => Record<string, unknown>;
  /** Returns changed tags of metrics. */
  getMetricTags?: (input: GetMetricTagsInput, next: Next<ActivityOutboundCallsInterceptor, "getMetricTags">) => MetricTags;
}

/** The interceptors of one attempt. */
export interface ActivityInterceptors {
  /** Intercepts the attempt. */
  inbound?: ActivityInboundCallsInterceptor;
  /** Intercepts its calls to the worker. */
  outbound?: ActivityOutboundCallsInterceptor;
}

/** Creates the interceptors of an attempt. */
export type ActivityInterceptorsFactory = (ctx: Context) => ActivityInterceptors;

/** Deprecated: use `ActivityInterceptorsFactory`. */
export interface ActivityInboundCallsInterceptorFactory {
  /** Creates the interceptor of an attempt. */
  (ctx: Context): ActivityInboundCallsInterceptor;
}

/** Input of an operation's start. */
export interface NexusStartOperationInput {
  /** The request. */
  readonly ctx: StartOperationContext;
  /** Input of the operation. */
  readonly input: unknown;
}
/** Result of a start. */
export interface NexusStartOperationOutput {
  /** A value, or the token of a running operation. */
  readonly result: StartResult;
}
/** Input of a cancellation. */
export interface NexusCancelOperationInput {
  /** The request. */
  readonly ctx: CancelOperationContext;
  /** The operation's token. */
  readonly token: string;
}

/** Interceptor of Nexus operation handlers. */
export type NexusInboundCallsInterceptor = {
  /** Intercepts a start. */
  startOperation?: (
    input: NexusStartOperationInput,
    next: Next<NexusInboundCallsInterceptor, "startOperation">,
  ) => Promise<NexusStartOperationOutput>;
  /** Intercepts a cancellation. */
  cancelOperation?: (
    input: NexusCancelOperationInput,
    next: Next<NexusInboundCallsInterceptor, "cancelOperation">,
  ) => Promise<void>;
};

/** Interceptor of a handler's calls to the worker. */
export type NexusOutboundCallsInterceptor = {
  /** Returns changed attributes of log lines. */
  getLogAttributes?: (
    input: GetLogAttributesInput,
    next: Next<NexusOutboundCallsInterceptor, "getLogAttributes">,
  ) => Record<string, unknown>;
  /** Returns changed tags of metrics. */
  getMetricTags?: (input: GetMetricTagsInput, next: Next<NexusOutboundCallsInterceptor, "getMetricTags">) => MetricTags;
};

/** The interceptors of one Nexus request. */
export type NexusInterceptors = {
  /** Intercepts the handler. */
  inbound?: NexusInboundCallsInterceptor;
  /** Intercepts its calls to the worker. */
  outbound?: NexusOutboundCallsInterceptor;
};

/** Creates the interceptors of a Nexus request. */
export type NexusInterceptorsFactory = (ctx: OperationContext) => NexusInterceptors;

/** Interceptors of a worker. */
export interface WorkerInterceptors {
  /** Interceptors of the activities' client. */
  client?: ClientInterceptors;
  /** Interceptors of activities, the first one outermost. */
  activity?: ActivityInterceptorsFactory[];
  /** Deprecated: use `activity`. */
  activityInbound?: ActivityInboundCallsInterceptorFactory[];
  /** Interceptors of Nexus operations, the first one outermost. */
  nexus?: NexusInterceptorsFactory[];
  /** Paths of modules that export `interceptors` for workflows. */
  workflowModules?: string[];
}
