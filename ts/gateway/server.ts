// `temporalex gateway`: a relay on the loopback interface for web pages and other clients without
// gRPC. It accepts WebSockets (frames.ts) and plain HTTP/1.1 (Connect, gRPC-web, JSON) and forwards
// calls to a RawService, whose credentials stay in this process. http_guard.ts checks callers,
// permissions.ts their calls; everything that a caller can send or leave open is bounded here.
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { containedLogger } from "../base/contained.ts";
import { type Logger, silentLogger } from "../base/logger.ts";
import type { RawService } from "../service/raw.ts";
import { VERSION } from "../base/version.ts";
import { type AnyHandler, Connections, CUT_MS } from "../server/bounded_connections.ts";
import { HttpGuard, type Refusal, refuseRequest } from "../server/http_guard.ts";
import { LIMITS as OF_LISTENERS, listen, type Listener, within } from "../server/listener.ts";
import { serviceHandler } from "../server/grpc_handlers.ts";
import { type Permissions, withPermissions } from "./permissions.ts";
import {
  CALL_OVERHEAD,
  Close,
  GATEWAY_PROTOCOL,
  helloFrame,
  SOCKET_PATH,
  TOKEN_PREFIX,
} from "./frames.ts";
import { SocketCalls } from "./socket_calls.ts";

export interface GatewayLimits {
  /** Maximum size of a request in bytes. Default: 16 MiB; a Temporal server accepts 4 MiB. */
  requestBytes?: number;
  /** Maximum connections, including WebSockets. Default: 256. */
  connections?: number;
  /** Maximum open calls of one WebSocket, and of all HTTP requests. Default: 1000. */
  calls?: number;
  /** Time for a complete request to arrive. Default: 10 s. */
  arrivalMs?: number;
  /** Maximum bytes of responses that a caller has not read. Default: 64 MiB. */
  waitingBytes?: number;
  /** Interval of pings to silent callers. Default: 20 s. */
  pingMs?: number;
}

export interface GatewayServerOptions extends Permissions {
  /** Service that receives the calls. */
  service: RawService;
  /** 0: any free port. */
  port: number;
  /**
   * Origins of pages that may call. Default: none; then only programs may, which send no Origin.
   */
  origins?: readonly string[];
  /** At least 32 characters A-Z, a-z, 0-9, "-" and "_". Default: a new token. */
  token?: string;
  logger?: Logger;
  limits?: GatewayLimits;
}

export interface Gateway {
  readonly port: number;
  /** With the token after "#", which browsers do not send. */
  readonly url: string;
  /**
   * Accepts no more calls, waits for open ones at most `graceMs` (cancels waiting polls at once),
   * then closes.
   */
  close(graceMs?: number): Promise<void>;
}

/** The port is not available. */
export class PortError extends Error {
  override name = "PortError";
}

const LIMITS: Required<GatewayLimits> = {
  requestBytes: 16 * 1024 * 1024,
  connections: 256,
  calls: 1000,
  arrivalMs: 10_000,
  waitingBytes: 64 * 1024 * 1024,
  pingMs: 20_000,
};
/** Maximum number of different rejections that are logged, each once. */
const TOLD = 50;
const LANDING =
  `This is temporalex gateway ${VERSION}. It is not a web page: pass its URL, with the token, to connectGateway() of temporalex/gateway.\n`;

/** Returns a random token. */
export const newToken = (): string => randomBytes(32).toString("base64url");
/** Returns whether a token is long enough and has only characters of a WebSocket subprotocol. */
export const isToken = (text: string): boolean => /^[A-Za-z0-9_-]{32,256}$/.test(text);

export async function startGateway(options: GatewayServerOptions): Promise<Gateway> {
  const token = options.token ?? newToken();
  if (!isToken(token)) {
    throw new TypeError('a token must have 32 to 256 characters of A-Z, a-z, 0-9, "-" and "_"');
  }
  const server = new GatewayServer(options, token);
  const port = await server.listen(options.port);
  return {
    port,
    url: `http://127.0.0.1:${port}/#${token}`,
    close: (graceMs) => server.close(graceMs),
  };
}

