// Interceptors of a worker: of activities, of their client, and modules with workflow interceptors.
import type { Context } from "../activity/mod.ts";
import {
  type OptionNames,
  rejectMisspelledMethods,
  rejectMisspelledOptions,
} from "../../base/option_names.ts";
import type { ClientInterceptors } from "../client/mod.ts";
import type { Headers, MetricTags, Next } from "../common/mod.ts";

import type {
  CancelOperationContext,
  OperationContext,
  StartOperationContext,
  StartResult,
} from "../nexus/types.ts";

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
  execute?: (
    input: ActivityExecuteInput,
    next: Next<ActivityInboundCallsInterceptor, "execute">,
  ) => Promise<unknown>;
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
  getMetricTags?: (
    input: GetMetricTagsInput,
    next: Next<ActivityOutboundCallsInterceptor, "getMetricTags">,
  ) => MetricTags;
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
  getMetricTags?: (
    input: GetMetricTagsInput,
    next: Next<NexusOutboundCallsInterceptor, "getMetricTags">,
  ) => MetricTags;
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

const WORKER_INTERCEPTORS: OptionNames<WorkerInterceptors> = {
  ...{ client: 1, activity: 1, activityInbound: 1, nexus: 1, workflowModules: 1 },
};
const CLIENT_INTERCEPTORS: OptionNames<ClientInterceptors> = {
  workflow: 1,
  schedule: 1,
  nexus: 1,
  activity: 1,
};
const DIRECTIONS: OptionNames<ActivityInterceptors> = { inbound: 1, outbound: 1 };
const ACTIVITY_INBOUND: OptionNames<ActivityInboundCallsInterceptor> = { execute: 1 };
const NEXUS_INBOUND: OptionNames<NexusInboundCallsInterceptor> = {
  startOperation: 1,
  cancelOperation: 1,
};
const OUTBOUND: OptionNames<ActivityOutboundCallsInterceptor> = {
  getLogAttributes: 1,
  getMetricTags: 1,
};

/** Throws a TypeError for a misspelled kind of interceptors, which would be ignored. */
export function checkWorkerInterceptors(interceptors: WorkerInterceptors | undefined): void {
  rejectMisspelledOptions("interceptors of Worker.create", interceptors, WORKER_INTERCEPTORS);
  rejectMisspelledOptions(
    "interceptors.client of Worker.create",
    interceptors?.client,
    CLIENT_INTERCEPTORS,
  );
}

/**
 * Returns the interceptors of one attempt. Throws a TypeError for a misspelled or misplaced method,
 * which would never be called.
 */
export function checkActivityInterceptors(made: ActivityInterceptors): ActivityInterceptors {
  return checkInterceptors("an activity interceptor", made, ACTIVITY_INBOUND);
}

/** Same for one Nexus request. */
export function checkNexusInterceptors(made: NexusInterceptors): NexusInterceptors {
  return checkInterceptors("a Nexus interceptor", made, NEXUS_INBOUND);
}

function checkInterceptors<T extends { inbound?: object; outbound?: object }>(
  owner: string,
  made: T,
  inbound: object,
): T {
  for (const [direction, names] of [["inbound", inbound], ["outbound", OUTBOUND]] as const) {
    for (const method of Object.keys(names)) {
      if (
        made?.[direction] !== undefined ||
        typeof (made as { [name: string]: unknown })?.[method] !== "function"
      ) continue;
      throw new TypeError(
        `${owner} has no method "${method}"; return { ${direction}: { ${method} } } from the factory`,
      );
    }
  }
  rejectMisspelledOptions(owner, made, DIRECTIONS);
  rejectMisspelledMethods(`inbound of ${owner}`, made?.inbound, inbound);
  rejectMisspelledMethods(`outbound of ${owner}`, made?.outbound, OUTBOUND);
  return made;
}
