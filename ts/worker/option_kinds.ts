// What the options of a worker may be.
import * as kind from "../base/option_kinds.ts";
import type { WorkerOptions } from "./options.ts";

const { any, number, object } = kind;

/** Of each option of `Worker.create`. */
export const WORKER_OPTIONS: kind.Table<WorkerOptions> = {
  ...{ service: kind.serviceOrPromise, taskQueue: kind.name, workflows: kind.workflows, activities: kind.functionObjects },
  ...{ namespace: kind.name, identity: kind.text, activityThreads: object, nexusServices: kind.call, converter: kind.converter },
  ...{ codec: kind.codec, encodeCommonAttributes: kind.flag, logger: kind.logger },
  ...{ maxConcurrentWorkflowTasks: number, maxConcurrentActivities: number, maxConcurrentLocalActivities: number },
  ...{ maxConcurrentNexusTasks: number, maxActivitiesPerSecond: number, maxTaskQueueActivitiesPerSecond: number },
  ...{ workflowTaskPollerBehavior: object, activityTaskPollerBehavior: object, nexusTaskPollerBehavior: object },
  ...{ cachedWorkflows: number, stickyScheduleToStartTimeout: kind.duration, shutdownGraceMs: number, shutdownForceMs: number },
  ...{ workerDeploymentOptions: object, heartbeatThrottle: object, payloadLimits: object, activityInterceptors: kind.list },
  ...{ workflowTracer: object, metrics: object, crashNote: kind.text, events: object, sources: object },
  realmEntry: kind.moduleOrFunction("a bundle's URL, or a function that makes a Worker of it"),
  realm: kind.nameOrObject('"worker", "inline" or a realm', "worker", "inline"),
  ...{ payloadConverterModule: kind.module, workflowInterceptors: kind.modules, sinks: object },
  ...{ watchdogMs: number, workflowThreads: number, realmStarting: any, buildStamp: any, unknownActivityIsFinal: any },
  ...{ localActivitiesOnly: any, maxEagerActivities: any, commonQueuePart: any, activityDialect: any, nexus: any },
  ...{ workflowLog: any, timers: any, activityTimers: any },
};