class GatewayServer {
  readonly #guard: HttpGuard;
  readonly #service: RawService;
  readonly #logger: Logger;
  readonly #limits: Required<GatewayLimits>;
  readonly #sockets: WebSocketServer;
  readonly #handler: AnyHandler;
  readonly #callers = new Set<SocketCalls>();
  readonly #connections: Connections;
  readonly #told = new Set<string>();
  readonly #listeners: Listener[] = [];
  #port = 0;
  #requests = 0;
  #closing = false;

  constructor(options: GatewayServerOptions, token: string) {
    const limits = this.#limits = { ...LIMITS, ...options.limits };
    this.#logger = containedLogger(options.logger ?? silentLogger);
    this.#connections = new Connections({ ...OF_LISTENERS[1], ...limits });
    this.#service = withPermissions(options.service, options);
    this.#guard = new HttpGuard({ port: () => this.#port, origins: options.origins ?? [], token });
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: true,
      perMessageDeflate: false,
      maxPayload: limits.requestBytes + CALL_OVERHEAD,
      handleProtocols: () => GATEWAY_PROTOCOL,
    });
    const relay = serviceHandler(this.#service, {
      maxRequestBytes: limits.requestBytes,
      unknown: (service, method) => `unknown method ${service}/${method}`,
      onError: (error) => this.#failed(error),
    });
    const calls: AnyHandler = (request, response) => {
      this.#connections.proves(request);
      this.#relay(request as IncomingMessage, response as ServerResponse, relay);
    };
    const guarded = this.#guard.wrap(calls, (refusal) => this.#tell(refusal));
    this.#handler = (request, response) => {
      const seen = request.method === "GET" && request.url === "/" &&
        request.headers["origin"] === undefined;
      if (!seen || this.#guard.refusesSender(request) !== undefined) {
        return guarded(request, response);
      }
      // The URL was opened in a browser, which does not send the token.
      (response as ServerResponse).writeHead(200, {
        "content-type": "text/plain; charset=utf-8",
        "x-content-type-options": "nosniff",
      });
      response.end(LANDING);
    };
  }

  /**
   * Listens on both loopback addresses: "localhost" can mean either, and no other process may get
   * this port on the other one.
   */
  async listen(port: number): Promise<number> {
    for (let attempt = 1;; attempt++) {
      try {
        this.#listeners.push(await this.#listenOn("127.0.0.1", port));
        this.#port = this.#listeners[0]!.port;
        this.#listeners.push(await this.#listenOn("::1", this.#port));
        return this.#port;
      } catch (error) {
        const { code } = error as { code?: string };
        // A machine without IPv6.
        if (
          this.#listeners.length === 1 &&
          ["EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL"].includes(code ?? "")
        ) return this.#port;
        await Promise.all(this.#listeners.splice(0).map((listener) => listener.close(0)));
        if (code === "EADDRINUSE" && port === 0 && attempt < 10) continue;
        if (code === "EADDRINUSE") {
          throw new PortError(
            `port ${port} is in use; stop the other process, or choose another port`,
          );
        }
        if (code === "EACCES") {
          throw new PortError(`no permission to listen on port ${port}; choose a port above 1023`);
        }
        throw error;
      }
    }
  }

  #listenOn(host: string, port: number): Promise<Listener> {
    return listen({
      at: { host, port },
      http: 1,
      // A guard for all but the landing page: a connection is trusted once it has sent the token.
      handler: this.#handler,
      untrusted: true,
      upgrade: (request, socket, head) => this.#upgrade(request, socket, head),
      limits: { arrivalMs: this.#limits.arrivalMs },
      // Both addresses share the limits.
      connections: this.#connections,
      keepsAlive: true,
      onError: (error) => this.#failed(error),
    });
  }

  #failed(error: Error): void {
    this.#logger.error("the gateway's listener failed", { error });
  }

  #relay(request: IncomingMessage, response: ServerResponse, relay: AnyHandler): void {
    const { calls, requestBytes } = this.#limits;
    if (this.#closing) {
      return refuseRequest(request, response, {
        status: 503,
        message: "the gateway is shutting down",
      });
    }
    if (this.#requests >= calls) {
      return refuseRequest(request, response, {
        status: 429,
        message: `${calls} calls are already open`,
      });
    }
    if (Number(request.headers["content-length"] ?? 0) > requestBytes) {
      return refuseRequest(request, response, {
        status: 413,
        message: `a request can have at most ${requestBytes} bytes`,
      });
    }
    this.#requests++;
    response.on("close", () => this.#requests--);
    relay(request, response);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Uint8Array): void {
    socket.on("error", () => {});
    const no = (status: string, message: string) => {
      const headers = `content-type: text/plain; charset=utf-8\r\ncontent-length: ${
        message.length + 1
      }\r\nconnection: close`;
      socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${message}\n`);
      // A caller that does not close its side would occupy a place.
      setTimeout(() => socket.destroy(), CUT_MS).unref();
    };
    const refusal = this.#guard.refusesSender(request);
    if (refusal !== undefined) {
      this.#tell(refusal);
      return no("403 Forbidden", "this caller is not allowed");
    }
    if (request.url !== SOCKET_PATH) return no("404 Not Found", "not found");
    if (this.#closing) return no("503 Service Unavailable", "the gateway is shutting down");
    const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) =>
      name.trim()
    );
    if (!offered.includes(GATEWAY_PROTOCOL)) {
      return no("400 Bad Request", `request the subprotocol ${GATEWAY_PROTOCOL}`);
    }
    const token = offered.find((name) => name.startsWith(TOKEN_PREFIX))?.slice(TOKEN_PREFIX.length);
    this.#sockets.handleUpgrade(request, socket, head as Buffer, (opened) => {
      const wrong = this.#guard.refusesToken(token);
      if (wrong === undefined) {
        this.#connections.takenOver(socket);
        return this.#open(opened, request.headers.origin);
      }
      // A page cannot see the HTTP status of a rejected WebSocket. This close code differs from
      // that of a missing gateway.
      this.#tell(wrong);
      opened.on("error", () => {});
      opened.close(Close.TOKEN, "the token is wrong");
      setTimeout(() => opened.terminate(), CUT_MS).unref();
    });
  }

  #open(socket: WebSocket, origin: string | undefined): void {
    const { pingMs, requestBytes } = this.#limits;
    const fields = { origin: origin ?? "a program" };
    this.#logger.info("a caller connected", fields);
    const calls = new SocketCalls(socket, this.#service, this.#limits, this.#logger);
    this.#callers.add(calls);
    let heard = true;
    socket.on("pong", () => heard = true);
    socket.on("message", () => heard = true);
    // Browsers respond to pings without the page.
    const ping = setInterval(() => {
      if (!heard) return socket.terminate();
      heard = false;
      socket.ping();
    }, pingMs);
    socket.on(
      "error",
      (error) => this.#logger.warn("a caller was disconnected", { ...fields, why: error.message }),
    );
    socket.on("close", () => {
      clearInterval(ping);
      this.#callers.delete(calls);
      this.#logger.info("a caller disconnected", fields);
    });
    socket.send(helloFrame({ version: VERSION, maxRequestBytes: requestBytes }));
  }

  async close(graceMs = 2000): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    const idle = Promise.all([
      ...[...this.#callers].map((calls) => calls.drain()),
      this.#connections.idle(),
    ]);
    await within(graceMs, idle);
    const closed = new Promise<void>((resolve) => {
      const left = [...this.#sockets.clients].map((socket) =>
        new Promise((gone) => socket.once("close", gone))
      );
      void Promise.all(left).then(() => resolve());
    });
    for (const socket of this.#sockets.clients) socket.close(1001, "the gateway is shutting down");
    await within(CUT_MS, closed);
    for (const calls of this.#callers) calls.abandon();
    for (const socket of this.#sockets.clients) socket.terminate();
    await Promise.all(this.#listeners.map((listener) => listener.close(0)));
    this.#sockets.close();
  }

  /** Logs why callers are rejected, each reason once, so that no caller fills the log. */
  #tell({ message, reason }: Refusal): void {
    if (this.#told.has(message) || this.#told.size >= TOLD) return;
    this.#told.add(message);
    this.#logger.warn("a caller was rejected", { why: message, reason });
  }
}
