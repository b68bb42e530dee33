// NativeConnection: the connection of workers, over this package's own. There is nothing native in it; the name is the official one.
import { IllegalStateError } from "../common/mod.ts";
import { CALL_CONTEXTS, type CallContexts } from "../client/call_context.ts";
import { Connection as ClientConnection, type ConnectionLike, EAGER, RAW_SERVICE } from "../client/connection.ts";
import { Connection } from "../../grpc/connection.ts";
import { type CallOptions, type MethodName, type RawService, ServiceError } from "../../service/raw.ts";
import {
  connectOptions,
  type Metadata,
  type NativeConnectionOptions,
  type NativeConnectionPlugin,
} from "./connection_options.ts";
import { EagerStarts } from "./eager_starts.ts";
import { TransportError } from "./errors.ts";
import { Runtime } from "./runtime.ts";

/** A connection to a cluster: `await NativeConnection.connect({ address })`. Many workers share one, and clients. */
export class NativeConnection implements ConnectionLike {
  /** Its plugins, which workers with this connection get, too. */
  readonly plugins: NativeConnectionPlugin[];
  /** Its options. */
  readonly options: NativeConnectionOptions;
  /** The newest is in use; older ones have other metadata, and calls that are still open. */
  readonly #connections: Connection[];
  readonly #workers = new Set<object>();
  #apiKey: string;
  #closed = false;
  /** The process's runtime stays while it is open, as far as there is one already. */
  readonly #releaseRuntime: (() => Promise<void>) | undefined;

  protected constructor(connection: Connection, options: NativeConnectionOptions, plugins: NativeConnectionPlugin[]) {
    if (!(connection instanceof Connection)) {
      throw new TypeError('NativeConnection has no public constructor: use "await NativeConnection.connect(options)"');
    }
    this.#releaseRuntime = Runtime._instance?.hold(this);
    this.#connections = [connection];
    this.options = options;
    this.plugins = plugins;
    this.#apiKey = options.apiKey ?? "";
  }

  /** Connects. Rejects with a TransportError when the server cannot be used, and a TypeError for an option that cannot be honoured. */
  static async connect(options: NativeConnectionOptions = {}): Promise<NativeConnection> {
    const { plugins = [] } = options;
    for (const plugin of plugins) options = plugin.configureNativeConnection?.(options) ?? options;
    let made: NativeConnection | undefined;
    const native = connectOptions(options, () => made === undefined ? options.apiKey ?? "" : made.#apiKey);
    try {
      made = new this(await Connection.connect(native), options, plugins);
      return made;
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause;
      throw Object.assign(new TransportError(cause.message), { cause });
    }
  }

  /** Deprecated: `connect`. */
  static create(options: NativeConnectionOptions = {}): Promise<NativeConnection> {
    return this.connect(options);
  }

  /** Resolves at once: it was connected when it was made, and is made again by itself when it is lost. */
  ensureConnected(): Promise<void> {
    return Promise.resolve();
  }

  /** Temporal's service. */
  get workflowService(): ConnectionLike["workflowService"] {
    return this.#forClients.workflowService;
  }

  /** Whether the server answers. */
  get healthService(): ClientConnection["healthService"] {
    return this.#forClients.healthService;
  }

  /** Temporal's OperatorService. Its methods reject with UNIMPLEMENTED where an engine is embedded. */
  get operatorService(): ClientConnection["operatorService"] {
    return this.#forClients.operatorService;
  }

  /** Absent: this package does not call TestService. */
  get testService(): undefined {
    return undefined;
  }

  /** The context of the running function. */
  get callContextStorage(): ClientConnection["callContextStorage"] {
    return this.#forClients.callContextStorage;
  }

  /** Calls within the function end at that time: milliseconds since 1970, or a moment. */
  withDeadline<R>(deadline: number | Date, fn: () => Promise<R>): Promise<R> {
    return this.#forClients.withDeadline(deadline, fn);
  }

  /** Calls within the function carry this. */
  withMetadata<R>(metadata: Metadata, fn: () => Promise<R>): Promise<R> {
    return this.#forClients.withMetadata(metadata, fn);
  }

  /** Calls within the function are given up with the signal. */
  withAbortSignal<R>(abortSignal: AbortSignal, fn: () => Promise<R>): Promise<R> {
    return this.#forClients.withAbortSignal(abortSignal, fn);
  }

  /** What later calls are sent with. */
  setMetadata(metadata: Metadata): Promise<void> {
    const options = connectOptions({ ...this.options, metadata }, () => this.#apiKey);
    this.#connections.push(Connection.lazy(options));
    return Promise.resolve();
  }

  /** The key that later calls are sent with. Throws where the connection was made without one: it may have no TLS. */
  setApiKey(apiKey: string): Promise<void> {
    if (this.options.apiKey === undefined) {
      throw new IllegalStateError("this connection was made without an apiKey; give one to NativeConnection.connect");
    }
    this.#apiKey = apiKey;
    return Promise.resolve();
  }

  /** Ends the connection. Throws an IllegalStateError while workers have it. */
  async close(): Promise<void> {
    if (this.#workers.size > 0) {
      throw new IllegalStateError("Cannot close connection while Workers hold a reference to it");
    }
    if (this.#closed) throw new IllegalStateError("Client already closed");
    this.#closed = true;
    await Promise.all(this.#connections.map((connection) => connection.close()));
    await this.#releaseRuntime?.();
  }

  /** @internal The service, for workers. */
  readonly service: RawService = {
    losesCancelledPolls: true,
    call: (method: MethodName, request: Uint8Array, options?: CallOptions) =>
      this.#connections.at(-1)!.call(method, request, options),
    callOther: (path: string, request: Uint8Array, options?: CallOptions) =>
      this.#connections.at(-1)!.callOther(path, request, options),
  };

  /** @internal Workers that may take the first task of a start. */
  readonly eagerStarts: EagerStarts = new EagerStarts();
  /** @internal Clients may ask for eager starts. */
  readonly [EAGER] = true;

  readonly #forClients = ClientConnection.over(this.eagerStarts.around(this.service));

  /** @internal The service, for clients: with what `withMetadata` and the like say. */
  get [RAW_SERVICE](): RawService {
    return this.#forClients[RAW_SERVICE];
  }

  /** @internal The call contexts of this connection. */
  get [CALL_CONTEXTS](): CallContexts {
    return this.#forClients[CALL_CONTEXTS];
  }

  /** @internal A worker uses it, until what this returns is called. */
  hold(worker: object): () => void {
    this.#workers.add(worker);
    return () => void this.#workers.delete(worker);
  }
}
