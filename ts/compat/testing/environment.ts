// TestWorkflowEnvironment: a server for tests, with connections and a client. The server is the embedded engine in this process, served on the
// loopback as `temporalex dev` does; nothing is downloaded or started.
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
import { NativeConnection, type NativeConnectionOptions, type NativeConnectionPlugin, Runtime } from "../worker/mod.ts";
import { nativeLogger } from "../worker/logger.ts";
import { realTimers, type Timers } from "../../base/timers.ts";
import { type EndlessWaits, rejectUnknownEndlessWaits } from "../../testing/endless_wait.ts";
import { startDevServer } from "../../dev/server.ts";
import { type ClientOptionsForTestEnv, hasTime, TimeSkippingClient } from "./client.ts";
import { createNexusEndpoint, deleteNexusEndpoint, type NexusEndpointIdentifier } from "./nexus_endpoints.ts";
import { ObservedCalls } from "./observed_calls.ts";
import { type DevServerConfig, refuseServerOptions, type TimeSkippingServerConfig } from "./server_options.ts";
import { SkippingClock } from "./skipping_clock.ts";
import { TimeControl } from "./time_control.ts";

/** How long a worker has for a query that asks where a workflow waits. */
const STACK_TRACE_MS = 5000;

type Plugins = (ClientPlugin | ConnectionPlugin | NativeConnectionPlugin)[];

/** Options of `TestWorkflowEnvironment.createLocal`. */
export interface LocalTestWorkflowEnvironmentOptions {
  /** Of the server. */
  server?: Omit<DevServerConfig, "type">;
  /** Of `client`. */
  client?: ClientOptionsForTestEnv;
  /** Of connections and client. */
  plugins?: Plugins;
}

/** Options of `TestWorkflowEnvironment.createTimeSkipping`. */
export interface TimeSkippingTestWorkflowEnvironmentOptions {
  /** Of the server. */
  server?: Omit<TimeSkippingServerConfig, "type">;
  /** Of `client`. */
  client?: ClientOptionsForTestEnv;
  /** Of connections and client. */
  plugins?: Plugins;
  /**
   * What happens after two real seconds in which nothing in the environment can end a wait of `client` for a result or an update. "warn": one
   * warning with what is awaited. "error": the call rejects with an EndlessWaitError that has the same facts. Not an option of the official
   * SDK. Default: "warn".
   */
  endlessWaits?: EndlessWaits;
}

/** How to connect to a server that is there. */
export type ExistingServerConnectionOptions = Pick<NativeConnectionOptions, "apiKey" | "metadata" | "tls">;

/** Options of `TestWorkflowEnvironment.createFromExistingServer`. */
export interface ExistingServerTestWorkflowEnvironmentOptions {
  /** Default: localhost:7233. */
  address?: string;
  /** Default: "default". */
  namespace?: string;
  /** Of both connections. */
  connectionOptions?: ExistingServerConnectionOptions;
  /** Of `client`. */
  client?: ClientOptionsForTestEnv;
  /** Of connections and client. */
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
  readonly embedded: boolean;
  close(): Promise<void>;
}

/** Where a server is, and what ends it. */
interface Target {
  readonly address: string;
  readonly namespace: string;
  readonly connectionOptions?: ExistingServerConnectionOptions | undefined;
  readonly client?: ClientOptionsForTestEnv | undefined;
  readonly plugins?: Plugins | undefined;
  readonly time?: TimeControl;
  /** The server is not this process's. */
  readonly existing?: boolean;
  close(): Promise<void>;
}

/** A server for tests: `const env = await TestWorkflowEnvironment.createTimeSkipping()`, at the end `await env.teardown()`. */
export class TestWorkflowEnvironment {
  /** `host:port` of the server. */
  readonly address: string;
  /** The namespace of `client`. */
  readonly namespace: string;
  /** What the connections were made with, besides the address. */
  readonly connectionOptions: ExistingServerConnectionOptions;
  /** A connection for clients. */
  readonly connection: Connection;
  /** A connection for workers. */
  readonly nativeConnection: NativeConnection;
  /** A client; one that skips time where the environment does. */
  readonly client: Client;
  /** Time is skipped while `client` waits for a result or an update, and by `sleep`. */
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

  /** A server that goes by the wall clock. */
  static async createLocal(options: LocalTestWorkflowEnvironmentOptions = {}): Promise<TestWorkflowEnvironment> {
    const { server = {}, ...rest } = options;
    refuseServerOptions(server);
    const { namespace = "default", port = 0, dbFilename, log } = server;
    const served = await startDevServer({
      port,
      namespaces: [namespace],
      storeOf: () => dbFilename,
      logger: serverLogger(log?.level),
    });
    return await this.#made({ ...rest, namespace, address: `127.0.0.1:${served.port}`, close: () => served.close() });
  }

