// `Connection` of `@temporalio/client`, over the native gRPC connections.
import {
  Connection as GrpcConnection,
  type ConnectionOptions as GrpcOptions,
} from "../../grpc/connection.ts";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError as RawServiceError,
} from "../../service/raw.ts";
import type { Duration } from "../common/time.ts";
import { msOptionalToNumber } from "../common/time.ts";
import {
  CALL_CONTEXTS,
  type CallContext,
  CallContexts,
  hasAuthorization,
  mergeMetadata,
  type Metadata,
} from "./call_context.ts";
import { ServiceError } from "./errors.ts";
import { type GrpcRetryInterceptor, retrying } from "./grpc_retry.ts";
import { grpcError } from "./grpc_errors.ts";
import {
  type OperatorService,
  operatorService,
  plainService,
  rawOver,
  type WorkflowService,
} from "./plain_service.ts";

/** Default address. */
export const LOCAL_TARGET = "localhost:7233";

/** TLS of a connection. */
export interface TLSConfig {
  /** Name expected in the server's certificate, instead of the address's host. */
  serverNameOverride?: string;
  /** Trusted authorities, in PEM. Default: the system's. */
  serverRootCACertificate?: Uint8Array;
  /** The client's certificate and its key, in PEM. */
  clientCertPair?: { crt: Uint8Array; key: Uint8Array };
}

/** Options of a connection. */
export interface ConnectionOptions {
  /** `host:port`, or a host. Default: "localhost:7233". */
  address?: string;
  /** TLS. Default: enabled with an API key. */
  tls?: TLSConfig | boolean | null;
  /** Not supported: use `tls`. */
  credentials?: unknown;
  /** Not supported: use `metadata`, or `apiKey`. */
  callCredentials?: unknown[];
  /** Not supported: connections do not use grpc-js. */
  channelArgs?: object;
  /** Only results of `makeGrpcRetryInterceptor` are supported. */
  interceptors?: unknown[];
  /** Sent with every call. */
  metadata?: Metadata;
  /** Sent as a bearer token. */
  apiKey?: string | (() => string);
  /** Time that `connect` retries. Default: 10 seconds. */
  connectTimeout?: Duration;
  /** Plugins that change the options. */
  plugins?: ConnectionPlugin[];
}

/** Options with defaults. */
export type ConnectionOptionsWithDefaults =
  & Required<Pick<ConnectionOptions, "address" | "metadata" | "plugins">>
  & { connectTimeoutMs: number };

/** Plugin for the options of connections. */
export interface ConnectionPlugin {
  /** Name of the plugin. */
  get name(): string;
  /** Returns changed options of a connection. */
  configureConnection?(options: ConnectionOptions): ConnectionOptions;
}

/** Key of a connection's native service. */
export const RAW_SERVICE: unique symbol = Symbol.for("temporalex.compat.rawService");
/** Key: the connection retries calls itself. */
export const RETRIES: unique symbol = Symbol.for("temporalex.compat.retries");
/** Key: workers of a connection may receive the first task of a start. */
export const EAGER: unique symbol = Symbol.for("temporalex.compat.eagerStarts");
/** Internal key of the official SDK; unused. */
export const InternalConnectionLikeSymbol: unique symbol = Symbol(
  "__temporal_internal_connection_like",
);

/** A connection for clients. */
export interface ConnectionLike {
  /** Temporal's WorkflowService. */
  workflowService: WorkflowService;
  /** Plugins of the connection, also applied to clients. */
  plugins?: ConnectionPlugin[];
  /** The native service, if there is one. */
  readonly [RAW_SERVICE]?: RawService;
  /** The connection retries calls itself. */
  readonly [RETRIES]?: boolean;
  /** Workers of the connection may receive the first task of a start. */
  readonly [EAGER]?: boolean;
  /** Call contexts of the connection; undefined in connections of other classes. */
  readonly [CALL_CONTEXTS]?: CallContexts;
  /** Closes the connection. */
  close(): Promise<void>;
  /** Resolves when the connection is open. */
  ensureConnected(): Promise<void>;
  /** Sets the deadline of calls in `fn`. */
  withDeadline<R>(deadline: number | Date, fn: () => Promise<R>): Promise<R>;
  /** Adds metadata to calls in `fn`. */
  withMetadata<R>(metadata: Metadata, fn: () => Promise<R>): Promise<R>;
  /** Cancels calls in `fn` with the signal. */
  withAbortSignal<R>(abortSignal: AbortSignal, fn: () => Promise<R>): Promise<R>;
}

