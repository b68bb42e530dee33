// Options of `Worker.create`, with the official types.
import type { OptionNames } from "../../base/option_names.ts";
import type {
  DataConverter,
  Duration,
  VersioningBehavior,
  WorkerDeploymentVersion,
} from "../common/mod.ts";
import type { ValueCheck } from "../../realm/value_check.ts";
import type { WorkflowInfo } from "../workflow/mod.ts";
import type { BundlerPlugin, WorkflowBundleOption } from "./bundle_options.ts";
import type { ServiceHandler } from "../nexus/types.ts";
import type { NativeConnection } from "./connection.ts";
import type { WorkerInterceptors } from "./interceptors.ts";
import type { InjectedSinks } from "./sinks.ts";
import type { WorkerTuner } from "./tuner.ts";
import type { Worker } from "./worker.ts";

/** A number of polls that depends on server and load. */
export interface PollerBehaviorAutoscaling {
  /** Discriminator. */
  type: "autoscaling";
  /** Minimum. Default: 1. */
  minimum?: number;
  /** Maximum. Default: 100. */
  maximum?: number;
  /** Initial number. Default: 5. */
  initial?: number;
}

/** A fixed number of polls, limited by slots. */
export interface PollerBehaviorSimpleMaximum {
  /** Discriminator. */
  type: "simple-maximum";
  /** Number of polls. Default: 10, or the number of slots if lower. */
  maximum?: number;
}

/** Number of concurrent polls. */
export type PollerBehavior = PollerBehaviorSimpleMaximum | PollerBehaviorAutoscaling;

/** Deployment and version of a worker. */
export type WorkerDeploymentOptions = {
  version: WorkerDeploymentVersion;
  /** Whether the server routes runs by version. */
  useWorkerVersioning: boolean;
  /** Default for workflows without a versioning behavior. */
  defaultVersioningBehavior?: VersioningBehavior | undefined;
};

/** Input of a patch decision. */
export interface PatchActivationInput {
  readonly workflowInfo: Readonly<WorkflowInfo>;
  readonly patchId: string;
}
/** Decides whether new runs use a patch. */
export type PatchActivationCallback = (input: PatchActivationInput) => boolean;

