// All servers of this package: HTTP/1.1 or HTTP/2 without TLS, on a Unix socket or a local address.
// Connections are limited by bounded_connections.ts, callers checked by http_guard.ts, and a
// handler that throws yields an error response. On close, the service first completes waiting
// calls; then connections are closed, then destroyed. A listener does not keep its process alive by
// default.
import {
  createServer as createServer1,
  type IncomingMessage,
  type RequestListener,
} from "node:http";
import { createServer as createServer2, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  type AnyHandler,
  type ConnectionLimits,
  Connections,
  CUT_MS,
} from "./bounded_connections.ts";
import { endAfterGoaway } from "../platform/deno_goaway_workaround.ts";
import { type HttpGuard, type Refusal, refuseRequest } from "./http_guard.ts";

export interface ListenOptions {
  /** Path of a Unix socket, or a port (0: any free one) of a host. Default host: 127.0.0.1. */
  readonly at: { readonly path: string } | { readonly port: number; readonly host?: string };
  readonly http?: 1 | 2;
  readonly handler: AnyHandler;
  /** Rejects requests and calls `refused`. Default: all are accepted. */
  readonly guard?: HttpGuard;
  refused?(refusal: Refusal): void;
  /**
   * The handler has a separate guard and reports accepted requests to `connections`. Default:
   * false.
   */
  readonly untrusted?: boolean;
  /** Handles upgrades to another protocol (HTTP/1.1). Default: they are rejected. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Uint8Array): void;
  /** Overrides of `LIMITS`. */
  readonly limits?: Partial<ConnectionLimits>;
  /** Shared by several listeners; `limits` is then ignored. */
  readonly connections?: Connections;
  /** Keeps the process alive. Default: false. */
  readonly keepsAlive?: boolean;
  /** Called for errors of the server after it listens, and for handlers that throw. */
  onError?(error: Error): void;
}

export interface Listener {
  /** 0 for a Unix socket. */
  readonly port: number;
  /** As formatted by the system; empty for a Unix socket. */
  readonly host: string;
  /** Accepts no more calls, waits at most `graceMs` for open ones, then closes. */
  close(graceMs?: number): Promise<void>;
}

const FLUSH_MS = 20;
/**
 * Flow-control windows of a call and of a connection, in bytes. The protocol's default of 64 KiB is
 * slow for large messages.
 */
const STREAM_WINDOW = 1024 * 1024;
const CONNECTION_WINDOW = 16 * 1024 * 1024;
/**
 * Memory limit of a connection's calls, in MB; Node rejects new calls above it. Its default of 10
 * is reached by three large messages, and a worker's calls share one connection.
 */
const SESSION_MEMORY_MB = 512;
/** Maximum open calls of a connection; callers queue more. Workers have a few hundred polls. */
const MAX_STREAMS = 2000;
/** Interval in which Node checks its own HTTP/1.1 limits. */
const CHECK_MS = 1000;

/** Default limits of a listener's connections. */
export const LIMITS: { readonly [version in 1 | 2]: ConnectionLimits } = {
  1: { connections: 1024, arrivalMs: 30_000, idleMs: 30_000, stalledMs: 60_000 },
  // A program's calls share one connection, busy with polls. An idle one is reopened on demand.
  2: { connections: 1024, arrivalMs: 30_000, idleMs: 300_000, stalledMs: 60_000 },
};

const STATUS: { readonly [code: string]: string } = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

