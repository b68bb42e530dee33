// Features of servers that the native client lacks: rejected by name, with advice.
import type {
  BuildIdOperation,
  ReachabilityOptions,
  ReachabilityResponse,
  WorkerBuildIdVersionSets,
} from "./build_id_types.ts";
import { BaseClient, type BaseClientOptions, type LoadedWithDefaults } from "./base_client.ts";
import type { WorkflowService } from "./plain_service.ts";

function refused(what: string, advice: string): Promise<never> {
  return Promise.reject(new TypeError(`${what} is not supported by temporalex yet; ${advice}`));
}
const OLD_VERSIONING = "versions of deployments took its place (docs/cluster-workers.md)";
const NEXUS = "call the operation from a workflow";

/** Options of a {@link NexusClient}. */
export interface NexusClientOptions extends BaseClientOptions {
  /** Interceptors of its operations. */
  interceptors?: unknown[];
}
/** Options with their defaults. */
export type LoadedNexusClientOptions = LoadedWithDefaults<NexusClientOptions>;

/** Standalone Nexus operations: not supported. */
export class NexusClient extends BaseClient {
  constructor(options: NexusClientOptions = {}) {
    super(options);
  }
  /** Temporal's WorkflowService. */
  get workflowService(): WorkflowService {
    return this.connection.workflowService;
  }
  /** Not supported. */
  createServiceClient(_options?: object): never {
    throw new TypeError(`a client of a Nexus service is not supported by temporalex yet; ${NEXUS}`);
  }
  /** Not supported. */
  getHandle(operationId: string, _options?: object): never {
    throw new TypeError(
      `a handle of the Nexus operation "${operationId}" is not supported by temporalex yet; ${NEXUS}`,
    );
  }
  /** Not supported. */
  list(_options?: object): never {
    throw new TypeError(`a list of Nexus operations is not supported by temporalex yet; ${NEXUS}`);
  }
  /** Not supported. */
  count(_query?: string): Promise<never> {
    return refused("a count of Nexus operations", NEXUS);
  }
}

/** Options of a {@link TaskQueueClient}. */
export type TaskQueueClientOptions = BaseClientOptions;
/** Options with their defaults. */
export type LoadedTaskQueueClientOptions = LoadedWithDefaults<TaskQueueClientOptions>;

/** Build id sets by task queue (deprecated in the official SDK): not supported. */
export class TaskQueueClient extends BaseClient {
  constructor(options: TaskQueueClientOptions = {}) {
    super(options);
  }
  /** Temporal's WorkflowService. */
  get workflowService(): WorkflowService {
    return this.connection.workflowService;
  }
  /** Not supported. */
  updateBuildIdCompatibility(taskQueue: string, _operation: BuildIdOperation): Promise<void> {
    return refused(`updateBuildIdCompatibility("${taskQueue}")`, OLD_VERSIONING);
  }
  /** Not supported. */
  getBuildIdCompatability(taskQueue: string): Promise<WorkerBuildIdVersionSets | undefined> {
    return refused(`getBuildIdCompatability("${taskQueue}")`, OLD_VERSIONING);
  }
  /** Not supported. */
  getReachability(_options: ReachabilityOptions): Promise<ReachabilityResponse> {
    return refused("getReachability", OLD_VERSIONING);
  }
}
