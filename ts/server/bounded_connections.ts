// The connections of a server, and what keeps them from being its end: how many there may be, how long one may stay without a request, with
// half of one, with nothing to do, or without reading its answers. Every listener (listener.ts) keeps its book here, because what HTTP
// libraries bound by themselves differs between runtimes and versions, and a half-open socket is bounded by none of them.
//
// Places are given so that nobody without a right to call can take them: when all are taken, the oldest connection that has made no accepted
// request gives way to the new one. Only when every connection has made one is the new one turned away.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export type AnyRequest = IncomingMessage | Http2ServerRequest;
export type AnyResponse = ServerResponse | Http2ServerResponse;
export type AnyHandler = (request: AnyRequest, response: AnyResponse) => void;

export interface ConnectionLimits {
  /** Connections at once. */
  readonly connections: number;
  /** Time for a request to arrive whole, and for the first one to begin. */
  readonly arrivalMs: number;
  /** Time for which a connection may have nothing to do. */
  readonly idleMs: number;
  /** Time for which a caller may read nothing of an answer that waits for it. */
  readonly stalledMs: number;
}

/** Time that the other side has to take a last answer and to close, before its socket is destroyed. */
export const CUT_MS = 200;
/** Calls that a caller may take back before they are answered: so many at once, and so many a second. */
const TAKEN_BACK_BURST = 1000;
const TAKEN_BACK_RATE = 100;
const ENHANCE_YOUR_CALM = 11;
const CANCEL = 8;

interface Exchange {
  readonly response: AnyResponse;
  readonly since: number;
  /** The request is here whole. */
  whole: boolean;
  /** Bytes that wait for the caller, and since when it is so many. */
  waiting: number;
  waitingSince: number;
}

/** One connection: its socket and what it is about. */
class Connection {
  readonly socket: Socket;
  readonly since = performance.now();
  readonly exchanges = new Set<Exchange>();
  session: ServerHttp2Session | undefined;
  /** It has made a request that was let in. */
  proven = false;
  /** It has spoken HTTP. */
  greeted = false;
  /** It is a WebSocket now, which has limits of its own. */
  taken = false;
  quietSince = performance.now();
  takenBack = 0;
  takenBackAt = performance.now();

  constructor(socket: Socket) {
    this.socket = socket;
  }

  /** False when its caller has taken back more calls than anybody has reason to. */
  takesBack(): boolean {
    const now = performance.now();
    this.takenBack = Math.max(0, this.takenBack - (now - this.takenBackAt) * TAKEN_BACK_RATE / 1000) + 1;
    this.takenBackAt = now;
    return this.takenBack <= TAKEN_BACK_BURST;
  }
}

export class Connections {
  readonly #limits: ConnectionLimits;
  /** In the order in which they came. */
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

  /** Takes a socket that was just accepted. False when it was turned away, and destroyed. */
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
    this.#sweeping ??= setInterval(() => this.#sweep(), Math.max(50, Math.min(1000, this.#limits.arrivalMs / 4)));
    (this.#sweeping as { unref?(): void }).unref?.();
    return true;
  }

  /** Says that this socket speaks HTTP/2. */
  speaks(socket: Duplex | undefined, session: ServerHttp2Session): void {
    const connection = socket && this.#bySocket.get(socket);
    if (connection === undefined) return;
    connection.session = session;
    this.#bySession.set(session, connection);
    session.on("remoteSettings", () => connection.greeted = true);
  }

  /** Follows a request whose head has arrived until it is answered. */
  follow(request: AnyRequest, response: AnyResponse): void {
    const connection = this.#of(request);
    const now = performance.now();
    const exchange: Exchange = { response, since: now, whole: false, waiting: 0, waitingSince: now };
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
        if (connection.session !== undefined && !response.writableEnded && !connection.takesBack()) {
          // Not within an event of the session: nghttp2 may be in the middle of its frames.
          setImmediate(() => this.#calms(connection));
        }
      }
      if (this.#exchanges === 0) { for (const told of this.#idle.splice(0)) told(); }
    });
  }

  /** The caller of this request may call: its connection is not given away any more. */
  proves(request: AnyRequest): void {
    const connection = this.#of(request);
    if (connection !== undefined) connection.proven = true;
  }

  /** The socket is a WebSocket from now on: whoever has taken it over bounds it. */
  takenOver(socket: Duplex): void {
    const connection = this.#bySocket.get(socket);
    if (connection !== undefined) connection.taken = connection.proven = true;
  }

  /** When no request is open. */
  idle(): Promise<void> {
    return this.#exchanges === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  destroyAll(): void {
    for (const connection of [...this.#bySocket.values()]) this.#drop(connection);
  }

  #of(request: AnyRequest): Connection | undefined {
    const session = (request as Partial<Http2ServerRequest>).stream?.session;
    return session === undefined ? this.#bySocket.get(request.socket) : this.#bySession.get(session);
  }

  #calms(connection: Connection): void {
    if (connection.session?.destroyed === false) connection.session.destroy(undefined, ENHANCE_YOUR_CALM);
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
    // Its "close" comes later, and its place is needed now.
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
        const stalled = (waiting > 0 || exchange.response.writableEnded) && now - exchange.waitingSince > stalledMs;
        if (stalled || (!exchange.whole && now - exchange.since > arrivalMs)) this.#cut(connection, exchange);
      }
      if (connection.exchanges.size > 0) continue;
      if (!connection.greeted) {
        if (now - connection.since > arrivalMs) this.#drop(connection);
      } else if (now - connection.quietSince > idleMs) {
        this.#leave(connection);
      }
    }
  }

  /** Ends one call: over HTTP/1.1, which has no other way, with its connection. */
  #cut(connection: Connection, { response }: Exchange): void {
    const stream = (response as Partial<Http2ServerResponse>).stream;
    if (stream?.close === undefined) return this.#drop(connection);
    stream.close(CANCEL);
    // A caller whose window is shut would never see the end of the stream.
    setTimeout(() => stream.destroyed || stream.destroy(), CUT_MS).unref();
  }

  #leave(connection: Connection): void {
    if (connection.session === undefined) return this.#drop(connection);
    connection.quietSince = performance.now();
    connection.session.close();
    setTimeout(() => this.#drop(connection), CUT_MS).unref();
  }
}
