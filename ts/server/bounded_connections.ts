// Limits on a server's connections: their number, and their time without a request, with a partial
// one, idle, or without reading responses. All listeners (listener.ts) use it, because limits of
// HTTP libraries differ between runtimes and versions, and none covers half-open sockets. At the
// maximum, the oldest connection without an accepted request is closed for the new one; if there is
// none, the new one is rejected. So clients without permission cannot block others.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export type AnyRequest = IncomingMessage | Http2ServerRequest;
export type AnyResponse = ServerResponse | Http2ServerResponse;
export type AnyHandler = (request: AnyRequest, response: AnyResponse) => void;

export interface ConnectionLimits {
  /** Maximum connections. */
  readonly connections: number;
  /** Time for a complete request to arrive, and for the first one to begin. */
  readonly arrivalMs: number;
  /** Time that a connection may be idle. */
  readonly idleMs: number;
  /** Time that a caller may leave a response unread. */
  readonly stalledMs: number;
}

/** Time for the peer to receive a last response and close, before its socket is destroyed. */
export const CUT_MS = 200;
/** Calls that a caller may cancel at once (burst), and per second (rate). */
const TAKEN_BACK_BURST = 1000;
const TAKEN_BACK_RATE = 100;
const ENHANCE_YOUR_CALM = 11;
const CANCEL = 8;

interface Exchange {
  readonly response: AnyResponse;
  readonly since: number;
  /** The request has arrived completely. */
  whole: boolean;
  /** Bytes that the caller has not read, and since when their number is unchanged. */
  waiting: number;
  waitingSince: number;
}

/** A connection with its socket and state. */
class Connection {
  readonly socket: Socket;
  readonly since = performance.now();
  readonly exchanges = new Set<Exchange>();
  session: ServerHttp2Session | undefined;
  /** True after an accepted request. */
  proven = false;
  /** True after its first HTTP message. */
  greeted = false;
  /** True once it is a WebSocket, which has separate limits. */
  taken = false;
  quietSince = performance.now();
  takenBack = 0;
  takenBackAt = performance.now();

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Returns false if the caller has canceled more calls than is reasonable. */
  takesBack(): boolean {
    const now = performance.now();
    this.takenBack =
      Math.max(0, this.takenBack - (now - this.takenBackAt) * TAKEN_BACK_RATE / 1000) + 1;
    this.takenBackAt = now;
    return this.takenBack <= TAKEN_BACK_BURST;
  }
}

