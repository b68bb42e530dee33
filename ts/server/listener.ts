// The one way in which this package listens: HTTP/1.1 or HTTP/2 without TLS, on a Unix socket or an address of this machine. Whatever is
// served (gRPC for SDKs, the socket beside a store, the gateway, probes), its connections are bounded by bounded_connections.ts, its callers are
// held against one guard (http_guard.ts), a handler that throws is an answer, and the end is orderly: calls that wait are answered by their
// service first, then connections are closed, then cut. It does not keep its process alive unless asked to.
import { createServer as createServer1, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createServer2, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type AnyHandler, type ConnectionLimits, Connections, CUT_MS } from "./bounded_connections.ts";
import { endAfterGoaway } from "../platform/deno_goaway_workaround.ts";
import { type HttpGuard, type Refusal, refuseRequest } from "./http_guard.ts";

export interface ListenOptions {
  /** Path of a Unix socket, or a port (0: any free one) of a host. Default: 127.0.0.1. */
  readonly at: { readonly path: string } | { readonly port: number; readonly host?: string };
  /** Default: 2. */
  readonly http?: 1 | 2;
  readonly handler: AnyHandler;
  /** Requests that it refuses are answered here, and `refused` is told. Default: all are let in. */
  readonly guard?: HttpGuard;
  refused?(refusal: Refusal): void;
  /** The handler has a guard of its own, and tells `connections` which requests it lets in. Default: false. */
  readonly untrusted?: boolean;
  /** Takes over sockets that ask for another protocol (HTTP/1.1). Default: they are refused. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Uint8Array): void;
  /** Where they differ from `LIMITS`. */
  readonly limits?: Partial<ConnectionLimits>;
  /** Given where several listeners share their limits; then `limits` is not looked at. */
  readonly connections?: Connections;
  /** The process lives as long as it listens. Default: false. */
  readonly keepsAlive?: boolean;
  /** Told when the server fails after it has begun to listen, and of handlers that throw. */
  onError?(error: Error): void;
}

export interface Listener {
  /** 0 for a Unix socket. */
  readonly port: number;
  /** As the system writes it; empty for a Unix socket. */
  readonly host: string;
  /** Takes no more calls, waits for open ones for at most `graceMs`, closes. */
  close(graceMs?: number): Promise<void>;
}

const FLUSH_MS = 20;
/** Bytes that a caller may send ahead on one call, and on all of a connection. The protocol's 64 KB would let large messages crawl. */
const STREAM_WINDOW = 1024 * 1024;
const CONNECTION_WINDOW = 16 * 1024 * 1024;
/**
 * Node refuses new calls of a connection whose calls hold more than this, in megabytes; its 10 would be reached by three large messages.
 * All of a worker's calls share a connection.
 */
const SESSION_MEMORY_MB = 512;
/** Calls of a connection that may be open at once; callers wait with more. Workers have a few hundred polls. */
const MAX_STREAMS = 2000;
/** How often Node looks at its own limits of HTTP/1.1. */
const CHECK_MS = 1000;

/** What a listener's connections may do where it says nothing else. */
export const LIMITS: { readonly [version in 1 | 2]: ConnectionLimits } = {
  1: { connections: 1024, arrivalMs: 30_000, idleMs: 30_000, stalledMs: 60_000 },
  // All calls of a program share a connection, and its polls keep it busy. One without calls is opened again when there is one.
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
  const server = http === 1 ? http1(limits, handle, options.upgrade) : http2(connections, sessions, handle);
  // Before HTTP looks at the socket.
  server.prependListener("connection", (socket: Socket) => {
    if (connections.admit(socket) && !keepsAlive) socket.unref();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // `exclusive`: in a worker of node:cluster the socket would otherwise be the parent's.
    const where = "path" in at ? { path: at.path } : { host: at.host ?? "127.0.0.1", port: at.port, ipv6Only: at.host === "::1" };
    server.listen({ ...where, exclusive: true }, () => {
      server.off("error", reject);
      server.on("error", onError);
      if (!keepsAlive) server.unref();
      resolve();
    });
  });
  const address = server.address() as AddressInfo | string | null;
  const [port, host] = typeof address === "object" && address !== null ? [address.port, address.address] : [0, ""];
  const close = async (graceMs = 1000) => {
    // Not left to `close()` of server and sessions: they are to let open calls end, but Deno's cut them off.
    if (graceMs > 0) await within(graceMs, connections.idle());
    // Deno calls a response closed before its last bytes are on their way.
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

/** A handler that fails is an error of ours, and not the end of the process. */
function handler(options: ListenOptions, connections: Connections, onError: (error: Error) => void): AnyHandler {
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
      else refuseRequest(request, response, { status: 500, message: "internal error in the server" });
    }
  };
}

function http1(limits: ConnectionLimits, handle: AnyHandler, upgrade: ListenOptions["upgrade"]): Server {
  const { arrivalMs } = limits;
  const server = createServer1(
    { headersTimeout: arrivalMs, requestTimeout: arrivalMs, connectionsCheckingInterval: Math.min(CHECK_MS, arrivalMs) },
    handle as RequestListener,
  );
  if (upgrade !== undefined) server.on("upgrade", (request, socket, head) => upgrade(request, socket, head));
  server.on("clientError", (error: Error & { code?: string }, socket: Duplex) => {
    if (!socket.writable) return void socket.destroy();
    const status = STATUS[error.code ?? ""] ?? "400 Bad Request";
    socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    // `end` closes one half. A caller that keeps the other one open would keep the place of another.
    setTimeout(() => socket.destroy(), CUT_MS).unref();
  });
  return server;
}

function http2(connections: Connections, sessions: Set<ServerHttp2Session>, handle: AnyHandler): Server {
  const settings = { initialWindowSize: STREAM_WINDOW, maxConcurrentStreams: MAX_STREAMS };
  const server = createServer2({ settings, maxSessionMemory: SESSION_MEMORY_MB }, handle);
  let latest: Socket | undefined;
  server.prependListener("connection", (socket: Socket) => latest = socket);
  server.on("session", (session) => {
    endAfterGoaway(session);
    sessions.add(session);
    // Made in the same turn in which its socket came.
    connections.speaks(latest, session);
    session.on("close", () => sessions.delete(session));
    // A caller that goes away in the middle: its calls are given up by their own streams.
    session.on("error", () => {});
    // Deno has no such method, and its own window.
    (session as { setLocalWindowSize?: (bytes: number) => void }).setLocalWindowSize?.(CONNECTION_WINDOW);
  });
  server.on("sessionError", () => {});
  return server;
}

/** Waits for something, but no longer than this. */
export function within(ms: number, wait: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void wait.then(() => (clearTimeout(timer), resolve()));
  });
}
