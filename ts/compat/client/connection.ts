// The `Connection` of `@temporalio/client`, over the product's gRPC connections.
import { Connection as GrpcConnection, type ConnectionOptions as GrpcOptions } from "../../grpc/connection.ts";
import { type CallOptions, Code, type MethodName, type RawService, ServiceError as RawServiceError } from "../../service/raw.ts";
import type { Duration } from "../common/time.ts";
import { msOptionalToNumber } from "../common/time.ts";
import { CALL_CONTEXTS, type CallContext, CallContexts, hasAuthorization, mergeMetadata, type Metadata } from "./call_context.ts";
import { ServiceError } from "./errors.ts";
import { type GrpcRetryInterceptor, retrying } from "./grpc_retry.ts";
import { grpcError } from "./grpc_errors.ts";
import { type OperatorService, operatorService, plainService, rawOver, type WorkflowService } from "./plain_service.ts";

/** Where a connection leads whose options name no address. */
export const LOCAL_TARGET = "localhost:7233";

/** TLS of a connection. */
export interface TLSConfig {
  /** Name that the server's certificate must have, in place of the address's host. */
  serverNameOverride?: string;
  /** Certificates of authorities, in PEM. Default: the system's. */
  serverRootCACertificate?: Uint8Array;
  /** The client's certificate and its key, in PEM. */
  clientCertPair?: { crt: Uint8Array; key: Uint8Array };
}

/** Options of a connection. */
export interface ConnectionOptions {
  /** `host:port`, or a host. Default: "localhost:7233". */
  address?: string;
  /** TLS. Default: none; with an API key, TLS. */
  tls?: TLSConfig | boolean | null;
  /** Refused: give `tls`. */
  credentials?: unknown;
  /** Refused: give `metadata`, or `apiKey`. */
  callCredentials?: unknown[];
  /** Refused: the product's connections are not grpc-js's. */
  channelArgs?: object;
  /** Refused, but for what `makeGrpcRetryInterceptor` gives. */
  interceptors?: unknown[];
  /** Sent with every call. */
  metadata?: Metadata;
  /** Sent as a bearer token. */
  apiKey?: string | (() => string);
  /** How long `connect` tries. Default: 10 seconds. */
  connectTimeout?: Duration;
  /** Change the options. */
  plugins?: ConnectionPlugin[];
}

/** Options as a connection holds them. */
export type ConnectionOptionsWithDefaults =
  & Required<Pick<ConnectionOptions, "address" | "metadata" | "plugins">>
  & { connectTimeoutMs: number };

/** Changes the options of connections. */
export interface ConnectionPlugin {
  /** Its name. */
  get name(): string;
  /** The options to connect with. */
  configureConnection?(options: ConnectionOptions): ConnectionOptions;
}

/** The product's service of a connection. */
export const RAW_SERVICE: unique symbol = Symbol.for("temporalex.compat.rawService");
/** Whether a connection repeats calls by itself. */
export const RETRIES: unique symbol = Symbol.for("temporalex.compat.retries");
/** Workers of a connection may take the first task of a start. */
export const EAGER: unique symbol = Symbol.for("temporalex.compat.eagerStarts");
/** What the official SDK keeps on its connections; nothing here. */
export const InternalConnectionLikeSymbol: unique symbol = Symbol("__temporal_internal_connection_like");

/** What clients need of a connection. */
export interface ConnectionLike {
  /** Temporal's service. */
  workflowService: WorkflowService;
  /** Changes the options of connections. */
  plugins?: ConnectionPlugin[];
  /** The product's service, where there is one. */
  readonly [RAW_SERVICE]?: RawService;
  /** It repeats calls by itself. */
  readonly [RETRIES]?: boolean;
  /** Workers that share it may take the first task of a start. */
  readonly [EAGER]?: boolean;
  /** The call contexts of the connection; absent in connections of other classes. */
  readonly [CALL_CONTEXTS]?: CallContexts;
  /** Ends it. */
  close(): Promise<void>;
  /** Resolves when it is connected. */
  ensureConnected(): Promise<void>;
  /** Calls within the function end at that time. */
  withDeadline<R>(deadline: number | Date, fn: () => Promise<R>): Promise<R>;
  /** Calls within the function carry this. */
  withMetadata<R>(metadata: Metadata, fn: () => Promise<R>): Promise<R>;
  /** Calls within the function are given up with the signal. */
  withAbortSignal<R>(abortSignal: AbortSignal, fn: () => Promise<R>): Promise<R>;
}

