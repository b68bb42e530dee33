// A connection to a Temporal cluster for applications: checked before use, with errors that name
// the option, and with the server's capabilities. grpc_service.ts makes the calls.
import { type Duration, toMs } from "../converter/duration.ts";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";
import { backoffMs, type BackoffOptions } from "../service/retry.ts";
import { realTimers, sleepOn } from "../base/timers.ts";
import { type GrpcOptions, GrpcService } from "./grpc_service.ts";
import { NOT_CONNECTED } from "./links.ts";
import { namespaceRequest, readServerInfo, type ServerInfo } from "../api/server_info.ts";

/** Options of `Connection.lazy`: address and credentials. */
export interface ConnectionOptions extends Omit<GrpcOptions, "address"> {
  /** `host:port`. Default: "localhost:7233". */
  address?: string;
}

/** Options of `Connection.connect`. */
export interface ConnectOptions extends ConnectionOptions {
  /** A namespace that must exist and be accessible. Clients and workers have a separate option. */
  namespace?: string;
  /** Time that attempts are repeated until the server responds. Default: 10 s. */
  connectTimeout?: Duration;
  /** Cancels the attempt. */
  signal?: AbortSignal;
  /** Called before each retry with the reason why the server cannot be used yet, for logs. */
  onRetry?: (reason: ServiceError) => void;
}

/** A misspelled option would otherwise silently change the connection. */
const LAZY_OPTIONS = [
  "address",
  "tls",
  "apiKey",
  "metadata",
  "proxy",
  "keepAlive",
  "attemptTimeout",
];
const CONNECT_OPTIONS = [...LAZY_OPTIONS, "namespace", "connectTimeout", "signal", "onRetry"];

function refuseUnknown(options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw new TypeError(
        `"${name}" is not an option of a connection; known options: ${known.join(", ")}`,
      );
    }
  }
}

const DEFAULT_ADDRESS = "localhost:7233";
/** Attempts for a server that closes connections during setup. */
const CLOSED_ATTEMPTS = 3;
const BACKOFF: BackoffOptions = {
  initialIntervalMs: 100,
  maximumIntervalMs: 2000,
  backoffCoefficient: 2,
  jitter: 0.3,
};

/**
 * A gRPC connection to a Temporal cluster, in Node and Deno: the `service` of clients and workers.
 * One connection serves many of them and reconnects after a loss.
 *
 * @example
 * const connection = await Connection.connect({ address: "temporal.example.com:7233", namespace: "shop", apiKey: "..." });
 * const client = new Client({ service: connection, namespace: "shop" });
 * const worker = await Worker.create({ service: connection, namespace: "shop", taskQueue: "main", workflows, activities });
 */
export class Connection implements RawService {
  /** True: a canceled poll can lose a task on the network. */
  readonly losesCancelledPolls = true;
  /** Address of the cluster: `host:port`. */
  readonly address: string;
  readonly #grpc: GrpcService;
  #info: Promise<ServerInfo> | undefined;

  private constructor(options: ConnectionOptions) {
    this.address = options.address ?? DEFAULT_ADDRESS;
    this.#grpc = new GrpcService({ ...options, address: this.address });
  }

  /**
   * Connects. Resolves when the server has responded, with Temporal's protocol, accepted
   * credentials, and the namespace if one is given. Retries until `connectTimeout`.
   *
   * Rejects with a ServiceError that names the address and what to change, and with a TypeError for
   * contradicting options.
   */
  static async connect(options: ConnectOptions = {}): Promise<Connection> {
    refuseUnknown(options, CONNECT_OPTIONS);
    const { namespace, connectTimeout = "10s", signal, onRetry, ...rest } = options;
    const timeoutMs = toMs(connectTimeout);
    if (namespace !== undefined && (typeof namespace !== "string" || namespace === "")) {
      throw new TypeError("a namespace must be a non-empty string");
    }
    // A worker that receives this promise starts its thread first, which takes longer than
    // connecting.
    await Promise.resolve();
    // An attempt ends early enough to report its error, and for another attempt.
    const attemptTimeout = rest.attemptTimeout ?? Math.min(5000, timeoutMs * 0.45);
    const connection = new Connection({ ...rest, attemptTimeout });
    try {
      await connection.#check(namespace, timeoutMs, signal, onRetry);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /**
   * Returns a connection that connects with the first call, unchecked. Throws a TypeError for
   * invalid options.
   */
  static lazy(options: ConnectionOptions = {}): Connection {
    refuseUnknown(options, LAZY_OPTIONS);
    return new Connection(options);
  }

  /** Calls a method of WorkflowService. Rejects with a ServiceError. */
  call(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    return this.#grpc.call(method, request, options);
  }

  /** @internal */
  callOther(path: string, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    return this.#grpc.callOther(path, request, options);
  }

  /** Returns the server's information; requested once, and again after a failure. */
  serverInfo(): Promise<ServerInfo> {
    return this.#info ??= this.#askInfo().catch((error) => {
      this.#info = undefined;
      throw error;
    });
  }

