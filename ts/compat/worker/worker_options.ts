// Options of `Worker.create`, in their official form.
import type { OptionNames } from "../../base/option_names.ts";
import type { DataConverter, Duration, VersioningBehavior, WorkerDeploymentVersion } from "../common/mod.ts";
import type { WorkflowInfo } from "../workflow/mod.ts";
import type { BundlerPlugin, WorkflowBundleOption } from "./bundle_options.ts";
import type { ServiceHandler } from "../nexus/types.ts";
import type { NativeConnection } from "./connection.ts";
import type { WorkerInterceptors } from "./interceptors.ts";
import type { InjectedSinks } from "./sinks.ts";
import type { WorkerTuner } from "./tuner.ts";
import type { Worker } from "./worker.ts";

/** As many polls as the server and the load ask for. */
export interface PollerBehaviorAutoscaling {
  /** Says that it is this kind. */
  type: "autoscaling";
  /** Never fewer. Default: 1. */
  minimum?: number;
  /** Never more. Default: 100. */
  maximum?: number;
  /** At first. Default: 5. */
  initial?: number;
}

/** A fixed number of polls, as long as there are slots. */
export interface PollerBehaviorSimpleMaximum {
  /** Says that it is this kind. */
  type: "simple-maximum";
  /** How many. Default: 10, or as many as there are slots. */
  maximum?: number;
}

/** How many polls are in flight. */
export type PollerBehavior = PollerBehaviorSimpleMaximum | PollerBehaviorAutoscaling;

/** Which version of which deployment a worker is. */
export type WorkerDeploymentOptions = {
  /** The version that it is. */
  version: WorkerDeploymentVersion;
  /** Whether the server routes runs by version. */
  useWorkerVersioning: boolean;
  /** For workflows that name no behavior. */
  defaultVersioningBehavior?: VersioningBehavior | undefined;
};

/** Where a patch is decided. */
export interface PatchActivationInput {
  /** The run. */
  readonly workflowInfo: Readonly<WorkflowInfo>;
  /** The patch. */
  readonly patchId: string;
}
/** Decides whether new runs take a patch. */
export type PatchActivationCallback = (input: PatchActivationInput) => boolean;

/** Changes a worker's options, and what is around its run. */
export interface WorkerPlugin extends BundlerPlugin {
  /** Its name. */
  get name(): string;
  /** Changes the options of a worker. */
  configureWorker?(options: WorkerOptions): WorkerOptions | Promise<WorkerOptions>;
  /** Changes the options of a replay. */
  configureReplayWorker?(options: ReplayWorkerOptions): ReplayWorkerOptions | Promise<ReplayWorkerOptions>;
  /** Around a worker's run. */
  runWorker?(worker: Worker, next: (worker: Worker) => Promise<void>): Promise<void>;
}

