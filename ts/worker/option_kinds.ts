// Types of the worker's options.
import * as kind from "../base/option_kinds.ts";
import type { PayloadLimits } from "../service/limits.ts";
import type { ActivityThreads } from "./activities/activity_pool.ts";
import type { WorkerDeploymentOptions } from "./deployment.ts";
import type { WorkerEvents } from "./events.ts";
import type { WorkerOptions } from "./options.ts";

const { any, number, object } = kind;

type Kinds = kind.Kinds;
/** Checked where the option is read. */
const later: kind.Kind = ["a valid value", () => true];
const THREADS: kind.Table<ActivityThreads> = {
  module: later,
  size: later,
  concurrency: later,
  hooks: any,
};
const POLLERS: Kinds = { type: later, initial: later, minimum: later, maximum: later };
const DEPLOYMENT: kind.Table<WorkerDeploymentOptions> = {
  ...{
    useWorkerVersioning: later,
    defaultVersioningBehavior: later,
    version: { deploymentName: later, buildId: later },
  },
};
const THROTTLE: kind.Table<NonNullable<WorkerOptions["heartbeatThrottle"]>> = {
  ...{ defaultMs: kind.notNegative, maximumMs: kind.notNegative },
};
const LIMITS: kind.Table<PayloadLimits> = {
  warnBytes: kind.notNegativeOrInfinity,
  errorBytes: kind.notNegativeOrInfinity,
};
export const EVENTS: kind.Table<WorkerEvents> = {
  ...{
    workflowTaskFailed: kind.call,
    activityFailed: kind.call,
    activityCompletesAsync: kind.call,
  },
};

/** The type of each option of `Worker.create`. */
export const WORKER_OPTIONS: kind.Table<WorkerOptions> = {
  ...{
    service: kind.serviceOrPromise,
    taskQueue: kind.name,
    workflows: kind.workflows,
    activities: kind.functionObjects,
  },
  ...{
    namespace: kind.name,
    identity: kind.text,
    activityThreads: THREADS,
    nexusServices: kind.call,
    converter: kind.converter,
  },
  ...{ codec: kind.codec, encodeCommonAttributes: kind.flag, logger: kind.logger },
  ...{
    maxConcurrentWorkflowTasks: number,
    maxConcurrentActivities: number,
    maxConcurrentLocalActivities: number,
  },
  ...{
    maxConcurrentNexusTasks: number,
    maxActivitiesPerSecond: number,
    maxTaskQueueActivitiesPerSecond: number,
  },
  ...{
    workflowTaskPollerBehavior: POLLERS,
    activityTaskPollerBehavior: POLLERS,
    nexusTaskPollerBehavior: POLLERS,
  },
  ...{
    cachedWorkflows: number,
    stickyScheduleToStartTimeout: kind.duration,
    shutdownGraceMs: number,
    shutdownForceMs: number,
  },
  ...{
    workerDeploymentOptions: DEPLOYMENT,
    heartbeatThrottle: THROTTLE,
    payloadLimits: LIMITS,
    activityInterceptors: kind.list,
  },
  ...{
    workflowTracer: object,
    metrics: object,
    crashNote: kind.text,
    events: EVENTS,
    sources: object,
  },
  realmEntry: kind.moduleOrFunction("a bundle's URL, or a function that makes a Worker of it"),
  realm: kind.nameOrObject('"worker", "inline" or a realm', "worker", "inline"),
  ...{ payloadConverterModule: kind.module, workflowInterceptors: kind.modules, sinks: object },
  ...{
    watchdogMs: kind.notNegativeOrInfinity,
    workflowThreads: number,
    realmStarting: any,
    failureErrorTypes: any,
    buildStamp: any,
    unknownActivityIsFinal: any,
  },
  ...{
    localActivitiesOnly: any,
    maxEagerActivities: any,
    commonQueuePart: any,
    activityDialect: any,
    nexus: any,
  },
  ...{ workflowLog: any, timers: any, activityTimers: any },
};