  /** Closes the connection. Open and later calls are rejected. */
  close(): Promise<void> {
    this.#grpc.close();
    return Promise.resolve();
  }

  /** Same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #askInfo(options?: CallOptions): Promise<ServerInfo> {
    let bytes: Uint8Array;
    try {
      bytes = await this.#grpc.call("getSystemInfo", new Uint8Array(0), options);
    } catch (error) {
      // Servers before 1.14 do not have this method.
      if (
        error instanceof ServiceError && error.code === Code.UNIMPLEMENTED && error.reason === ""
      ) {
        return { version: "", capabilities: {} };
      }
      throw error;
    }
    return readServerInfo(bytes);
  }

  async #check(
    namespace: string | undefined,
    timeoutMs: number,
    signal: AbortSignal | undefined,
    onRetry: ConnectOptions["onRetry"],
  ): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    let last: ServiceError | undefined;
    for (let attempt = 1;; attempt++) {
      signal?.throwIfAborted();
      const left = () => ({
        timeoutMs: Math.max(1, deadline - performance.now()),
        ...(signal !== undefined && { signal }),
      });
      try {
        const info = await this.#askInfo(left());
        this.#info = Promise.resolve(info);
        if (namespace !== undefined) {
          await this.#grpc.call("describeNamespace", namespaceRequest(namespace), left());
        }
        return;
      } catch (error) {
        signal?.throwIfAborted();
        const pause = backoffMs(attempt, BACKOFF);
        if (!isWorthAnother(error, attempt) || performance.now() + pause >= deadline) {
          throw this.#refusal(error, namespace, timeoutMs, last);
        }
        last = error;
        onRetry?.(error);
        await sleepOn(realTimers, pause, signal);
      }
    }
  }

  #refusal(
    error: unknown,
    namespace: string | undefined,
    timeoutMs: number,
    last: ServiceError | undefined,
  ): unknown {
    if (!(error instanceof ServiceError)) return error;
    // The reason of a missing connection is sufficient. An earlier error is more useful than a
    // timeout.
    if (error.reason === NOT_CONNECTED) return error;
    const overtime = error.code === Code.DEADLINE_EXCEEDED;
    if (overtime && last?.reason === NOT_CONNECTED) return last;
    const why = overtime
      ? `no response within ${timeoutMs} ms${
        last === undefined ? "" : ` (before: ${last.message})`
      }`
      : error.code === Code.NOT_FOUND && namespace !== undefined
      ? `namespace "${namespace}" not found, or this caller has no access to it`
      : error.code === Code.UNAUTHENTICATED ||
          (error.code === Code.PERMISSION_DENIED && namespace === undefined)
      ? `it rejected the credentials (\`apiKey\`, or the client certificate): ${error.message}`
      : error.code === Code.PERMISSION_DENIED
      ? `this caller has no permission for the namespace "${namespace}": ${error.message}`
      : error.message;
    const { code, reason, metadata } = error;
    return new ServiceError(
      code,
      `cannot use the Temporal cluster at ${this.address}: ${why}`,
      reason,
      metadata,
      {
        cause: error,
      },
    );
  }
}

/**
 * Returns whether to retry: for a server that is starting or restarting, but not for wrong options.
 */
function isWorthAnother(error: unknown, attempt: number): error is ServiceError {
  if (!(error instanceof ServiceError) || error.code !== Code.UNAVAILABLE) return false;
  const { setup } = error.metadata;
  return setup === "perhaps" ? attempt < CLOSED_ATTEMPTS : setup !== "yes";
}
