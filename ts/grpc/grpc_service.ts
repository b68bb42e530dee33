// A RawService over gRPC: a Temporal cluster, or any server of the same protocol. Messages are
// passed as bytes. Runs in Node and Deno on sockets (docs/dev/decisions/042-own-http2-client.md has
// the reason); browsers need a gateway.
import { type Duration, toMs } from "../converter/duration.ts";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";
import { VERSION } from "../base/version.ts";
import { clearTimeout, setTimeout } from "node:timers";
import { abortListenersOf } from "./abort_listeners.ts";
import { NotProcessed, unary } from "./call.ts";
import type { FieldList } from "./http2/hpack.ts";
import { LinkError, type LinkTarget } from "./link_target.ts";
import { Links } from "./links.ts";
import { nodeNet } from "./node_net.ts";
import { proxyOf, type ProxyOptions } from "./proxy.ts";
import { namespaceOf } from "../api/request_namespace.ts";
import { nodeTls, type TlsOptions } from "./tls.ts";

/** Pings on a silent connection. */
export interface KeepAliveOptions {
  /**
   * Silence before a ping; servers reject clients that ping often (Temporal's: below 10 s).
   * Default: 30 s.
   */
  interval?: Duration;
  /** Time for the response to a ping, before the connection is replaced. Default: 15 s. */
  timeout?: Duration;
}

/** Address and credentials of a service. */
export interface GrpcOptions {
  /** `host:port`, or `unix:` and the path of a socket. */
  address: string;
  /** Default: false, plain HTTP/2; true with an API key. True trusts the system's authorities. */
  tls?: boolean | TlsOptions;
  /** Sent as a bearer token; a function is called before each call, so it can renew the key. */
  apiKey?: string | (() => string | Promise<string>);
  /** Sent with every call: names in lower case; values of names that end in "-bin" are bytes. */
  metadata?: { readonly [name: string]: string | Uint8Array };
  /**
   * An HTTP proxy (CONNECT). Default: none; HTTPS_PROXY is ignored ({@link proxyFromEnvironment}
   * reads it).
   */
  proxy?: ProxyOptions | undefined;
  /** Pings on a silent connection. */
  keepAlive?: KeepAliveOptions;
  /** Time for one attempt to connect: TCP, the proxy, TLS and HTTP/2 together. Default: 5 s. */
  attemptTimeout?: Duration;
}

/** Default deadline of a call; polls set their own. */
const CALL_TIMEOUT_MS = 30_000;
/** The header has at most eight digits. */
const LONGEST_TIMEOUT_MS = 99_999_999;
/** Maximum size of a response: histories have pages of at most 4 MiB, plus framing. */
const READ_MAX_BYTES = 64 * 1024 * 1024;
/** Attempts of a call that the server has not processed; then its caller decides. */
const SENDS = 3;

const SERVICE_PATH = "/temporal.api.workflowservice.v1.WorkflowService/";
const paths = new Map<MethodName, string>();

/** Returns the path on the wire. */
function pathOf(method: MethodName): string {
  let path = paths.get(method);
  if (path === undefined) {
    paths.set(method, path = `${SERVICE_PATH}${method[0]!.toUpperCase()}${method.slice(1)}`);
  }
  return path;
}

/** A method's name in messages, its path, and the namespace of its request ("": none). */
interface Called {
  readonly method: string;
  readonly path: string;
  readonly namespace: string;
}

export class GrpcService implements RawService {
  readonly losesCancelledPolls = true;
  readonly #address: string;
  readonly #links: Links;
  readonly #scheme: "http" | "https";
  readonly #authority: string;
  readonly #fields: FieldList;
  readonly #apiKey: GrpcOptions["apiKey"];
  #closed = false;
  /** Calls that wait for a connection or a key: functions that end the wait. */
  readonly #waiting = new Set<(error: ServiceError) => void>();