/** What a client takes for a connection: also one of workers, and a service of this product (an engine, a connection of its own). */
export type AnyConnection = ConnectionLike | { readonly service: RawService } | RawService;

/** The connection in the form that clients need. */
export function connectionOf(given: AnyConnection): ConnectionLike {
  if ("workflowService" in given) return given;
  return Connection.over("service" in given ? given.service : given);
}

/** The product's service of a connection of any kind. */
export function rawServiceOf(connection: ConnectionLike): RawService {
  return connection[RAW_SERVICE] ?? rawOver(connection);
}

const REFUSED: { readonly [option: string]: string } = {
  credentials: "give `tls` (true, or certificates)",
  callCredentials: "give `metadata`, or `apiKey`",
  channelArgs: "connections here are not grpc-js's; leave it out",
  interceptors: "calls are retried without them; give `metadata` or `apiKey` for headers, or intercept the client's operations",
};

function refuse(options: ConnectionOptions): void {
  for (const [name, advice] of Object.entries(REFUSED)) {
    const value = options[name as keyof ConnectionOptions];
    const empty = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    const retries = name === "interceptors" && Array.isArray(value) &&
      value.every((one) => typeof one === "object" && one !== null && "retryOptions" in one);
    if (!empty && !retries) throw new TypeError(`the option "${name}" of a Connection is not supported here: ${advice}`);
  }
}

function grpcOptions(options: ConnectionOptions): GrpcOptions {
  const { tls, apiKey } = options;
  const config = tls === undefined || tls === null ? apiKey !== undefined : tls;
  const text = (pem: Uint8Array) => new TextDecoder().decode(pem);
  return {
    address: addressOf(options.address ?? LOCAL_TARGET),
    tls: typeof config === "boolean" ? config : {
      ...(config.serverNameOverride !== undefined && { serverName: config.serverNameOverride }),
      ...(config.serverRootCACertificate && { serverRootCaCertificate: text(config.serverRootCACertificate) }),
      ...(config.clientCertPair && {
        clientCertificate: text(config.clientCertPair.crt),
        clientKey: text(config.clientCertPair.key),
      }),
    },
    ...(options.metadata !== undefined && { metadata: options.metadata }),
  };
}