/**
 * Connections that a client accepts: also those of workers, and native services (an engine, a
 * native connection).
 */
export type AnyConnection = ConnectionLike | { readonly service: RawService } | RawService;

/** Returns the connection in the form for clients. */
export function toConnection(given: AnyConnection): ConnectionLike {
  if ("workflowService" in given) return given;
  return Connection.over("service" in given ? given.service : given);
}

/** Returns the native service of any connection. */
export function getRawService(connection: ConnectionLike): RawService {
  return connection[RAW_SERVICE] ?? rawOver(connection);
}

const REFUSED: { readonly [option: string]: string } = {
  credentials: "give `tls` (true, or certificates)",
  callCredentials: "give `metadata`, or `apiKey`",
  channelArgs: "connections do not use grpc-js; omit it",
  interceptors:
    "calls are retried without them; give `metadata` or `apiKey` for headers, or intercept the client's operations",
};

function refuse(options: ConnectionOptions): void {
  for (const [name, advice] of Object.entries(REFUSED)) {
    const value = options[name as keyof ConnectionOptions];
    const empty = value === undefined || value === null ||
      (Array.isArray(value) && value.length === 0);
    const retries = name === "interceptors" && Array.isArray(value) &&
      value.every((one) => typeof one === "object" && one !== null && "retryOptions" in one);
    if (!empty && !retries) {
      throw new TypeError(`the option "${name}" of a Connection is not supported here: ${advice}`);
    }
  }
}

function grpcOptions(options: ConnectionOptions): GrpcOptions {
  const { tls, apiKey } = options;
  const config = tls === undefined || tls === null ? apiKey !== undefined : tls;
  const text = (pem: Uint8Array) => new TextDecoder().decode(pem);
  return {
    address: normalizeHostPort(options.address ?? LOCAL_TARGET),
    tls: typeof config === "boolean" ? config : {
      ...(config.serverNameOverride !== undefined && { serverName: config.serverNameOverride }),
      ...(config.serverRootCACertificate &&
        { serverRootCaCertificate: text(config.serverRootCACertificate) }),
      ...(config.clientCertPair && {
        clientCertificate: text(config.clientCertPair.crt),
        clientKey: text(config.clientCertPair.key),
      }),
    },
    ...(options.metadata !== undefined && { metadata: options.metadata }),
  };
}

