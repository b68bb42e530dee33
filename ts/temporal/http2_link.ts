// One HTTP/2 connection to a service, as a client has it: made within a time of its own, watched by pings, drained when the server says
// goodbye, and ended for all calls at once. node:http2 does the protocol, in Node and Deno; the rules below are ours, because what a
// connection owes its calls when the network breaks is the same everywhere, and the runtimes tell of it in different ways.
//
// - It is ready when the server's SETTINGS have come, not when TCP or TLS say "connected": a server that wants a client certificate refuses
//   after its side of TLS is done, and one that speaks another protocol never sends any.
// - It is alive while bytes come or pings are answered. Calls that wait for a minute are the rule here, so silence means nothing by itself.
// - Whatever ends it ends every call on it in the same turn, with one reason, whether or not the runtime tells the streams.
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import type { ConnectionOptions as NodeTlsOptions, TLSSocket } from "node:tls";
import { endsLater } from "./ends_later.ts";
import { explain } from "./connect_errors.ts";
import { nodeHttp2, nodeNet, nodeTlsModule } from "./node_net.ts";

/** Where a link leads. */
export interface LinkTarget {
  /** `host:port`, or `unix:` and a path: for messages, and as :authority. */
  readonly address: string;
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string };
  /** undefined: plain HTTP/2. */
  readonly tls: NodeTlsOptions | undefined;
}

export interface LinkTimes {
  /** TCP, TLS and HTTP/2 together. */
  readonly connectMs: number;
  /** Silence after which a ping is sent. */
  readonly pingMs: number;
  /** Time in which a ping is answered. */
  readonly pongMs: number;
}

/** Why a link, and every call on it, ended. */
export class LinkError extends Error {
  override name = "LinkError";
  /** The node error's code where there is one ("ECONNREFUSED"). */
  readonly code: string;
  /** Of a connection that was not made: whether its options are why (connect_errors.ts). */
  readonly setup: "yes" | "perhaps" | "no";

  constructor(message: string, code = "", options?: ErrorOptions & { setup?: "yes" | "perhaps" | "no" }) {
    super(message, options);
    this.code = code;
    this.setup = options?.setup ?? "no";
  }
}

/** A stream of this link is over, in whatever way: for its call. */
type Ended = (reason: LinkError) => void;

const WINDOW_BYTES = 4 * 1024 * 1024;
/** node:http2 refuses streams above this; its default of 10 would refuse a few large requests at once. */
const SESSION_MEMORY_MB = 512;
/** A ping that is sent because a call had no answer is not sent more often than this: servers take many pings for an attack. */
const PROBE_PAUSE_MS = 10_000;
const PROBE_PONG_MS = 5_000;
/** Time to read what lies there already. */
const READ_MS = 50;

export class Link {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #target: LinkTarget;
  readonly #times: LinkTimes;
  readonly #calls = new Set<Ended>();
  /** Wall clock, which goes on while a machine sleeps. */
  #lastHeard = Date.now();
  #pingMs: number;
  #pingTimer: ReturnType<typeof setTimeout> | undefined;
  #pinging: Promise<boolean> | undefined;
  #lastProbe = 0;
  #limit: number;
  #draining = false;
  #ended: LinkError | undefined;
  /** Told once, when the link has ended. */
  onEnd: () => void = () => {};
  /** Told when the server complains of pings. */
  onTooManyPings: () => void = () => {};