  /**
   * Connects with the first call, and again after a loss. Throws a TypeError for invalid options.
   */
  constructor(options: GrpcOptions) {
    const { apiKey, keepAlive = {} } = options;
    if (
      apiKey !== undefined &&
      Object.keys(options.metadata ?? {}).some((name) => name.toLowerCase() === "authorization")
    ) {
      throw new TypeError(
        "`apiKey` and the metadata `authorization` are both given: each is the authorization header; drop one",
      );
    }
    const target = targetOf(options);
    this.#address = target.address;
    this.#apiKey = apiKey;
    this.#scheme = target.tls === undefined ? "http" : "https";
    // URL omits the default port of the scheme, as do servers that compare.
    this.#authority = "path" in target.at
      ? "localhost"
      : new URL(`${this.#scheme}://${target.address}`).host;
    this.#fields = Object.entries({
      te: "trailers",
      "content-type": "application/grpc",
      "user-agent": `temporalex-ts/${VERSION}`,
      "client-name": "temporalex-ts",
      "client-version": VERSION,
      ...checkedMetadata(options.metadata ?? {}),
      ...(typeof apiKey === "string" && { authorization: `Bearer ${apiKey}` }),
    });
    this.#links = new Links(target, {
      connectMs: toMs(options.attemptTimeout ?? "5s"),
      pingMs: someTime("keepAlive.interval", keepAlive.interval ?? "30s"),
      pongMs: someTime("keepAlive.timeout", keepAlive.timeout ?? "15s"),
    });
  }

  call(method: MethodName, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#send(
      { method, path: pathOf(method), namespace: namespaceOf(method, request) ?? "" },
      request,
      options,
    );
  }

  /** @internal Calls a method of another service of the same server: "/package.Service/Method". */
  callOther(path: string, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#send(
      { method: path.slice(path.lastIndexOf("/") + 1), path, namespace: "" },
      request,
      options,
    );
  }

  async #send(called: Called, request: Uint8Array, options: CallOptions): Promise<Uint8Array> {
    const { method, path, namespace } = called;
    const { signal, timeoutMs = CALL_TIMEOUT_MS } = options;
    const began = performance.now();
    let turn: number | undefined;
    for (let sends = 1;; sends++) {
      if (this.#closed) throw new ServiceError(Code.CANCELLED, "the connection is closed");
      if (signal?.aborted) {
        throw new ServiceError(Code.CANCELLED, `${method} was canceled by its caller`);
      }
      try {
        const authorization = typeof this.#apiKey === "function"
          ? await this.#askKey(this.#apiKey, method, began, options)
          : undefined;
        let link = this.#links.ready();
        while (link === undefined) {
          const mine = turn ??= this.#links.turn();
          link = this.#links.take(
            await this.#within(method, began, options, (until) => this.#links.more(mine, until)),
          );
        }
        // The call may have been canceled after the wait.
        if (signal?.aborted) {
          this.#links.roomy();
          throw new ServiceError(Code.CANCELLED, `${method} was canceled by its caller`);
        }
        // Whole milliseconds: servers reject fractions.
        const now = performance.now();
        const left = Math.min(
          Math.max(1, Math.ceil(timeoutMs - (now - began))),
          LONGEST_TIMEOUT_MS,
        );
        const metadata = options.metadata === undefined
          ? undefined
          : checkedMetadata(options.metadata);
        return await unary(link, {
          method,
          address: this.#address,
          key: `${path} ${left} ${namespace} ${authorization ?? ""}${
            metadata === undefined ? "" : JSON.stringify(metadata)
          }`,
          fields: () => withMetadata(this.#fieldsOf(called, left, authorization), metadata),
          request,
          dueMs: now + left,
          wholeTimeoutMs: timeoutMs,
          signal,
          maxBytes: READ_MAX_BYTES,
        });
      } catch (error) {
        if (this.#closed) {
          throw new ServiceError(
            Code.CANCELLED,
            `the connection was closed during ${method}`,
            "",
            {},
            { cause: error },
          );
        }
        if (!(error instanceof NotProcessed) || sends === SENDS) throw error;
      }
    }
  }

  #fieldsOf(
    { path, namespace }: Called,
    left: number,
    authorization: string | undefined,
  ): FieldList {
    const own = (name: string) => this.#fields.some((field) => field[0] === name);
    return [
      [":method", "POST"],
      [":scheme", this.#scheme],
      [":path", path],
      [":authority", this.#authority],
      // Deadlines of polls and reports are whole seconds and repeat; others rarely do.
      ["grpc-timeout", `${left}m`, left % 1000 !== 0],
      ...(namespace === "" || own("temporal-namespace")
        ? []
        : [["temporal-namespace", namespace] as const]),
      // A fixed key is the same for all calls; that of a function may change.
      ...(authorization === undefined ? [] : [["authorization", authorization, true] as const]),
      ...(authorization === undefined
        ? this.#fields
        : this.#fields.filter(([name]) => name !== "authorization")),
    ];
  }

  /** Closes the connection. Open calls are rejected. */
  close(): void {
    this.#closed = true;
    for (const end of this.#waiting) {
      end(new ServiceError(Code.CANCELLED, "the connection is closed"));
    }
    this.#links.close(new LinkError("the connection is closed"));
  }

  /** Waits for the prerequisites of a call, at most for its deadline. */
  async #within<T>(
    method: string,
    began: number,
    { signal, timeoutMs = CALL_TIMEOUT_MS }: CallOptions,
    work: (until: Promise<never>) => Promise<T>,
  ): Promise<T> {
    let end: (error: ServiceError) => void = () => {};
    const until = new Promise<never>((_, reject) => (end = reject));
    until.catch(() => {});
    const follower = {
      onAbort: () => end(new ServiceError(Code.CANCELLED, `${method} was canceled by its caller`)),
    };
    const following = signal && abortListenersOf(signal);
    following?.add(follower);
    if (signal?.aborted) follower.onAbort();
    this.#waiting.add(end);
    const timer = setTimeout(() => {
      const { trouble } = this.#links;
      const why = trouble === undefined
        ? `was not connected to ${this.#address}`
        : `was not sent: ${trouble}`;
      end(new ServiceError(Code.DEADLINE_EXCEEDED, `${method} ${why} (after ${timeoutMs} ms)`));
    }, Math.min(Math.max(0, timeoutMs - (performance.now() - began)), LONGEST_TIMEOUT_MS));
    try {
      return await work(until);
    } finally {
      clearTimeout(timer);
      following?.delete(follower);
      this.#waiting.delete(end);
    }
  }

  #askKey(
    apiKey: () => string | Promise<string>,
    method: string,
    began: number,
    options: CallOptions,
  ): Promise<string> {
    return this.#within(method, began, options, async (until) => {
      let key: unknown;
      try {
        key = await Promise.race([apiKey(), until]);
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        // The key source may be temporarily unavailable.
        const message = `the function \`apiKey\` failed: ${
          error instanceof Error ? error.message : String(error)
        }`;
        throw new ServiceError(Code.UNAVAILABLE, message, "ApiKeyFailed", {}, { cause: error });
      }
      if (typeof key === "string" && isHeaderText(key)) return `Bearer ${key}`;
      throw new ServiceError(
        Code.UNAUTHENTICATED,
        "the function `apiKey` returned an invalid key (expected a string of visible ASCII characters)",
      );
    });
  }
}

