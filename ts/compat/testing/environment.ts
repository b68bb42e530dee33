// TestWorkflowEnvironment: a test server with connections and a client. The server is the embedded
// engine in this process, served on the loopback like `temporalex dev`; nothing is downloaded or
// started.
import {
  type AsyncCompletionClient,
  Client,
  type ClientPlugin,
  Connection,
  type ConnectionPlugin,
  type WorkflowClient,
} from "../client/mod.ts";
import type { Duration } from "../common/mod.ts";
import { msToNumber } from "../common/time.ts";
import {
  NativeConnection,
  type NativeConnectionOptions,
  type NativeConnectionPlugin,
  Runtime,
} from "../worker/mod.ts";
import { nativeLogger } from "../worker/logger.ts";
import { realTimers, type Timers } from "../../base/timers.ts";
import { type EndlessWaits, rejectUnknownEndlessWaits } from "../../testing/endless_wait.ts";
import { startDevServer } from "../../dev/server.ts";
import { type ClientOptionsForTestEnv, hasTime, TimeSkippingClient } from "./client.ts";
import {
  createNexusEndpoint,
  deleteNexusEndpoint,
  type NexusEndpointIdentifier,
} from "./nexus_endpoints.ts";
import { ObservedCalls } from "./observed_calls.ts";
import {
  checkServerOptions,
  type DevServerConfig,
  searchAttributesOf,
  type TimeSkippingServerConfig,
} from "./server_options.ts";
import { SkippingClock } from "./skipping_clock.ts";
import { TimeControl } from "./time_control.ts";

/** Timeout of a query for a workflow's stack trace. */
const STACK_TRACE_MS = 5000;

type Plugins = (ClientPlugin | ConnectionPlugin | NativeConnectionPlugin)[];

/** Options of `TestWorkflowEnvironment.createLocal`. */
export interface LocalTestWorkflowEnvironmentOptions {
  server?: Omit<DevServerConfig, "type">;
  /** Options of `client`. */
  client?: ClientOptionsForTestEnv;
  /** Plugins of connections and client. */
  plugins?: Plugins;
}

/** Options of `TestWorkflowEnvironment.createTimeSkipping`. */
export interface TimeSkippingTestWorkflowEnvironmentOptions {
  server?: Omit<TimeSkippingServerConfig, "type">;
  /** Options of `client`. */
  client?: ClientOptionsForTestEnv;
  /** Plugins of connections and client. */
  plugins?: Plugins;
  /**
   * Action after two real seconds in which nothing in the environment can end a wait of `client`
   * for a result or an update. "warn": logs one warning with what is awaited. "error": the call
   * rejects with an EndlessWaitError with the same facts. Not in the official SDK. Default: "warn".
   */
  endlessWaits?: EndlessWaits;
}

/** Connection options for an existing server. */
export type ExistingServerConnectionOptions = Pick<
  NativeConnectionOptions,
  "apiKey" | "metadata" | "tls"
>;

/** Options of `TestWorkflowEnvironment.createFromExistingServer`. */
export interface ExistingServerTestWorkflowEnvironmentOptions {
  /** Default: localhost:7233. */
  address?: string;
  /** Default: "default". */
  namespace?: string;
  /** Options of both connections. */
  connectionOptions?: ExistingServerConnectionOptions;
  /** Options of `client`. */
  client?: ClientOptionsForTestEnv;
  /** Plugins of connections and client. */
  plugins?: Plugins;
}

interface Parts {
  readonly address: string;
  readonly namespace: string;
  readonly connectionOptions: ExistingServerConnectionOptions;
  readonly connection: Connection;
  readonly nativeConnection: NativeConnection;
  readonly client: Client;
  readonly time: TimeControl | undefined;
  close(): Promise<void>;
}

/** A server, and how it is ended. */
interface Target {
  readonly address: string;
  readonly namespace: string;
  readonly connectionOptions?: ExistingServerConnectionOptions | undefined;
  readonly client?: ClientOptionsForTestEnv | undefined;
  readonly plugins?: Plugins | undefined;
  readonly time?: TimeControl;
  close(): Promise<void>;
}

/**
 * A test server: `const env = await TestWorkflowEnvironment.createTimeSkipping()`, finally `await
 * env.teardown()`.
 */
export class TestWorkflowEnvironment {
  /** `host:port` of the server. */
  readonly address: string;
  /** Namespace of `client`. */
  readonly namespace: string;
  /** Options of the connections, except the address. */
  readonly connectionOptions: ExistingServerConnectionOptions;
  /** A connection for clients. */
  readonly connection: Connection;
  /** A connection for workers. */
  readonly nativeConnection: NativeConnection;
  /** A client; skips time if the environment does. */
  readonly client: Client;
  /** True if time is skipped while `client` waits for a result or an update, and by `sleep`. */
  readonly supportsTimeSkipping: boolean;
  readonly #parts: Parts;

  protected constructor(parts: Parts) {
    this.#parts = parts;
    this.address = parts.address;
    this.namespace = parts.namespace;
    this.connectionOptions = parts.connectionOptions;
    this.connection = parts.connection;
    this.nativeConnection = parts.nativeConnection;
    this.client = parts.client;
    this.supportsTimeSkipping = parts.time !== undefined;
  }