  private constructor({ session, socket }: Connected, target: LinkTarget, times: LinkTimes) {
    this.#session = session;
    this.#socket = socket;
    this.#target = target;
    this.#times = times;
    this.#pingMs = times.pingMs;
    this.#limit = streamsOf(session);
    session.on("remoteSettings", () => this.#limit = streamsOf(session));
    session.on("goaway", (code: number, _last: number, data?: Uint8Array) => this.#goAway(code, data));
    session.on("error", (error: Error) => this.#end(lost(error)));
    session.on("close", () => this.#end(new LinkError("the server ended the connection")));
    // An idle connection does not keep its process alive.
    session.unref();
    this.#armPing();
  }

  /** Connects. Rejects with a LinkError that says what is wrong; never later than `connectMs`. */
  static async open(target: LinkTarget, times: LinkTimes, signal: AbortSignal): Promise<Link> {
    return new Link(await connect(target, times.connectMs, signal), target, times);
  }

  /** Takes new calls. */
  get usable(): boolean {
    return this.#ended === undefined && !this.#draining && !this.#session.closed && !this.#session.destroyed;
  }

  get openCalls(): number {
    return this.#calls.size;
  }

  /** The server takes one more call on this connection. */
  get hasRoom(): boolean {
    return this.#calls.size < this.#limit;
  }

  /** Nothing was heard for so long that a ping is due: the process, or the network, may have been away. */
  get doubtful(): boolean {
    return Date.now() - this.#lastHeard > this.#pingMs + this.#times.pongMs;
  }

  /** A stream for one call. `ended` is called when the link ends before `release` is. Throws a LinkError when it takes no more calls. */
  request(headers: OutgoingHttpHeaders, ended: Ended): ClientHttp2Stream {
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(headers);
    } catch (error) {
      throw lost(error as Error);
    }
    if (this.#calls.size === 0) this.#session.ref();
    this.#calls.add(ended);
    return stream;
  }

  /** The call is over. */
  release(ended: Ended): void {
    if (!this.#calls.delete(ended) || this.#calls.size > 0) return;
    this.#session.unref();
    if (this.#draining) this.destroy(new LinkError("the server closed the connection"));
  }

  /** Bytes have come. */
  heard(): void {
    this.#lastHeard = Date.now();
  }

  /** A call had no answer in its time: whether anybody is there is found out now, and not when the next ping is due. */
  probe(): void {
    const now = Date.now();
    if (now - this.#lastProbe < PROBE_PAUSE_MS || this.#ended !== undefined) return;
    this.#lastProbe = now;
    void this.ping(Math.min(PROBE_PONG_MS, this.#times.pongMs));
  }

  /** Whether the server answers a ping in time; the link ends when it does not. */
  ping(pongMs = this.#times.pongMs): Promise<boolean> {
    if (this.#ended !== undefined) return Promise.resolve(false);
    if (this.#pinging !== undefined) return this.#pinging;
    let over = false;
    const pinging = new Promise<boolean>((resolve) => {
      const done = (answered: boolean) => {
        over = true;
        clearTimeout(timer);
        this.#pinging = undefined;
        if (answered) this.heard();
        resolve(answered);
      };
      const late = () => {
        this.destroy(new LinkError(`${this.#target.address} did not answer a keep-alive ping within ${pongMs} ms`));
        done(false);
      };
      // A process that computed meanwhile runs its timers before it reads what has come.
      let timer = setTimeout(() => {
        timer = setTimeout(late, READ_MS);
        timer.unref();
      }, pongMs);
      timer.unref();
      try {
        this.#session.ping((error: Error | null) => done(error === null));
      } catch {
        // It is being destroyed; "close" tells why.
        done(false);
      }
    });
    // (A runtime may answer before it returns.)
    if (!over) this.#pinging = pinging;
    return pinging;
  }

  /**
   * Ends the connection and all its calls. Without a GOAWAY: the end of the socket says the same, and a server in Deno (2.9.5) may abort
   * its whole process over one (an assertion of nghttp2, find_stream_on_goaway_func).
   */
  destroy(reason: LinkError): void {
    this.#end(reason);
    this.#socket.destroy();
    this.#session.destroy();
  }

  #end(reason: LinkError): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    clearTimeout(this.#pingTimer);
    const calls = [...this.#calls];
    this.#calls.clear();
    for (const ended of calls) ended(reason);
    this.onEnd();
  }

  /** The server takes no more calls here, and finishes those that it has. (With an error code node:http2 ends the session by itself.) */
  #goAway(code: number, data: Uint8Array | undefined): void {
    // The server counts pings and found them too many: the next connection asks half as often.
    if (data !== undefined && new TextDecoder().decode(data) === "too_many_pings") this.onTooManyPings();
    if (this.#draining) return;
    this.#draining = true;
    if (this.#calls.size === 0) this.destroy(new LinkError(`the server closed the connection (GOAWAY ${code})`));
  }

  #armPing(): void {
    const due = this.#lastHeard + this.#pingMs - Date.now();
    this.#pingTimer = setTimeout(() => {
      if (this.#ended !== undefined) return;
      if (Date.now() - this.#lastHeard < this.#pingMs) this.#armPing();
      else void this.ping().then((answered) => answered && this.#armPing());
    }, Math.max(1, Math.min(due, this.#pingMs)));
    this.#pingTimer.unref();
  }
}

function streamsOf(session: ClientHttp2Session): number {
  return session.remoteSettings?.maxConcurrentStreams ?? Infinity;
}

function lost(error: Error): LinkError {
  const { code } = error as { code?: unknown };
  return new LinkError(error.message.trim(), typeof code === "string" ? code : "", { cause: error });
}

interface Connected {
  readonly session: ClientHttp2Session;
  readonly socket: Socket;
}

/** A session whose server has introduced itself. */
function connect(target: LinkTarget, timeoutMs: number, signal: AbortSignal): Promise<Connected> {
  return new Promise((resolve, reject) => {
    const { address, at, tls } = target;
    let stage: "tcp" | "tls" | "http2" = "tcp";
    let settled = false;
    let socket: Socket | TLSSocket | undefined;
    let session: ClientHttp2Session | undefined;
    const settle = () => {
      settled = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    const fail = (error: Error | undefined, timedOut = false) => {
      if (settled) return;
      settle();
      const { message, code, setup } = explain({ error, timedOut, timeoutMs, stage, target });
      reject(new LinkError(message, code, error === undefined ? { setup } : { setup, cause: error }));
      session?.destroy();
      socket?.destroy();
    };
    // What was wrong is told by an error, where it is told; that may come behind the end itself.
    const closed = () => void setTimeout(fail, 0, undefined);
    const onAbort = () => fail(new Error("the connection was closed meanwhile"));
    const timer = setTimeout(fail, timeoutMs, undefined, true);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });

    const speak = () => {
      stage = "http2";
      const made = nodeHttp2().connect(`${tls === undefined ? "http" : "https"}://${"path" in at ? "localhost" : address}`, {
        createConnection: () => socket!,
        settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
        maxSessionMemory: SESSION_MEMORY_MB,
      });
      endsLater(made);
      session = made;
      made.on("error", fail);
      made.on("close", closed);
      made.once("remoteSettings", () => {
        if (settled) return;
        settle();
        // Histories come in pages of megabytes; with the default of 64 KiB each would take a round trip per window.
        (made as { setLocalWindowSize?: (bytes: number) => void }).setLocalWindowSize?.(2 * WINDOW_BYTES);
        resolve({ session: made, socket: socket! });
      });
    };
    try {
      if (tls === undefined) {
        const { connect } = nodeNet();
        socket = "path" in at ? connect(at.path) : connect({ host: at.host, port: at.port });
        socket.once("connect", speak);
      } else {
        const secure = nodeTlsModule().connect({ ...(at as { host: string; port: number }), ...tls, ALPNProtocols: ["h2"] });
        socket = secure;
        secure.once("connect", () => stage = "tls");
        secure.once("secureConnect", () => {
          if (secure.alpnProtocol === "h2") speak();
          else fail(Object.assign(new Error("no HTTP/2"), { code: "ERR_NO_ALPN" }));
        });
      }
      // Both listeners stay for the life of the socket, and do nothing once the connection is made or given up.
      socket.on("error", fail);
      socket.on("close", closed);
      socket.setNoDelay(true);
    } catch (error) {
      // A library that checks certificates before it connects.
      fail(error as Error);
    }
  });
}