/** Adds the default port and removes a scheme. */
function normalizeHostPort(address: string): string {
  const bare = address.replace(/^(?:https?|grpc):\/\//, "");
  return /:\d+$/.test(bare) || bare.startsWith("unix:") ? bare : `${bare}:7233`;
}

/**
 * Returns a service whose calls carry the metadata, deadline and abort signal of the current
 * context, and the API key.
 */
function withContext(
  inner: RawService,
  contexts: CallContexts,
  apiKey: () => string | undefined,
): RawService {
  const within = (
    method: string,
    options: CallOptions,
    call: (options: CallOptions) => Promise<Uint8Array>,
  ) => {
    const { metadata = {} } = contexts.current();
    const { timeout, signal } = contexts.settings();
    // A server could respond in time.
    if (timeout === 0) {
      return Promise.reject(
        new RawServiceError(Code.DEADLINE_EXCEEDED, `${method}: the deadline has passed`),
      );
    }
    const key = apiKey();
    const sent = mergeMetadata(
      key === undefined ? {} : { authorization: `Bearer ${key}` },
      metadata,
    );
    const timeoutMs = Math.min(options.timeoutMs ?? Infinity, timeout ?? Infinity);
    return call({
      ...options,
      ...(timeoutMs < Infinity && { timeoutMs: Math.max(1, timeoutMs) }),
      ...(options.signal === undefined && signal !== undefined && { signal }),
      ...(Object.keys(sent).length > 0 && { metadata: sent }),
    });
  };
  return {
    losesCancelledPolls: inner.losesCancelledPolls ?? false,
    checksPayloads: inner.checksPayloads ?? false,
    ...(inner.runningTasks && { runningTasks: () => inner.runningTasks!() }),
    closedRuns: inner.closedRuns,
    ...(inner.callOther && {
      callOther: (path: string, request: Uint8Array, options: CallOptions = {}) =>
        within(path, options, (all) => inner.callOther!(path, request, all)),
    }),
    call: (method: MethodName, request: Uint8Array, options: CallOptions = {}) =>
      within(method, options, (all) => inner.call(method, request, all)),
  };
}

const TRIES_MS = 10_000;

/** A connection to a Temporal server, or to an embedded engine. */
export class Connection implements ConnectionLike {
  /** Options; the official class has grpc-js options here. */
  readonly options: ConnectionOptionsWithDefaults;
  /** Temporal's WorkflowService. */
  readonly workflowService: WorkflowService;
  readonly plugins: ConnectionPlugin[];
  /** The native service. */
  readonly [RAW_SERVICE]: RawService;
  readonly [CALL_CONTEXTS]: CallContexts = new CallContexts();
  /** True if retry options of the program apply: clients then do not retry. */
  readonly [RETRIES]: boolean;
  readonly #closing: () => Promise<void>;
  #apiKey: string | (() => string) | undefined;
  #connected: Promise<void> | undefined;
  #operatorService: OperatorService | undefined;

  /** Created by {@link Connection.connect}, {@link Connection.lazy} and {@link Connection.over}. */
  protected constructor(
    options: ConnectionOptions,
    service: RawService,
    close: () => Promise<void>,
  ) {
    if (service === undefined) {
      throw new TypeError(
        `Connection has no public constructor: use "await Connection.connect(options)" or "Connection.lazy(options)"`,
      );
    }
    this.options = {
      address: options.address ?? LOCAL_TARGET,
      metadata: options.metadata ?? {},
      plugins: options.plugins ?? [],
      connectTimeoutMs: msOptionalToNumber(options.connectTimeout) ?? TRIES_MS,
    };
    this.plugins = this.options.plugins;
    this[RETRIES] = (options.interceptors ?? []).length > 0;
    this.#apiKey = options.apiKey;
    this.#closing = close;
    const ownHeader = hasAuthorization(this.options.metadata);
    const apiKeyNow = () =>
      ownHeader ? undefined : typeof this.#apiKey === "function" ? this.#apiKey() : this.#apiKey;
    this[RAW_SERVICE] = withContext(service, this[CALL_CONTEXTS], apiKeyNow);
    this.workflowService = plainService(this[RAW_SERVICE]);
  }

  /**
   * Returns a connection that connects with the first call. Throws a TypeError for an unsupported
   * option.
   */
  static lazy(options: ConnectionOptions = {}): Connection {
    let given = options;
    for (const plugin of options.plugins ?? []) {
      given = plugin.configureConnection?.(given) ?? given;
    }
    refuse(given);
    // Like the official SDK: rejects only this spelling. With any other, the header is sent in
    // place of the key.
    if (given.apiKey && given.metadata?.["Authorization"]) {
      throw new TypeError(
        "Both `apiKey` option and `Authorization` header were provided, but only one makes sense to use at a time.",
      );
    }
    const connection = GrpcConnection.lazy(grpcOptions(given));
    // As with calls of grpc-js: the first interceptor is the outermost.
    const service = (given.interceptors ?? []).reduceRight(
      (inner: RawService, each) => retrying(inner, (each as GrpcRetryInterceptor).retryOptions),
      connection,
    );
    return new Connection(given, service, () => connection.close());
  }

  /** Connects. Resolves when the server has responded; rejects with a {@link ServiceError}. */
  static async connect(options: ConnectionOptions = {}): Promise<Connection> {
    const connection = Connection.lazy(options);
    try {
      await connection.ensureConnected();
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /**
   * Returns a connection to a native service: an engine, a connection of "temporalex/temporal".
   * `close` does not close the service.
   */
  static over(service: RawService): Connection {
    return new Connection({}, service, () => Promise.resolve());
  }

  /** Resolves when the server has responded; retries until the connect timeout. */
  ensureConnected(): Promise<void> {
    return this.#connected ??= this.#connect().catch((error) => {
      this.#connected = undefined;
      throw error;
    });
  }

  async #connect(): Promise<void> {
    const deadline = Date.now() + this.options.connectTimeoutMs;
    for (let pause = 50;; pause = Math.min(1000, pause * 2)) {
      try {
        await this[RAW_SERVICE].call("getSystemInfo", new Uint8Array(0), {
          timeoutMs: Math.max(1, deadline - Date.now()),
        });
        return;
      } catch (error) {
        if (!(error instanceof RawServiceError)) throw error;
        if (error.code === Code.UNIMPLEMENTED) return;
        if (
          error.code !== Code.UNAVAILABLE || error.metadata["setup"] === "yes" ||
          Date.now() + pause >= deadline
        ) {
          throw new ServiceError("Failed to connect to Temporal server", {
            cause: grpcError(error),
          });
        }
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  /** Sets the deadline of calls in `fn`: milliseconds since the Unix epoch, or a Date. */
  withDeadline<R>(deadline: number | Date, fn: () => Promise<R>): Promise<R> {
    return this[CALL_CONTEXTS].run({ deadline }, fn);
  }
  /** Cancels calls in `fn` with the signal. */
  withAbortSignal<R>(abortSignal: AbortSignal, fn: () => Promise<R>): Promise<R> {
    return this[CALL_CONTEXTS].run({ abortSignal }, fn);
  }
  /** Adds metadata to calls in `fn`. */
  withMetadata<R>(metadata: Metadata, fn: () => Promise<R>): Promise<R> {
    return this[CALL_CONTEXTS].run({ metadata }, fn);
  }
  /** Sets the API key of calls in `fn`. */
  withApiKey<R>(apiKey: string, fn: () => Promise<R>): Promise<R> {
    return this[CALL_CONTEXTS].run({ metadata: { authorization: `Bearer ${apiKey}` } }, fn);
  }
  /** Sets the API key of later calls. */
  setApiKey(apiKey: string | (() => string)): void {
    if (this.#apiKey === undefined) {
      throw new TypeError(
        "Cannot set `apiKey` on a Connection that was not created with `apiKey`: it would not have TLS; give an `apiKey` when it is made",
      );
    }
    this.#apiKey = apiKey;
  }
  /** Call context of the running function. */
  get callContextStorage(): { getStore(): CallContext } {
    return { getStore: () => this[CALL_CONTEXTS].current() };
  }

  /** Temporal's OperatorService. Its methods reject with UNIMPLEMENTED for an embedded engine. */
  get operatorService(): OperatorService {
    return this.#operatorService ??= operatorService(this[RAW_SERVICE]);
  }
  /** Undefined: TestService is not supported. */
  get testService(): undefined {
    return undefined;
  }
  /** Health check of the server. */
  get healthService(): { check(request?: object): Promise<{ status: number }> } {
    return {
      check: async () => {
        await this.workflowService.getSystemInfo({});
        return { status: 1 };
      },
    };
  }

  /** Closes the connection. Open and later calls are rejected. */
  close(): Promise<void> {
    return this.#closing();
  }
}