/** Options of `Worker.create`. */
export interface WorkerOptions {
  /** Where the cluster is. Default: a connection to localhost:7233 of the worker's own. */
  connection?: NativeConnection;
  /** Identity of the worker in histories. Default: `pid@host`. */
  identity?: string;
  /** The worker's build, as histories show it. Deprecated: `workerDeploymentOptions`, beside which it says nothing. */
  buildId?: string;
  /** A cluster gives it only tasks that the queue's rules give to `buildId`. Deprecated: `workerDeploymentOptions`. */
  useVersioning?: boolean;
  /** Which version of which deployment it is. */
  workerDeploymentOptions?: WorkerDeploymentOptions;
  /** Default: "default". */
  namespace?: string;
  /** The queue whose tasks it takes. */
  taskQueue: string;
  /** Functions by name; `default` runs activities that have none. */
  activities?: object;
  /** Not supported. */
  patchActivationCallback?: PatchActivationCallback;
  /** What `nexus.serviceHandler(...)` of the package nexus-rpc makes. */
  nexusServices?: ServiceHandler[];
  /** Path of the module that exports the workflows. */
  workflowsPath?: string;
  /** The workflows, bundled. */
  workflowBundle?: WorkflowBundleOption;
  /** Time that activities have at a shutdown before they are asked to stop. Default: 0. */
  shutdownGraceTime?: Duration;
  /** Time after which a shutdown that is not done fails. Default: no limit. */
  shutdownForceTime?: Duration;
  /** How values become payloads. */
  dataConverter?: DataConverter;
  /** Slots. */
  tuner?: WorkerTuner;
  /** Activities running at once. Default: 100. */
  maxConcurrentActivityTaskExecutions?: number;
  /** Local activities running at once. Default: 100. */
  maxConcurrentLocalActivityExecutions?: number;
  /** Nexus requests in work at once. Default: 100. */
  maxConcurrentNexusTaskExecutions?: number;
  /** False: its activities run only as local ones. Default: true. */
  enableNonLocalActivities?: boolean;
  /** Payloads of every size are sent. Default: false. */
  disablePayloadErrorLimit?: boolean;
  /** Activities that it starts per second. */
  maxActivitiesPerSecond?: number;
  /** Activities started per second by all workers of the queue. */
  maxTaskQueueActivitiesPerSecond?: number;
  /** Activities that one workflow task may get back at once. Default: 3. */
  maxEagerActivityReservationsPerWorkflowTask?: number;
  /** Maximum workflow tasks at a time. Default: 40. */
  maxConcurrentWorkflowTaskExecutions?: number;
  /** Part of the polls for workflow tasks that ask the common queue. Default: 0.2. */
  nonStickyToStickyPollRatio?: number;
  /** Polls for workflow tasks in flight. Default: 10. */
  maxConcurrentWorkflowTaskPolls?: number;
  /** How polls for workflow tasks are scaled. */
  workflowTaskPollerBehavior?: PollerBehavior;
  /** How polls for activities are scaled. */
  activityTaskPollerBehavior?: PollerBehavior;
  /** How polls for Nexus requests are scaled. */
  nexusTaskPollerBehavior?: PollerBehavior;
  /** Polls for activities in flight. Default: 10. */
  maxConcurrentActivityTaskPolls?: number;
  /** Polls for Nexus requests in flight. Default: 10, or as many as there are slots. */
  maxConcurrentNexusTaskPolls?: number;
  /** How long a task of a cached run waits for this worker. Default: 10 s. */
  stickyQueueScheduleToStartTimeout?: Duration;
  /** Runs kept in memory. Default: 1000. */
  maxCachedWorkflows?: number;
  /** Threads for workflow code. Default: 1. */
  workflowThreadPoolSize?: number;
  /** Longest interval between heartbeats that are sent. Default: 60 s. */
  maxHeartbeatThrottleInterval?: Duration;
  /** The interval of activities without a heartbeat timeout. Default: 30 s. */
  defaultHeartbeatThrottleInterval?: Duration;
  /** Of workflows, activities and their client. */
  interceptors?: WorkerInterceptors;
  /** Plugins, the first one outermost. */
  plugins?: WorkerPlugin[];
  /** Functions that workflow code calls and does not wait for. */
  // deno-lint-ignore no-explicit-any
  sinks?: InjectedSinks<any>;
  /** Errors that fail a run instead of its task. Not supported. */
  workflowFailureErrorTypes?: Record<string, string[]>;
  /** Deprecated, and without effect in the official SDK, too. */
  enableSDKTracing?: boolean;
  /** Stack trace queries have the sources. Not supported. */
  showStackTraceSources?: boolean;
  /** Workflow code may stop for a debugger. Default: false. */
  debugMode?: boolean;
  /** Without effect: the runs of a worker are kept apart in one context. */
  reuseV8Context?: boolean;
  /** How the workflows are bundled. */
  bundlerOptions?: {
    /** Not supported: there is no webpack. */
    // deno-lint-ignore no-explicit-any
    webpackConfigHook?: (config: any) => any;
    /** Modules that workflow code names and never uses. */
    ignoreModules?: string[];
    /** Without effect: modules are evaluated for each run. */
    preloadModules?: string[];
  };
}

export const WORKER_OPTION_NAMES: OptionNames<WorkerOptions> = {
  ...{ connection: 1, identity: 1, buildId: 1, useVersioning: 1, workerDeploymentOptions: 1, namespace: 1 },
  ...{ taskQueue: 1, activities: 1, patchActivationCallback: 1, nexusServices: 1, workflowsPath: 1 },
  ...{ workflowBundle: 1, shutdownGraceTime: 1, shutdownForceTime: 1, dataConverter: 1, tuner: 1 },
  ...{ maxConcurrentActivityTaskExecutions: 1, maxConcurrentLocalActivityExecutions: 1 },
  ...{ maxConcurrentNexusTaskExecutions: 1, enableNonLocalActivities: 1, disablePayloadErrorLimit: 1 },
  ...{ maxActivitiesPerSecond: 1, maxTaskQueueActivitiesPerSecond: 1 },
  ...{ maxEagerActivityReservationsPerWorkflowTask: 1, maxConcurrentWorkflowTaskExecutions: 1 },
  ...{ nonStickyToStickyPollRatio: 1, maxConcurrentWorkflowTaskPolls: 1, workflowTaskPollerBehavior: 1 },
  ...{ activityTaskPollerBehavior: 1, nexusTaskPollerBehavior: 1, maxConcurrentActivityTaskPolls: 1 },
  ...{ maxConcurrentNexusTaskPolls: 1, stickyQueueScheduleToStartTimeout: 1, maxCachedWorkflows: 1 },
  ...{ workflowThreadPoolSize: 1, maxHeartbeatThrottleInterval: 1, defaultHeartbeatThrottleInterval: 1 },
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
  /** Names the replay in logs. */
  replayName?: string;
}