  /**
   * A server whose time is skipped while `client` waits for a result or an update and no worker has a task, and by `sleep`. Otherwise it
   * goes by the wall clock. Tests that wait at the same time share its time: give each an environment.
   * @param waitTimers Real time for `endlessWaits`; tests of this package move it.
   */
  static async createTimeSkipping(
    options: TimeSkippingTestWorkflowEnvironmentOptions = {},
    waitTimers: Timers = realTimers,
  ): Promise<TestWorkflowEnvironment> {
    const { server = {}, endlessWaits, ...rest } = options;
    refuseServerOptions(server);
    rejectUnknownEndlessWaits(endlessWaits);
    const clock = new SkippingClock();
    const logger = serverLogger();
    let calls!: ObservedCalls;
    const served = await startDevServer({
      port: server.port ?? 0,
      namespaces: ["default"],
      storeOf: () => undefined,
      logger,
      clock,
      around: (service) => calls = new ObservedCalls(service),
    });
    const time = new TimeControl(clock, served.namespaces.engines[0]!, calls, { endlessWaits, logger, timers: waitTimers });
    const close = async () => {
      time.close();
      await served.close();
    };
    return await this.#made({ ...rest, namespace: "default", address: `127.0.0.1:${served.port}`, time, close });
  }

  /** A server that is there already. `teardown` closes the connections and leaves it running. */
  static async createFromExistingServer(
    options: ExistingServerTestWorkflowEnvironmentOptions = {},
  ): Promise<TestWorkflowEnvironment> {
    const { address = "localhost:7233", namespace = "default", ...rest } = options;
    return await this.#made({ ...rest, address, namespace, existing: true, close: () => Promise.resolve() });
  }

  static async #made({ address, namespace, connectionOptions = {}, client, plugins = [], time, existing, close }: Target) {
    const opened: { close(): Promise<unknown> }[] = [];
    try {
      const to = { address, ...connectionOptions, plugins: plugins as never[] };
      const connection = await Connection.connect(to as never);
      opened.push(connection);
      const nativeConnection = await NativeConnection.connect(to as never);
      opened.push(nativeConnection);
      if (time !== undefined) hasTime(connection, time);
      // The client gets the plugins of its connection.
      const options = { ...client, connection, namespace };
      if (time !== undefined) {
        const { dataConverter } = options;
        const asking = new Client({ connection, namespace, ...(dataConverter !== undefined && { dataConverter }) });
        time.stackTrace = (workflowId, runId) => {
          const query = () => asking.workflow.getHandle(workflowId, runId).query<string>("__stack_trace");
          return asking.withDeadline(Date.now() + STACK_TRACE_MS, query);
        };
      }
      return new this({
        ...{ address, namespace, connectionOptions, connection, nativeConnection, time, embedded: existing !== true, close },
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

  /** Waits so long in the server's time: a skipping server jumps there. */
  readonly sleep = async (duration: Duration): Promise<void> => {
    const ms = msToNumber(duration);
    if (this.#parts.time === undefined) await new Promise((resolve) => setTimeout(resolve, ms));
    else await this.#parts.time.sleep(ms);
  };

  /** The server's time, in milliseconds since 1970. */
  currentTimeMs(): Promise<number> {
    return Promise.resolve(this.#parts.time?.now() ?? Date.now());
  }

  /** Deprecated: `client.activity`. */
  get asyncCompletionClient(): AsyncCompletionClient {
    return this.client.activity;
  }

  /** Deprecated: `client.workflow`. */
  get workflowClient(): WorkflowClient {
    return this.client.workflow;
  }

  /**
   * Makes a Nexus endpoint whose operations the workers of a task queue handle. On a server that is there: the embedded engine has no
   * endpoints, and the call rejects with a TypeError.
   */
  createNexusEndpoint(name: string, taskQueue: string): Promise<NexusEndpointIdentifier> {
    if (this.#parts.embedded) return this.#noEndpoints(`the Nexus endpoint "${name}" cannot be made`);
    return createNexusEndpoint(this.connection, { name, namespace: this.namespace, taskQueue });
  }

  /** Removes a Nexus endpoint; the embedded engine has none. */
  deleteNexusEndpoint(endpoint: Pick<NexusEndpointIdentifier, "id" | "version">): Promise<void> {
    if (this.#parts.embedded) return this.#noEndpoints(`the Nexus endpoint "${endpoint.id}" cannot be removed`);
    return deleteNexusEndpoint(this.connection, endpoint);
  }

  #noEndpoints(what: string): Promise<never> {
    return Promise.reject(new TypeError(`${what}: the embedded engine has none; test Nexus on a cluster`));
  }
}

/** What the server logs goes where the workers' lines go. */
function serverLogger(level = "warn") {
  return nativeLogger(Runtime.instance().logger, { sdkComponent: "server" }, level.toUpperCase() as "WARN");
}