/** With the port that an address leaves out, and without a scheme. */
function addressOf(address: string): string {
  const bare = address.replace(/^(?:https?|grpc):\/\//, "");
  return /:\d+$/.test(bare) || bare.startsWith("unix:") ? bare : `${bare}:7233`;
}

/** Returns a service whose calls carry the metadata, deadline and abort signal of the current context, and the API key. */
function withContext(inner: RawService, contexts: CallContexts, apiKey: () => string | undefined): RawService {
  const within = (method: string, options: CallOptions, call: (options: CallOptions) => Promise<Uint8Array>) => {
    const { metadata = {} } = contexts.current();
    const { timeout, signal } = contexts.settings();
    // A server would have a moment to answer.
    if (timeout === 0) return Promise.reject(new RawServiceError(Code.DEADLINE_EXCEEDED, `${method}: the deadline has passed`));
    const key = apiKey();
    const sent = mergeMetadata(key === undefined ? {} : { authorization: `Bearer ${key}` }, metadata);
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

/** A connection to a Temporal server, or to an engine of this product. */
export class Connection implements ConnectionLike {
  /** The official class has the one of grpc-js here. */
  readonly options: ConnectionOptionsWithDefaults;
  /** Temporal's service. */
  readonly workflowService: WorkflowService;
  /** Plugins that it was made with. */
  readonly plugins: ConnectionPlugin[];
  /** The product's service. */
  readonly [RAW_SERVICE]: RawService;
  /** The call contexts of this connection. */
  readonly [CALL_CONTEXTS]: CallContexts = new CallContexts();
  /** It repeats calls on terms of the program's: clients do not. */
  readonly [RETRIES]: boolean;
  readonly #closing: () => Promise<void>;
  #apiKey: string | (() => string) | undefined;
  #connected: Promise<void> | undefined;
  #operatorService: OperatorService | undefined;

  /** Made by {@link Connection.connect}, {@link Connection.lazy} and {@link Connection.over}. */
  protected constructor(options: ConnectionOptions, service: RawService, close: () => Promise<void>) {
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
    const apiKeyNow = () => ownHeader ? undefined : typeof this.#apiKey === "function" ? this.#apiKey() : this.#apiKey;
    this[RAW_SERVICE] = withContext(service, this[CALL_CONTEXTS], apiKeyNow);
    this.workflowService = plainService(this[RAW_SERVICE]);
  }

  /** A connection that is made with the first call. Throws a TypeError for an option that is not supported here. */
  static lazy(options: ConnectionOptions = {}): Connection {
    let given = options;
    for (const plugin of options.plugins ?? []) given = plugin.configureConnection?.(given) ?? given;
    refuse(given);
    // As the official SDK: it rejects this spelling alone. With any other spelling the header is sent, and not the key.
    if (given.apiKey && given.metadata?.["Authorization"]) {
      throw new TypeError(
        "Both `apiKey` option and `Authorization` header were provided, but only one makes sense to use at a time.",
      );
    }
    const connection = GrpcConnection.lazy(grpcOptions(given));
    // As around grpc-js's calls: the first interceptor is the outermost.
    const service = (given.interceptors ?? []).reduceRight(
      (inner: RawService, each) => retrying(inner, (each as GrpcRetryInterceptor).retryOptions),
      connection,
    );
    return new Connection(given, service, () => connection.close());
  }

  /** Connects, and resolves when the server has answered. Rejects with a {@link ServiceError}. */
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

  /** A connection to a service of this product: an engine, a connection of "temporalex/temporal". Closing it does not end the service. */
  static over(service: RawService): Connection {
    return new Connection({}, service, () => Promise.resolve());
  }

  /** Resolves when the server has answered; tries until the connect timeout. */
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
        await this[RAW_SERVICE].call("getSystemInfo", new Uint8Array(0), { timeoutMs: Math.max(1, deadline - Date.now()) });
        return;
      } catch (error) {
        if (!(error instanceof RawServiceError)) throw error;
        if (error.code === Code.UNIMPLEMENTED) return;
        if (error.code !== Code.UNAVAILABLE || error.metadata["setup"] === "yes" || Date.now() + pause >= deadline) {
          throw new ServiceError("Failed to connect to Temporal server", { cause: grpcError(error) });
        }
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  /** Calls within the function end at that time: milliseconds since the Unix epoch, or a moment. */
  withDeadline<R>(deadline: number | Date, fn: () => Promise<R>): Promise<R> {
    return this[CALL_CONTEXTS].run({ deadline }, fn);
  }
  /** Calls within the function are given up with the signal. */
  withAbortSignal<R>(abortSignal: AbortSignal, fn: () => Promise<R>): Promise<R> {
    return this[CALL_CONTEXTS].run({ abortSignal }, fn);
  }
  /** Calls within the function carry this. */
  withMetadata<R>(metadata: Metadata, fn: () => Promise<R>): Promise<R> {
    return this[CALL_CONTEXTS].run({ metadata }, fn);
  }
  /** Calls within the function carry this key. */
  withApiKey<R>(apiKey: string, fn: () => Promise<R>): Promise<R> {
    return this[CALL_CONTEXTS].run({ metadata: { authorization: `Bearer ${apiKey}` } }, fn);
  }
  /** The key of later calls. */
  setApiKey(apiKey: string | (() => string)): void {
    if (this.#apiKey === undefined) {
      throw new TypeError(
        "Cannot set `apiKey` on a Connection that was not created with `apiKey`: it would not have TLS; give an `apiKey` when it is made",
      );
    }
    this.#apiKey = apiKey;
  }
  /** The context of the running function. */
  get callContextStorage(): { getStore(): CallContext } {
    return { getStore: () => this[CALL_CONTEXTS].current() };
  }

  /** Temporal's OperatorService. Its methods reject with UNIMPLEMENTED where an engine is embedded. */
  get operatorService(): OperatorService {
    return this.#operatorService ??= operatorService(this[RAW_SERVICE]);
  }
  /** Refused: the product does not call TestService. */
  get testService(): undefined {
    return undefined;
  }
  /** Whether the server answers. */
  get healthService(): { check(request?: object): Promise<{ status: number }> } {
    return {
      check: async () => {
        await this.workflowService.getSystemInfo({});
        return { status: 1 };
      },
    };
  }

  /** Ends it. Open calls are refused, and so are later ones. */
  close(): Promise<void> {
    return this.#closing();
  }
}