  /** Starts a server with real time. */
  static async createLocal(
    options: LocalTestWorkflowEnvironmentOptions = {},
  ): Promise<TestWorkflowEnvironment> {
    const { server = {}, ...rest } = options;
    const { namespace = "default", port = 0, dbFilename, log } = server;
    const logger = serverLogger(log?.level);
    checkServerOptions(server, (message) => logger.warn(message));
    const served = await startDevServer({
      port,
      namespaces: [namespace],
      searchAttributes: searchAttributesOf(server),
      storeOf: () => dbFilename,
      logger,
    });
    return await this.#made({
      ...rest,
      namespace,
      address: `127.0.0.1:${served.port}`,
      close: () => served.close(),
    });
  }

  /**
   * Starts a server whose time is skipped by `sleep`, and while `client` waits for a result or an
   * update and no worker has a task; otherwise time is real. Concurrent tests share its time: use
   * an environment for each.
   *
   * @param waitTimers Real time for `endlessWaits`; set by tests of this package.
   */
  static async createTimeSkipping(
    options: TimeSkippingTestWorkflowEnvironmentOptions = {},
    waitTimers: Timers = realTimers,
  ): Promise<TestWorkflowEnvironment> {
    const { server = {}, endlessWaits, ...rest } = options;
    rejectUnknownEndlessWaits(endlessWaits);
    const clock = new SkippingClock();
    const logger = serverLogger();
    checkServerOptions(server, (message) => logger.warn(message));
    let calls!: ObservedCalls;
    const served = await startDevServer({
      port: server.port ?? 0,
      namespaces: ["default"],
      searchAttributes: searchAttributesOf(server),
      storeOf: () => undefined,
      logger,
      clock,
      around: (service) => calls = new ObservedCalls(service),
    });
    const time = new TimeControl(clock, served.namespaces.engines[0]!, calls, {
      endlessWaits,
      logger,
      timers: waitTimers,
    });
    const close = async () => {
      time.close();
      await served.close();
    };
    return await this.#made({
      ...rest,
      namespace: "default",
      address: `127.0.0.1:${served.port}`,
      time,
      close,
    });
  }

  /** Uses an existing server. `teardown` closes the connections and leaves it running. */
  static async createFromExistingServer(
    options: ExistingServerTestWorkflowEnvironmentOptions = {},
  ): Promise<TestWorkflowEnvironment> {
    const { address = "localhost:7233", namespace = "default", ...rest } = options;
    return await this.#made({
      ...rest,
      address,
      namespace,
      close: () => Promise.resolve(),
    });
  }

  static async #made(
    { address, namespace, connectionOptions = {}, client, plugins = [], time, close }: Target,
  ) {
    const opened: { close(): Promise<unknown> }[] = [];
    try {
      const to = { address, ...connectionOptions, plugins: plugins as never[] };
      const connection = await Connection.connect(to as never);
      opened.push(connection);
      const nativeConnection = await NativeConnection.connect(to as never);
      opened.push(nativeConnection);
      if (time !== undefined) hasTime(connection, time);
      // The client uses the plugins of its connection.
      const options = { ...client, connection, namespace };
      if (time !== undefined) {
        const { dataConverter } = options;
        const asking = new Client({
          connection,
          namespace,
          ...(dataConverter !== undefined && { dataConverter }),
        });
        time.stackTrace = (workflowId, runId) => {
          const query = () =>
            asking.workflow.getHandle(workflowId, runId).query<string>("__stack_trace");
          return asking.withDeadline(Date.now() + STACK_TRACE_MS, query);
        };
      }
      return new this({
        ...{
          address,
          namespace,
          connectionOptions,
          connection,
          nativeConnection,
          time,
          close,
        },
        client: time === undefined ? new Client(options) : new TimeSkippingClient(options),
      });
    } catch (error) {
      for (const each of opened) await each.close();
      await close();
      throw error;
    }
  }

  /** Closes the connections and ends the server. Stop the workers first. */
  async teardown(): Promise<void> {
    const { connection, nativeConnection, close } = this.#parts;
    await Promise.allSettled([connection.close(), nativeConnection.close()]);
    await close();
  }

  /** Waits in the server's time, which is skipped if supported. */
  readonly sleep = async (duration: Duration): Promise<void> => {
    const ms = msToNumber(duration);
    if (this.#parts.time === undefined) await new Promise((resolve) => setTimeout(resolve, ms));
    else await this.#parts.time.sleep(ms);
  };

  /** Returns the server's time, in milliseconds since 1970. */
  currentTimeMs(): Promise<number> {
    return Promise.resolve(this.#parts.time?.now() ?? Date.now());
  }

  /** Deprecated: use `client.activity`. */
  get asyncCompletionClient(): AsyncCompletionClient {
    return this.client.activity;
  }

  /** Deprecated: use `client.workflow`. */
  get workflowClient(): WorkflowClient {
    return this.client.workflow;
  }

  /** Creates a Nexus endpoint for a task queue of the environment's namespace. */
  createNexusEndpoint(name: string, taskQueue: string): Promise<NexusEndpointIdentifier> {
    return createNexusEndpoint(this.connection, { name, namespace: this.namespace, taskQueue });
  }

  /** Deletes a Nexus endpoint. */
  deleteNexusEndpoint(endpoint: Pick<NexusEndpointIdentifier, "id" | "version">): Promise<void> {
    return deleteNexusEndpoint(this.connection, endpoint);
  }
}

/** Sends the server's log to the workers' logger. */
function serverLogger(level = "warn") {
  return nativeLogger(
    Runtime.instance().logger,
    { sdkComponent: "server" },
    level.toUpperCase() as "WARN",
  );
}