/** Plugin for a worker's options and its run. */
export interface WorkerPlugin extends BundlerPlugin {
  /** Name of the plugin. */
  get name(): string;
  /** Returns changed options of a worker. */
  configureWorker?(options: WorkerOptions): WorkerOptions | Promise<WorkerOptions>;
  /** Returns changed options of a replay. */
  configureReplayWorker?(
    options: ReplayWorkerOptions,
  ): ReplayWorkerOptions | Promise<ReplayWorkerOptions>;
  /** Wraps a worker's run. */
  runWorker?(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void>;
}

/** Options of `Worker.create`. */
export interface WorkerOptions {
  /** Connection to the cluster. Default: a separate connection to localhost:7233. */
  connection?: NativeConnection;
  /** Identity of the worker in histories. Default: `pid@host`. */
  identity?: string;
  /**
   * Build id of the worker in histories. Deprecated: use `workerDeploymentOptions`, which overrides
   * it.
   */
  buildId?: string;
  /**
   * Receive only tasks that the queue's rules assign to `buildId`. Deprecated: use
   * `workerDeploymentOptions`.
   */
  useVersioning?: boolean;
  /** Deployment and version of the worker. */
  workerDeploymentOptions?: WorkerDeploymentOptions;
  /** Default: "default". */
  namespace?: string;
  /** The polled task queue. */
  taskQueue: string;
  /** Functions by name; `default` handles other activities. */
  activities?: object;
  /** Not supported. */
  patchActivationCallback?: PatchActivationCallback;
  /** Services created by `nexus.serviceHandler(...)` of nexus-rpc. */
  nexusServices?: ServiceHandler[];
  /** Path of the module that exports the workflows. */
  workflowsPath?: string;
  workflowBundle?: WorkflowBundleOption;
  /** Time for activities during shutdown before they are canceled. Default: 0. */
  shutdownGraceTime?: Duration;
  /** Time after which an incomplete shutdown fails. Default: no limit. */
  shutdownForceTime?: Duration;
  /** Converts values to payloads. */
  dataConverter?: DataConverter;
  /** Slots of the worker. */
  tuner?: WorkerTuner;
  /** Maximum concurrent activities. Default: 100. */
  maxConcurrentActivityTaskExecutions?: number;
  /** Maximum concurrent local activities. Default: 100. */
  maxConcurrentLocalActivityExecutions?: number;
  /** Maximum concurrent Nexus requests. Default: 100. */
  maxConcurrentNexusTaskExecutions?: number;
  /** False: activities run only as local ones. Default: true. */
  enableNonLocalActivities?: boolean;
  /** Send payloads of any size. Default: false. */
  disablePayloadErrorLimit?: boolean;
  /** Maximum activities started per second by this worker. */
  maxActivitiesPerSecond?: number;
  /** Maximum activities started per second by all workers of the queue. */
  maxTaskQueueActivitiesPerSecond?: number;
  /** Maximum activities returned with one workflow task. Default: 3. */
  maxEagerActivityReservationsPerWorkflowTask?: number;
  /** Maximum concurrent workflow tasks. Default: 40. */
  maxConcurrentWorkflowTaskExecutions?: number;
  /** Share of workflow task polls on the normal queue. Default: 0.2. */
  nonStickyToStickyPollRatio?: number;
  /** Concurrent workflow task polls. Default: 10. */
  maxConcurrentWorkflowTaskPolls?: number;
  /** Scaling of workflow task polls. */
  workflowTaskPollerBehavior?: PollerBehavior;
  /** Scaling of activity polls. */
  activityTaskPollerBehavior?: PollerBehavior;
  /** Scaling of Nexus polls. */
  nexusTaskPollerBehavior?: PollerBehavior;
  /** Concurrent activity polls. Default: 10. */
  maxConcurrentActivityTaskPolls?: number;
  /** Concurrent Nexus polls. Default: 10, or the number of slots if lower. */
  maxConcurrentNexusTaskPolls?: number;
  /** Time that a task of a cached run waits for this worker. Default: 10 s. */
  stickyQueueScheduleToStartTimeout?: Duration;
  /** Maximum cached runs. Default: 1000. */
  maxCachedWorkflows?: number;
  /** Threads for workflow code. Default: 1. */
  workflowThreadPoolSize?: number;
  /** Maximum interval of sent heartbeats. Default: 60 s. */
  maxHeartbeatThrottleInterval?: Duration;
  /** Heartbeat interval of activities without a heartbeat timeout. Default: 30 s. */
  defaultHeartbeatThrottleInterval?: Duration;
  /** Interceptors of workflows, activities and their client. */
  interceptors?: WorkerInterceptors;
  /** Plugins, the first one outermost. */
  plugins?: WorkerPlugin[];
  /** Functions that workflow code calls without waiting. */
  // deno-lint-ignore no-explicit-any
  sinks?: InjectedSinks<any>;
  /**
   * Names of error classes that fail a run instead of its task, by workflow type; "*" is all types,
   * "Error" all errors of workflow code. Those of divergences are rejected.
   */
  workflowFailureErrorTypes?: Record<string, string[]>;
  /** Deprecated, no effect, as in the official SDK. */
  enableSDKTracing?: boolean;
  /** Include sources in stack trace queries. Not supported. */
  showStackTraceSources?: boolean;
  /** Workflow code may stop in a debugger. Default: false. */
  debugMode?: boolean;
  /** No effect: the runs of a worker are isolated in one context. */
  reuseV8Context?: boolean;
  /** Options of the bundle. */
  bundlerOptions?: {
    /** See {@link BundleOptions.webpackConfigHook}. */
    // deno-lint-ignore no-explicit-any
    webpackConfigHook?: (config: any) => any;
    /** Modules that workflow code imports but never uses. */
    ignoreModules?: string[];
    /** No effect: modules are evaluated for each run. */
    preloadModules?: string[];
  };
}

export const WORKER_OPTION_NAMES: OptionNames<WorkerOptions> = {
  ...{
    connection: 1,
    identity: 1,
    buildId: 1,
    useVersioning: 1,
    workerDeploymentOptions: 1,
    namespace: 1,
  },
  ...{
    taskQueue: 1,
    activities: 1,
    patchActivationCallback: 1,
    nexusServices: 1,
    workflowsPath: 1,
  },
  ...{ workflowBundle: 1, shutdownGraceTime: 1, shutdownForceTime: 1, dataConverter: 1, tuner: 1 },
  ...{ maxConcurrentActivityTaskExecutions: 1, maxConcurrentLocalActivityExecutions: 1 },
  ...{
    maxConcurrentNexusTaskExecutions: 1,
    enableNonLocalActivities: 1,
    disablePayloadErrorLimit: 1,
  },
  ...{ maxActivitiesPerSecond: 1, maxTaskQueueActivitiesPerSecond: 1 },
  ...{ maxEagerActivityReservationsPerWorkflowTask: 1, maxConcurrentWorkflowTaskExecutions: 1 },
  ...{
    nonStickyToStickyPollRatio: 1,
    maxConcurrentWorkflowTaskPolls: 1,
    workflowTaskPollerBehavior: 1,
  },
  ...{
    activityTaskPollerBehavior: 1,
    nexusTaskPollerBehavior: 1,
    maxConcurrentActivityTaskPolls: 1,
  },
  ...{
    maxConcurrentNexusTaskPolls: 1,
    stickyQueueScheduleToStartTimeout: 1,
    maxCachedWorkflows: 1,
  },
  ...{
    workflowThreadPoolSize: 1,
    maxHeartbeatThrottleInterval: 1,
    defaultHeartbeatThrottleInterval: 1,
  },
  ...{ interceptors: 1, plugins: 1, sinks: 1, workflowFailureErrorTypes: 1, enableSDKTracing: 1 },
  ...{ showStackTraceSources: 1, debugMode: 1, bundlerOptions: 1, reuseV8Context: 1 },
};

/** Options of a replay. */
export interface ReplayWorkerOptions extends
  Omit<
    WorkerOptions,
    | "connection"
    | "namespace"
    | "taskQueue"
    | "activities"
    | "nexusServices"
    | "tuner"
    | "maxConcurrentActivityTaskExecutions"
    | "maxConcurrentLocalActivityExecutions"
    | "maxConcurrentWorkflowTaskExecutions"
    | "maxConcurrentNexusTaskExecutions"
    | "maxConcurrentActivityTaskPolls"
    | "maxConcurrentWorkflowTaskPolls"
    | "maxConcurrentNexusTaskPolls"
    | "workflowTaskPollerBehavior"
    | "activityTaskPollerBehavior"
    | "nexusTaskPollerBehavior"
    | "nonStickyToStickyPollRatio"
    | "maxHeartbeatThrottleInterval"
    | "defaultHeartbeatThrottleInterval"
    | "debugMode"
    | "enableNonLocalActivities"
    | "maxActivitiesPerSecond"
    | "maxTaskQueueActivitiesPerSecond"
    | "maxEagerActivityReservationsPerWorkflowTask"
    | "stickyQueueScheduleToStartTimeout"
    | "maxCachedWorkflows"
    | "useVersioning"
    | "patchActivationCallback"
  > {
  /** Name of the replay in logs. */
  replayName?: string;
  /**
   * Not in the official package. Compares values as well: arguments, results, durations, options,
   * memos, search attributes. "warn" adds `changedValues` to results and logs a warning; "error"
   * makes such a replay fail with a ChangedValuesError. Default: values are not compared.
   */
  values?: ValueCheck;
}
