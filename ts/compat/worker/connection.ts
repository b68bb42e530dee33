// NativeConnection: the connection of workers, over this package's connection. Only the name is
// native.
import { IllegalStateError } from "../common/mod.ts";
import { CALL_CONTEXTS, type CallContexts } from "../client/call_context.ts";
import {
  Connection as ClientConnection,
  type ConnectionLike,
  EAGER,
  RAW_SERVICE,
} from "../client/connection.ts";
import { Connection } from "../../grpc/connection.ts";
import {
  type CallOptions,
  type MethodName,
  type RawService,
  ServiceError,
} from "../../service/raw.ts";
import {
  connectOptions,
  type Metadata,
  type NativeConnectionOptions,
  type NativeConnectionPlugin,
} from "./connection_options.ts";
import { EagerStarts } from "../../worker/eager_starts.ts";
import { TransportError } from "./errors.ts";
import { Runtime } from "./runtime.ts";

/**
 * A connection to a cluster: `await NativeConnection.connect({ address })`. Shared by workers and
 * clients.
 */
export class NativeConnection implements ConnectionLike {
  /** Plugins of the connection, which its workers use as well. */
  readonly plugins: NativeConnectionPlugin[];
  readonly options: NativeConnectionOptions;
  /** The last one is in use; earlier ones have other metadata and pending calls. */
  readonly #connections: Connection[];
  readonly #workers = new Set<object>();
  #apiKey: string;
  #closed = false;
  /** Releases the process's runtime, if it exists, on close. */
  readonly #releaseRuntime: (() => Promise<void>) | undefined;

  protected constructor(
    connection: Connection,
    options: NativeConnectionOptions,
    plugins: NativeConnectionPlugin[],
  ) {
    if (!(connection instanceof Connection)) {
      throw new TypeError(
        'NativeConnection has no public constructor: use "await NativeConnection.connect(options)"',
      );
    }
    this.#releaseRuntime = Runtime._instance?.hold(this);
    this.#connections = [connection];
    this.options = options;
    this.plugins = plugins;
    this.#apiKey = options.apiKey ?? "";
  }

  /**
   * Connects. Rejects with a TransportError if the server cannot be used, and a TypeError for an
   * unsupported option.
   */
  static async connect(options: NativeConnectionOptions = {}): Promise<NativeConnection> {
    const { plugins = [] } = options;
    for (const plugin of plugins) options = plugin.configureNativeConnection?.(options) ?? options;
    let made: NativeConnection | undefined;
    const native = connectOptions(
      options,
      () => made === undefined ? options.apiKey ?? "" : made.#apiKey,
    );
    try {
      made = new this(await Connection.connect(native), options, plugins);
      return made;
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause;
      throw Object.assign(new TransportError(cause.message), { cause });
    }
  }

  /** Deprecated: use `connect`. */
  static create(options: NativeConnectionOptions = {}): Promise<NativeConnection> {
    return this.connect(options);
  }

  /** Resolves at once: it is connected at creation, and reconnects after a loss. */
  ensureConnected(): Promise<void> {
    return Promise.resolve();
  }

  /** Temporal's WorkflowService. */
  get workflowService(): ConnectionLike["workflowService"] {
    return this.#forClients.workflowService;
  }

  /** Health check of the server. */
  get healthService(): ClientConnection["healthService"] {
    return this.#forClients.healthService;
  }

  /** Temporal's OperatorService. Its methods reject with UNIMPLEMENTED for an embedded engine. */
  get operatorService(): ClientConnection["operatorService"] {
    return this.#forClients.operatorService;
  }

  /** Undefined: TestService is not supported. */
  get testService(): undefined {
    return undefined;
  }

  /** Call context of the running function. */
  get callContextStorage(): ClientConnection["callContextStorage"] {
    return this.#forClients.callContextStorage;
  }

  /** Sets the deadline of calls in `fn`: milliseconds since 1970, or a Date. */
  withDeadline<R>(deadline: number | Date, fn: () => Promise<R>): Promise<R> {
    return this.#forClients.withDeadline(deadline, fn);
  }

  /** Sets the metadata of calls in `fn`. */
  withMetadata<R>(metadata: Metadata, fn: () => Promise<R>): Promise<R> {
    return this.#forClients.withMetadata(metadata, fn);
  }

  /** Cancels calls in `fn` with the signal. */
  withAbortSignal<R>(abortSignal: AbortSignal, fn: () => Promise<R>): Promise<R> {
    return this.#forClients.withAbortSignal(abortSignal, fn);
  }

  /** Sets the metadata of later calls. */
  setMetadata(metadata: Metadata): Promise<void> {
    const options = connectOptions({ ...this.options, metadata }, () => this.#apiKey);
    this.#connections.push(Connection.lazy(options));
    return Promise.resolve();
  }

  /**
   * Sets the API key of later calls. Throws if the connection was made without one, because it may
   * have no TLS.
   */
  setApiKey(apiKey: string): Promise<void> {
    if (this.options.apiKey === undefined) {
      throw new IllegalStateError(
        "this connection was made without an apiKey; give one to NativeConnection.connect",
      );
    }
    this.#apiKey = apiKey;
    return Promise.resolve();
  }

  /** Closes the connection. Throws an IllegalStateError while workers use it. */
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

  /** @internal Workers that can receive the first task of a start. */
  readonly eagerStarts: EagerStarts = new EagerStarts();
  /** @internal Clients may request eager starts. */
  readonly [EAGER] = true;

  readonly #forClients = ClientConnection.over(this.eagerStarts.around(this.service));

  /** @internal The service for clients, with the call context. */
  get [RAW_SERVICE](): RawService {
    return this.#forClients[RAW_SERVICE];
  }

  /** @internal The call contexts of this connection. */
  get [CALL_CONTEXTS](): CallContexts {
    return this.#forClients[CALL_CONTEXTS];
  }

  /** @internal Registers a worker; returns the function that unregisters it. */
  hold(worker: object): () => void {
    this.#workers.add(worker);
    return () => void this.#workers.delete(worker);
  }
}