/** Returns the fields of a call: those of the connection, overridden by its own. */
function withMetadata(
  fields: FieldList,
  metadata: { readonly [name: string]: string } | undefined,
): FieldList {
  if (metadata === undefined) return fields;
  return [
    ...fields.filter(([name]) => !Object.hasOwn(metadata, name)),
    ...Object.entries(metadata).map(([name, value]) => [name, value, true] as const),
  ];
}

function someTime(name: string, duration: Duration): number {
  const ms = toMs(duration);
  if (ms > 0) return ms;
  throw new TypeError(
    `${name} must be more than 0; for no practical limit use a long duration such as "1 day"`,
  );
}

function targetOf({ address, apiKey, tls: wanted, proxy: by }: GrpcOptions): LinkTarget {
  if (typeof address !== "string") {
    throw new TypeError(`an address must be a string such as "host:port", not ${typeof address}`);
  }
  if (typeof apiKey === "string" && !isHeaderText(apiKey)) {
    throw new TypeError(
      "the API key is empty or has characters that are invalid in a header; check for a line break at the end",
    );
  }
  const socket = address.startsWith("unix:") ? address.slice("unix:".length) : undefined;
  const tls = wanted ?? (apiKey !== undefined && socket === undefined);
  if (socket !== undefined) {
    if (tls !== false) {
      throw new TypeError(`"${address}" is a local socket, which does not support TLS`);
    }
    if (by !== undefined) {
      throw new TypeError(
        `"${address}" is a local socket, which cannot be reached through a proxy`,
      );
    }
    return { address, at: { path: socket }, tls: undefined, proxy: undefined };
  }
  // URL omits the default port of the scheme.
  const url = URL.canParse(`grpc://${address}`) ? new URL(`grpc://${address}`) : undefined;
  if (url === undefined || url.hostname === "" || !/^[^/@?#]+:\d+$/.test(address)) {
    throw new TypeError(
      `"${address}" is not an address; write "host:port", without a scheme, or "unix:/path/of/a/socket"`,
    );
  }
  const host = nodeNet().isIPv6(url.hostname.slice(1, -1))
    ? url.hostname.slice(1, -1)
    : url.hostname;
  const proxy = by === undefined ? undefined : proxyOf(by);
  return {
    address,
    at: { host, port: Number(url.port) },
    tls: tls === false ? undefined : nodeTls(tls, host),
    proxy,
  };
}

const isHeaderText = (text: string) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);

function checkedMetadata(
  metadata: { readonly [name: string]: string | Uint8Array },
): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(metadata).map(([given, value]) => {
      const name = given.toLowerCase();
      if (
        !/^[0-9a-z_.-]+$/.test(name) || /^grpc-|^(?:te|content-type|connection|host)$/.test(name)
      ) {
        throw new TypeError(`"${given}" is not a valid metadata name`);
      }
      if (name.endsWith("-bin")) {
        if (!(value instanceof Uint8Array)) {
          throw new TypeError(
            `metadata "${given}" must be bytes (a Uint8Array), because its name ends in "-bin"`,
          );
        }
        return [name, Buffer.from(value).toString("base64").replace(/=+$/, "")];
      }
      if (typeof value !== "string" || (value !== "" && !isHeaderText(value))) {
        throw new TypeError(
          `metadata "${given}" must be a string of visible ASCII characters; bytes need a name that ends in "-bin"`,
        );
      }
      return [name, value];
    }),
  );
}
