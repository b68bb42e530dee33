// `Client` of `@temporalio/client`: clients of workflows, schedules and activities over one
// connection.
import { ActivityClient } from "./activity_client.ts";
import { BaseClient, type BaseClientOptions, type LoadedWithDefaults } from "./base_client.ts";
import { Connection, toConnection } from "./connection.ts";
import type { QueryRejectCondition } from "./enums.ts";
import type { ClientInterceptors } from "./interceptors.ts";
import { loadDataConverter } from "./load_data_converter.ts";
import { NexusClient, TaskQueueClient } from "./not_offered.ts";
import type { WorkflowService } from "./plain_service.ts";
import { ScheduleClient } from "./schedule_client.ts";
import { WorkflowClient } from "./workflow_client.ts";

/** Plugin for the options of clients. */
export interface ClientPlugin {
  /** Name of the plugin. */
  get name(): string;
  /** Returns changed options of the client. */
  configureClient?(options: Omit<ClientOptions, "plugins">): Omit<ClientOptions, "plugins">;
}

/** Options of a {@link Client}. */
export interface ClientOptions extends BaseClientOptions {
  /** Interceptors of its operations. */
  interceptors?: ClientInterceptors;
  /** Plugins that change the options. */
  plugins?: ClientPlugin[];
  workflow?: { queryRejectCondition?: QueryRejectCondition };
}
/** Options with their defaults. */
export type LoadedClientOptions = LoadedWithDefaults<ClientOptions>;

/** Client of workflows, schedules and activities. */
export class Client extends BaseClient {
  /** Options with defaults. */
  declare readonly options: LoadedClientOptions;
  readonly workflow: WorkflowClient;
  /** Standalone activities, and activities completed from outside. */
  readonly activity: ActivityClient;
  readonly schedule: ScheduleClient;
  /** Not supported. */
  readonly taskQueue: TaskQueueClient;
  /** Not supported. */
  readonly nexus: NexusClient;

  constructor(options: ClientOptions = {}) {
    const { plugins: own = [], ...given } = options;
    const ofConnection =
      (options.connection as { plugins?: ClientPlugin[] } | undefined)?.plugins ?? [];
    const plugins = [...own, ...ofConnection];
    let configured: ClientOptions = given;
    for (const plugin of plugins) configured = plugin.configureClient?.(configured) ?? configured;
    const { interceptors = {}, workflow = {}, ...rest } = configured;
    const base = {
      ...rest,
      connection: rest.connection === undefined ? Connection.lazy() : toConnection(rest.connection),
      // Loaded once for all clients.
      dataConverter: loadDataConverter(rest.dataConverter),
    };
    super({ ...base, ...(configured.interceptors && { interceptors }) } as BaseClientOptions);
    Object.assign(this.options, { plugins });
    this.workflow = new WorkflowClient({
      ...base,
      ...(interceptors.workflow && { interceptors: interceptors.workflow }),
      ...(workflow.queryRejectCondition !== undefined &&
        { queryRejectCondition: workflow.queryRejectCondition }),
    });
    this.activity = new ActivityClient({
      ...base,
      ...(interceptors.activity && { interceptors: interceptors.activity }),
    });
    this.schedule = new ScheduleClient({
      ...base,
      ...(interceptors.schedule && { interceptors: interceptors.schedule }),
    });
    this.taskQueue = new TaskQueueClient(base);
    this.nexus = new NexusClient(base);
  }

  /** Temporal's WorkflowService. */
  get workflowService(): WorkflowService {
    return this.connection.workflowService;
  }
}