export class Connections {
  readonly #limits: ConnectionLimits;
  /** In order of arrival. */
  readonly #bySocket = new Map<Duplex, Connection>();
  readonly #bySession = new WeakMap<object, Connection>();
  #exchanges = 0;
  #sweeping: ReturnType<typeof setInterval> | undefined;
  #idle: (() => void)[] = [];

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#bySocket.size;
  }

  /** Adds an accepted socket. Returns false if it was rejected and destroyed. */
  admit(socket: Socket): boolean {
    socket.on("error", () => {});
    if (this.#bySocket.size >= this.#limits.connections) {
      const weakest = [...this.#bySocket.values()].find((each) => !each.proven);
      if (weakest === undefined) {
        socket.destroy();
        return false;
      }
      this.#drop(weakest);
    }
    const connection = new Connection(socket);
    this.#bySocket.set(socket, connection);
    socket.on("close", () => this.#forget(connection));
    this.#sweeping ??= setInterval(
      () => this.#sweep(),
      Math.max(50, Math.min(1000, this.#limits.arrivalMs / 4)),
    );
    (this.#sweeping as { unref?(): void }).unref?.();
    return true;
  }

  /** Marks a socket as HTTP/2. */
  speaks(socket: Duplex | undefined, session: ServerHttp2Session): void {
    const connection = socket && this.#bySocket.get(socket);
    if (connection === undefined) return;
    connection.session = session;
    this.#bySession.set(session, connection);
    session.on("remoteSettings", () => connection.greeted = true);
  }

  /** Tracks a request from its header to its response. */
  follow(request: AnyRequest, response: AnyResponse): void {
    const connection = this.#of(request);
    const now = performance.now();
    const exchange: Exchange = {
      response,
      since: now,
      whole: false,
      waiting: 0,
      waitingSince: now,
    };
    request.on("end", () => exchange.whole = true);
    this.#exchanges++;
    if (connection !== undefined) {
      connection.greeted = true;
      connection.exchanges.add(exchange);
    }
    response.once("close", () => {
      this.#exchanges--;
      if (connection !== undefined) {
        connection.exchanges.delete(exchange);
        connection.quietSince = performance.now();
        if (
          connection.session !== undefined && !response.writableEnded && !connection.takesBack()
        ) {
          // Not within an event of the session: nghttp2 may be processing frames.
          setImmediate(() => this.#calms(connection));
        }
      }
      if (this.#exchanges === 0) { for (const told of this.#idle.splice(0)) told(); }
    });
  }

  /** Marks the caller of this request as trusted: its connection is no longer closed for others. */
  proves(request: AnyRequest): void {
    const connection = this.#of(request);
    if (connection !== undefined) connection.proven = true;
  }

  /** Marks the socket as a WebSocket, whose owner limits it from now on. */
  takenOver(socket: Duplex): void {
    const connection = this.#bySocket.get(socket);
    if (connection !== undefined) connection.taken = connection.proven = true;
  }

  /** Resolves when no request is open. */
  idle(): Promise<void> {
    return this.#exchanges === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#idle.push(resolve));
  }

  destroyAll(): void {
    for (const connection of [...this.#bySocket.values()]) this.#drop(connection);
  }

  #of(request: AnyRequest): Connection | undefined {
    const session = (request as Partial<Http2ServerRequest>).stream?.session;
    return session === undefined
      ? this.#bySocket.get(request.socket)
      : this.#bySession.get(session);
  }

  #calms(connection: Connection): void {
    if (connection.session?.destroyed === false) {
      connection.session.destroy(undefined, ENHANCE_YOUR_CALM);
    }
    this.#drop(connection);
  }

  #forget(connection: Connection): void {
    this.#bySocket.delete(connection.socket);
    if (this.#bySocket.size > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  #drop(connection: Connection): void {
    connection.socket.destroy();
    // Its "close" event comes later, and its place is needed now.
    this.#forget(connection);
  }

  #sweep(): void {
    const now = performance.now();
    const { arrivalMs, idleMs, stalledMs } = this.#limits;
    for (const connection of [...this.#bySocket.values()]) {
      if (connection.taken) continue;
      for (const exchange of connection.exchanges) {
        const waiting = exchange.response.writableLength;
        if (waiting !== exchange.waiting) Object.assign(exchange, { waiting, waitingSince: now });
        const stalled = (waiting > 0 || exchange.response.writableEnded) &&
          now - exchange.waitingSince > stalledMs;
        if (stalled || (!exchange.whole && now - exchange.since > arrivalMs)) {
          this.#cut(connection, exchange);
        }
      }
      if (connection.exchanges.size > 0) continue;
      if (!connection.greeted) {
        if (now - connection.since > arrivalMs) this.#drop(connection);
      } else if (now - connection.quietSince > idleMs) {
        this.#leave(connection);
      }
    }
  }

  /** Ends one call; over HTTP/1.1, by closing its connection. */
  #cut(connection: Connection, { response }: Exchange): void {
    const stream = (response as Partial<Http2ServerResponse>).stream;
    if (stream?.close === undefined) return this.#drop(connection);
    stream.close(CANCEL);
    // A caller with an exhausted window would never see the end of the stream.
    setTimeout(() => stream.destroyed || stream.destroy(), CUT_MS).unref();
  }

  #leave(connection: Connection): void {
    if (connection.session === undefined) return this.#drop(connection);
    connection.quietSince = performance.now();
    connection.session.close();
    setTimeout(() => this.#drop(connection), CUT_MS).unref();
  }
}
