// What servers have and the product's client does not: refused, by name, with what to do.
import type { BuildIdOperation, ReachabilityOptions, ReachabilityResponse, WorkerBuildIdVersionSets } from "./build_id_types.ts";
import { AsyncCompletionClient, type AsyncCompletionClientOptions } from "./async_completion_client.ts";
import { BaseClient, type BaseClientOptions, type LoadedWithDefaults } from "./base_client.ts";
import type { WorkflowService } from "./plain_service.ts";

function refused(what: string, advice: string): Promise<never> {
  return Promise.reject(new TypeError(`${what} is not supported here yet; ${advice}`));
}
const STANDALONE = "start a workflow that calls it";
const OLD_VERSIONING = "versions of deployments took its place (docs/cluster-workers.md)";
const NEXUS = "call the operation from a workflow";

/** Options of an {@link ActivityClient}. */
export interface ActivityClientOptions extends AsyncCompletionClientOptions {
  /** Code around its operations. */
  interceptors?: unknown[];
}

/** Completes activities from outside. Standalone activities are refused. */
export class ActivityClient extends AsyncCompletionClient {
  constructor(options: ActivityClientOptions = {}) {
    super(options);
  }
  /** This client, with types of activities. */
  typed<_T>(): this {
    return this;
  }
  /** Refused. */
  start(activity: string, _options?: object): Promise<never> {
    return refused(`the start of the standalone activity "${activity}"`, STANDALONE);
  }
  /** Refused. */
  execute(activity: string, _options?: object): Promise<never> {
    return refused(`the start of the standalone activity "${activity}"`, STANDALONE);
  }
  /** Refused. */
  getHandle(activityId: string, _runId?: string): never {
    throw new TypeError(`a handle of the standalone activity "${activityId}" is not supported here yet; ${STANDALONE}`);
  }
  /** Refused. */
  getHandleWithOptions(activityId: string, _options?: object): never {
    return this.getHandle(activityId);
  }
  /** Refused. */
  list(_query: string): never {
    throw new TypeError(`a list of standalone activities is not supported here yet; ${STANDALONE}`);
  }
  /** Refused. */
  count(_query: string): Promise<never> {
    return refused("a count of standalone activities", STANDALONE);
  }
}

/** Options of a {@link NexusClient}. */
export interface NexusClientOptions extends BaseClientOptions {
  /** Code around its operations. */
  interceptors?: unknown[];
}
/** Options with their defaults. */
export type LoadedNexusClientOptions = LoadedWithDefaults<NexusClientOptions>;

/** Standalone operations of Nexus: refused. */
export class NexusClient extends BaseClient {
  constructor(options: NexusClientOptions = {}) {
    super(options);
  }
  /** Temporal's service. */
  get workflowService(): WorkflowService {
    return this.connection.workflowService;
  }
  /** Refused. */
  createServiceClient(_options?: object): never {
    throw new TypeError(`a client of a Nexus service is not supported here yet; ${NEXUS}`);
  }
  /** Refused. */
  getHandle(operationId: string, _options?: object): never {
    throw new TypeError(`a handle of the Nexus operation "${operationId}" is not supported here yet; ${NEXUS}`);
  }
  /** Refused. */
  list(_options?: object): never {
    throw new TypeError(`a list of Nexus operations is not supported here yet; ${NEXUS}`);
  }
  /** Refused. */
  count(_query?: string): Promise<never> {
    return refused("a count of Nexus operations", NEXUS);
  }
}

/** Options of a {@link TaskQueueClient}. */
export type TaskQueueClientOptions = BaseClientOptions;
/** Options with their defaults. */
export type LoadedTaskQueueClientOptions = LoadedWithDefaults<TaskQueueClientOptions>;

/** Sets of builds by task queue (deprecated in the official SDK): refused. */
export class TaskQueueClient extends BaseClient {
  constructor(options: TaskQueueClientOptions = {}) {
    super(options);
  }
  /** Temporal's service. */
  get workflowService(): WorkflowService {
    return this.connection.workflowService;
  }
  /** Refused. */
  updateBuildIdCompatibility(taskQueue: string, _operation: BuildIdOperation): Promise<void> {
    return refused(`updateBuildIdCompatibility("${taskQueue}")`, OLD_VERSIONING);
  }
  /** Refused. */
  getBuildIdCompatability(taskQueue: string): Promise<WorkerBuildIdVersionSets | undefined> {
    return refused(`getBuildIdCompatability("${taskQueue}")`, OLD_VERSIONING);
  }
  /** Refused. */
  getReachability(_options: ReachabilityOptions): Promise<ReachabilityResponse> {
    return refused("getReachability", OLD_VERSIONING);
  }
}
