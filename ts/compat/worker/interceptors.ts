// Interceptors of a worker: of its activities, of the client that they have, and the modules with those of workflows.
import type { Context } from "../activity/mod.ts";
import type { ClientInterceptors } from "../client/mod.ts";
import type { Headers, MetricTags, Next } from "../common/mod.ts";

import type { CancelOperationContext, OperationContext, StartOperationContext, StartResult } from "../nexus/types.ts";

export type { Headers, Next };

/** What an activity is called with. */
export interface ActivityExecuteInput {
  /** Its arguments. */
  readonly args: unknown[];
  /** Headers of the call. */
  readonly headers: Headers;
}

/** Around the attempts of activities. */
export interface ActivityInboundCallsInterceptor {
  /** Around each attempt. */
  execute?: (input: ActivityExecuteInput, next: Next<ActivityInboundCallsInterceptor, "execute">) => Promise<unknown>;
}

/** Attributes of an activity's log lines. */
export type GetLogAttributesInput = Record<string, unknown>;
/** Tags of an activity's metrics. */
export type GetMetricTagsInput = MetricTags;

/** Around what activities ask the worker for. */
export interface ActivityOutboundCallsInterceptor {
  /** Changes the attributes of log lines. */
  getLogAttributes?: (
    input: GetLogAttributesInput,
    next: Next<ActivityOutboundCallsInterceptor, "getLogAttributes">,
  ) => Record<string, unknown>;
  /** Changes the tags of metrics. */
  getMetricTags?: (input: GetMetricTagsInput, next: Next<ActivityOutboundCallsInterceptor, "getMetricTags">) => MetricTags;
}

/** The interceptors of one attempt. */
export interface ActivityInterceptors {
  /** Around the attempt. */
  inbound?: ActivityInboundCallsInterceptor;
  /** Around what it asks for. */
  outbound?: ActivityOutboundCallsInterceptor;
}

/** Makes the interceptors of an attempt. */
export type ActivityInterceptorsFactory = (ctx: Context) => ActivityInterceptors;

/** Deprecated: `ActivityInterceptorsFactory`. */
export interface ActivityInboundCallsInterceptorFactory {
  /** Makes the interceptor of an attempt. */
  (ctx: Context): ActivityInboundCallsInterceptor;
}

/** What an operation is started with. */
export interface NexusStartOperationInput {
  /** The request. */
  readonly ctx: StartOperationContext;
  /** The operation's input. */
  readonly input: unknown;
}
/** How the start ended. */
export interface NexusStartOperationOutput {
  /** With a value, or with the token of what goes on. */
  readonly result: StartResult;
}
/** What is to be cancelled. */
export interface NexusCancelOperationInput {
  /** The request. */
  readonly ctx: CancelOperationContext;
  /** The operation's token. */
  readonly token: string;
}

/** Around the handlers of Nexus operations. */
export type NexusInboundCallsInterceptor = {
  /** Around a start. */
  startOperation?: (
    input: NexusStartOperationInput,
    next: Next<NexusInboundCallsInterceptor, "startOperation">,
  ) => Promise<NexusStartOperationOutput>;
  /** Around a cancellation. */
  cancelOperation?: (
    input: NexusCancelOperationInput,
    next: Next<NexusInboundCallsInterceptor, "cancelOperation">,
  ) => Promise<void>;
};

/** Around what handlers of Nexus operations ask the worker for. */
export type NexusOutboundCallsInterceptor = {
  /** Changes the attributes of log lines. */
  getLogAttributes?: (
    input: GetLogAttributesInput,
    next: Next<NexusOutboundCallsInterceptor, "getLogAttributes">,
  ) => Record<string, unknown>;
  /** Changes the tags of metrics. */
  getMetricTags?: (input: GetMetricTagsInput, next: Next<NexusOutboundCallsInterceptor, "getMetricTags">) => MetricTags;
};

/** The interceptors of one Nexus request. */
export type NexusInterceptors = {
  /** Around the handler. */
  inbound?: NexusInboundCallsInterceptor;
  /** Around what it asks for. */
  outbound?: NexusOutboundCallsInterceptor;
};

/** Makes the interceptors of a Nexus request. */
export type NexusInterceptorsFactory = (ctx: OperationContext) => NexusInterceptors;

/** Interceptors of a worker. */
export interface WorkerInterceptors {
  /** Of the client that activities have. */
  client?: ClientInterceptors;
  /** Of activities, the first one outermost. */
  activity?: ActivityInterceptorsFactory[];
  /** Deprecated: `activity`. */
  activityInbound?: ActivityInboundCallsInterceptorFactory[];
  /** Of Nexus operations, the first one outermost. */
  nexus?: NexusInterceptorsFactory[];
  /** Paths of modules that export `interceptors` for workflows. */
  workflowModules?: string[];
}