export async function listen(options: ListenOptions): Promise<Listener> {
  const { at, http = 2, keepsAlive = false, onError = () => {} } = options;
  const limits = { ...LIMITS[http], ...options.limits };
  const connections = options.connections ?? new Connections(limits);
  const handle = handler(options, connections, onError);
  const sessions = new Set<ServerHttp2Session>();
  const server = http === 1
    ? http1(limits, handle, options.upgrade)
    : http2(connections, sessions, handle);
  // Before HTTP sees the socket.
  server.prependListener("connection", (socket: Socket) => {
    if (connections.admit(socket) && !keepsAlive) socket.unref();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // `exclusive`: in a worker of node:cluster, the parent would own the socket.
    const where = "path" in at
      ? { path: at.path }
      : { host: at.host ?? "127.0.0.1", port: at.port, ipv6Only: at.host === "::1" };
    server.listen({ ...where, exclusive: true }, () => {
      server.off("error", reject);
      server.on("error", onError);
      if (!keepsAlive) server.unref();
      resolve();
    });
  });
  const address = server.address() as AddressInfo | string | null;
  const [port, host] = typeof address === "object" && address !== null
    ? [address.port, address.address]
    : [0, ""];
  const close = async (graceMs = 1000) => {
    // Not by `close()` of server and sessions, which in Deno aborts open calls.
    if (graceMs > 0) await within(graceMs, connections.idle());
    // Deno reports a response as closed before its last bytes are sent.
    if (connections.size > 0 && graceMs > 0) await within(FLUSH_MS, new Promise(() => {}));
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const session of sessions) session.close();
    (server as { closeIdleConnections?(): void }).closeIdleConnections?.();
    if (connections.size > 0 && graceMs > 0) await within(CUT_MS, closed);
    connections.destroyAll();
    await closed;
  };
  return { port, host, close };
}

/** A handler that throws is an internal error and does not end the process. */
function handler(
  options: ListenOptions,
  connections: Connections,
  onError: (error: Error) => void,
): AnyHandler {
  const { handler, guard, refused, untrusted = false } = options;
  const letIn: AnyHandler = (request, response) => {
    if (!untrusted) connections.proves(request);
    handler(request, response);
  };
  const held = guard === undefined ? letIn : guard.wrap(letIn, refused);
  return (request, response) => {
    connections.follow(request, response);
    try {
      held(request, response);
    } catch (error) {
      onError(error as Error);
      if (response.headersSent) response.destroy();
      else {refuseRequest(request, response, {
          status: 500,
          message: "internal error in the server",
        });}
    }
  };
}

function http1(
  limits: ConnectionLimits,
  handle: AnyHandler,
  upgrade: ListenOptions["upgrade"],
): Server {
  const { arrivalMs } = limits;
  const server = createServer1(
    {
      headersTimeout: arrivalMs,
      requestTimeout: arrivalMs,
      connectionsCheckingInterval: Math.min(CHECK_MS, arrivalMs),
    },
    handle as RequestListener,
  );
  if (upgrade !== undefined) {
    server.on("upgrade", (request, socket, head) => upgrade(request, socket, head));
  }
  server.on("clientError", (error: Error & { code?: string }, socket: Duplex) => {
    if (!socket.writable) return void socket.destroy();
    const status = STATUS[error.code ?? ""] ?? "400 Bad Request";
    socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    // `end` closes one half. A caller that keeps the other half open would occupy a place.
    setTimeout(() => socket.destroy(), CUT_MS).unref();
  });
  return server;
}

function http2(
  connections: Connections,
  sessions: Set<ServerHttp2Session>,
  handle: AnyHandler,
): Server {
  const settings = { initialWindowSize: STREAM_WINDOW, maxConcurrentStreams: MAX_STREAMS };
  const server = createServer2({ settings, maxSessionMemory: SESSION_MEMORY_MB }, handle);
  let latest: Socket | undefined;
  server.prependListener("connection", (socket: Socket) => latest = socket);
  server.on("session", (session) => {
    endAfterGoaway(session);
    sessions.add(session);
    // Created in the same turn as its socket.
    connections.speaks(latest, session);
    session.on("close", () => sessions.delete(session));
    // The caller disconnected: the streams cancel their calls.
    session.on("error", () => {});
    // Deno has no such method and a window of another size.
    (session as { setLocalWindowSize?: (bytes: number) => void }).setLocalWindowSize?.(
      CONNECTION_WINDOW,
    );
  });
  server.on("sessionError", () => {});
  return server;
}

/** Waits for a promise, at most `ms`. */
export function within(ms: number, wait: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void wait.then(() => (clearTimeout(timer), resolve()));
  });
}
