// One HTTP/2 connection to a service, as a client has it: made within a time of its own, watched by pings, drained when the server says
// goodbye, and ended for all calls at once. `http2/wire.ts` does the protocol; the rules here say what a connection owes its calls when the
// network breaks.
//
// - It is ready when the server's SETTINGS have come, not when TCP or TLS say "connected": a server that wants a client certificate refuses
//   after its side of TLS is done, and one that speaks another protocol never sends any.
// - It is alive while bytes come or pings are answered. Calls that wait for a minute are the rule here, so silence means nothing by itself.
// - Whatever ends it ends every call on it in the same turn, with one reason, whether or not the runtime tells the streams.
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import type { ConnectionOptions as NodeTlsOptions, TLSSocket } from "node:tls";
import { explain, type Stage, tidy } from "./connect_errors.ts";
import type { FieldList } from "./http2/hpack.ts";
import { Reset, Wire, WireStream } from "./http2/wire.ts";
import { nodeNet, nodeTlsModule } from "./node_net.ts";
import type { Proxy } from "./proxy.ts";
import { enterTunnel, ProxyError } from "./tunnel.ts";

/** Where a link leads. */
export interface LinkTarget {
  /** `host:port`, or `unix:` and a path: for messages, and as :authority. */
  readonly address: string;
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string };
  /** undefined: plain HTTP/2. */
  readonly tls: NodeTlsOptions | undefined;
  /** What stands in between; only where `at` is a host. */
  readonly proxy: Proxy | undefined;
}

export interface LinkTimes {
  /** TCP, the proxy, TLS and HTTP/2 together. */
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

/** A call on a link: what the link does to it. */
export abstract class LinkCall extends WireStream {
  /** When its time is over, by `performance.now()`. */
  abstract readonly dueMs: number;
  /** Its time was over when the process had no time to read; it is looked at once more. */
  overdue = false;
  /** The link has ended, or (`untouched`) the server will not look at this call. */
  abstract onLost(reason: LinkError, untouched: boolean): void;
  /** Its time is over. */
  abstract onDeadline(): void;
}

/** A ping that is sent because a call had no answer is not sent more often than this: servers take many pings for an attack. */
const PROBE_PAUSE_MS = 10_000;
const PROBE_PONG_MS = 5_000;
/** What comes before the client has said anything in TLS: a server's greeting in plain HTTP/2, mostly. */
const EARLY = "the server does not speak TLS; leave `tls` out, or set it to false (or the proxy sends something of its own)";
/** Time to read what lies there already. */
const READ_MS = 50;

export class Link {
  readonly #wire: Wire;
  readonly #socket: Socket;
  readonly #target: LinkTarget;
  readonly #times: LinkTimes;
  /** Wall clock, which goes on while a machine sleeps. */
  #lastHeard = Date.now();
  #pingMs: number;
  #pingTimer: ReturnType<typeof setTimeout> | undefined;
  #pinging: Promise<boolean> | undefined;
  /** Tells who waits for the ping's answer that none will come. */
  #endPing: () => void = () => {};
  #lastProbe = -Infinity;
  /** One timer for the deadlines of all calls: mostly none of them is ever reached. */
  #deadline: { readonly at: number; readonly timer: ReturnType<typeof setTimeout> } | undefined;
  #draining = false;
  #ended: LinkError | undefined;
  /** Since when the server has taken no calls at all (its limit is 0), by `performance.now()`; undefined while it does. */
  #shutSince: number | undefined;
  /** Calls that are about to be started here: they have waited for it. */
  reserved = 0;
  /** The server has answered a call here: it is more than something that takes connections. */
  proven = false;
  /** Told once, when the link has ended. */
  onEnd: (reason: LinkError) => void = () => {};
  /** There may be room for calls for which there was none. */
  onRoom: () => void = () => {};
  /** The server says that it was asked too often whether it is there. */
  onTooManyPings: () => void = () => {};

  private constructor({ socket, wire }: Connected, target: LinkTarget, times: LinkTimes) {
    this.#wire = wire;
    this.#socket = socket;
    this.#target = target;
    this.#times = times;
    this.#pingMs = times.pingMs;
    this.#limited();
    // An idle connection does not keep its process alive.
    socket.unref();
    this.#armPing();
  }

  /** Connects. Rejects with a LinkError that says what is wrong; never later than `connectMs`. */
  static async open(target: LinkTarget, times: LinkTimes, signal: AbortSignal): Promise<Link> {
    const events = new LinkEvents();
    const link = new Link(await connect(target, times.connectMs, signal, events), target, times);
    events.followedBy({
      heard: () => link.heard(),
      settings: () => link.#limited(),
      goAway: (code, data, untouched) => link.#goAway(code, data, untouched),
      broken: (error) => link.destroy(lost(error)),
      failed: (error) => link.destroy(lost(error)),
      closed: () => link.destroy(new LinkError("the server ended the connection")),
    });
    return link;
  }

  /** Takes new calls. */
  get usable(): boolean {
    return this.#ended === undefined && !this.#draining && !this.#wire.usedUp;
  }

  /** Why it has ended; undefined while it has not. */
  get ended(): LinkError | undefined {
    return this.#ended;
  }

  get openCalls(): number {
    return this.#wire.streams.size;
  }

  /** For how long the server has said, in milliseconds, that it takes no calls at all; undefined while it takes some. */
  get shutForMs(): number | undefined {
    return this.#shutSince === undefined ? undefined : performance.now() - this.#shutSince;
  }

  /** The server takes one more call on this connection. */
  get hasRoom(): boolean {
    return this.#wire.streams.size + this.reserved < this.#wire.maxStreams;
  }

  /** Nothing was heard for so long that a ping is due: the process, or the network, may have been away. */
  get doubtful(): boolean {
    return this.#silentMs() > this.#pingMs + this.#times.pongMs;
  }

  /** Sends a call; `key` names its header fields among all that this connection sends. Only while `usable`. */
  start(call: LinkCall, key: string, fields: () => FieldList, request: Uint8Array): void {
    if (this.#wire.streams.size === 0) this.#socket.ref();
    this.#wire.open(call, key, fields, request);
    this.#armDeadline(call.dueMs);
  }

  /** The call is given up. */
  cancel(call: LinkCall): void {
    this.#wire.reset(call, Reset.CANCEL);
    this.release();
  }

  /** A call is over. */
  release(): void {
    if (this.#ended !== undefined) return;
    if (this.#wire.streams.size === 0) {
      this.#socket.unref();
      if (this.#draining) return this.destroy(new LinkError("the server closed the connection"));
      if (this.#wire.usedUp) return this.destroy(new LinkError("the connection has no numbers left for calls"));
    }
    this.onRoom();
  }

  /** The server has said how many calls it takes at once. */
  #limited(): void {
    this.#shutSince = this.#wire.maxStreams > 0 ? undefined : this.#shutSince ?? performance.now();
    this.onRoom();
  }

  /** A wall clock that was put back tells nothing: then it was silent for as long as anybody asks. */
  #silentMs(): number {
    const ms = Date.now() - this.#lastHeard;
    return ms < 0 ? Infinity : ms;
  }

  /** Bytes have come. */
  heard(): void {
    this.#lastHeard = Date.now();
  }

  /** A call had no answer in its time: whether anybody is there is found out now, and not when the next ping is due. */
  probe(): void {
    const now = performance.now();
    if (now - this.#lastProbe < PROBE_PAUSE_MS || this.#ended !== undefined) return;
    this.#lastProbe = now;
    void this.ping(Math.min(PROBE_PONG_MS, this.#times.pongMs));
  }

  /** Whether the server answers a ping in time; the link ends when it does not. */
  ping(pongMs = this.#times.pongMs): Promise<boolean> {
    if (this.#ended !== undefined) return Promise.resolve(false);
    if (this.#pinging !== undefined) return this.#pinging;
    const pinging = new Promise<boolean>((resolve) => {
      const done = (answered: boolean) => {
        clearTimeout(timer);
        this.#pinging = undefined;
        if (answered) this.heard();
        resolve(answered);
      };
      const late = () => {
        this.destroy(new LinkError(`${this.#target.address} did not answer a keep-alive ping within ${pongMs} ms`));
      };
      // A process that computed meanwhile runs its timers before it reads what has come.
      let timer = setTimeout(() => {
        timer = setTimeout(late, READ_MS);
        timer.unref();
      }, pongMs);
      timer.unref();
      this.#endPing = () => done(false);
      this.#wire.ping(() => done(true));
    });
    this.#pinging = pinging;
    return pinging;
  }

  /**
   * Ends the connection and all its calls. Without a GOAWAY: the end of the socket says the same, and a server in Deno (2.9.5) may abort
   * its whole process over one (an assertion of nghttp2, find_stream_on_goaway_func).
   */
  destroy(reason: LinkError): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    clearTimeout(this.#pingTimer);
    clearTimeout(this.#deadline?.timer);
    const calls = [...this.#wire.streams.values()] as LinkCall[];
    this.#wire.end();
    this.#socket.destroy();
    for (const call of calls) call.onLost(reason, false);
    this.onEnd(reason);
    this.#endPing();
  }

  /** The server takes no more calls here, and finishes those that it has, unless it names an error. */
  #goAway(code: number, data: Uint8Array, untouched: readonly LinkCall[]): void {
    // The server counts pings and found them too many: the next connection asks half as often.
    if (new TextDecoder().decode(data) === "too_many_pings") this.onTooManyPings();
    const reason = new LinkError(`the server closed the connection (GOAWAY ${code})`);
    this.#draining = true;
    for (const call of untouched) call.onLost(reason, true);
    if (this.#ended !== undefined) return;
    if (code !== Reset.NO_ERROR || this.#wire.streams.size === 0) this.destroy(reason);
    else this.onRoom();
  }

  #armDeadline(at: number): void {
    if (this.#deadline !== undefined) {
      if (this.#deadline.at <= at) return;
      clearTimeout(this.#deadline.timer);
    }
    const timer = setTimeout(() => {
      this.#deadline = undefined;
      let next = Infinity;
      // (A timer may be early by a fraction of a millisecond.)
      const now = performance.now() + 1;
      // A process that computed meanwhile runs its timers before it reads what has come: the answer may lie there.
      const late = now - at > READ_MS;
      for (const call of [...this.#wire.streams.values()] as LinkCall[]) {
        if (call.dueMs > now) next = Math.min(next, call.dueMs);
        else if (!late || call.overdue) call.onDeadline();
        else {
          call.overdue = true;
          next = Math.min(next, now + READ_MS);
        }
      }
      if (next < Infinity && this.#ended === undefined) this.#armDeadline(next);
    }, Math.max(0, at - performance.now()));
    timer.unref();
    this.#deadline = { at, timer };
  }

  #armPing(): void {
    const due = this.#lastHeard + this.#pingMs - Date.now();
    this.#pingTimer = setTimeout(() => {
      if (this.#ended !== undefined) return;
      if (this.#silentMs() < this.#pingMs) this.#armPing();
      else void this.ping().then((answered) => answered && this.#armPing());
    }, Math.max(1, Math.min(due, this.#pingMs)));
    this.#pingTimer.unref();
  }
}

function lost(error: Error): LinkError {
  const { code } = error as { code?: unknown };
  return new LinkError(tidy(error.message), typeof code === "string" ? code : "", { cause: error });
}

interface Connected {
  readonly wire: Wire;
  readonly socket: Socket;
}

interface Follower {
  heard(): void;
  settings(): void;
  goAway(code: number, data: Uint8Array, untouched: readonly LinkCall[]): void;
  broken(error: Error): void;
  failed(error: Error): void;
  closed(): void;
}

/** What happens on a connection: first for the attempt to make it, then for the link. */
class LinkEvents {
  #follower: Follower | undefined;
  /** The end, if it came before there was anybody to tell. */
  #ended: ((follower: Follower) => void) | undefined;

  followedBy(follower: Follower): void {
    this.#follower = follower;
    this.#ended?.(follower);
  }

  tell(event: (follower: Follower) => void, ends: boolean): void {
    if (this.#follower !== undefined) event(this.#follower);
    else if (ends) this.#ended ??= event;
  }
}

/** A connection whose server has introduced itself. What happens on it afterwards is told to `events`. */
function connect(target: LinkTarget, timeoutMs: number, signal: AbortSignal, events: LinkEvents): Promise<Connected> {
  return new Promise((resolve, reject) => {
    const { at, tls, proxy } = target;
    let stage: Stage = proxy === undefined ? "tcp" : "proxy";
    let settled = false;
    let socket: Socket | TLSSocket | undefined;
    let wire: Wire | undefined;
    const settle = () => {
      settled = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    const fail = (error: Error | undefined, timedOut = false) => {
      if (settled) return;
      settle();
      wire?.end();
      const { message, code, setup } = explain({ error, timedOut, timeoutMs, stage, target });
      reject(new LinkError(message, code, error === undefined ? { setup } : { setup, cause: error }));
      socket?.destroy();
    };
    const failed = (error: Error) => {
      if (settled) events.tell((follower) => follower.failed(error), true);
      else fail(error);
    };
    // What was wrong is told by an error, where it is told; that may come behind the end itself.
    const closed = () => {
      if (settled) events.tell((follower) => follower.closed(), true);
      else setTimeout(fail, 0, undefined);
    };
    const onAbort = () => fail(new Error("the connection was closed meanwhile"));
    const timer = setTimeout(fail, timeoutMs, undefined, true);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });

    const watch = (made: Socket) => {
      made.on("error", failed);
      made.on("end", closed);
      made.on("close", closed);
      made.setNoDelay(true);
      socket = made;
    };
    const speak = () => {
      stage = "http2";
      wire = new Wire(socket!, {
        onSettings: () => {
          if (settled) return events.tell((follower) => follower.settings(), false);
          settle();
          resolve({ wire: wire!, socket: socket! });
        },
        onHeard: () => events.tell((follower) => follower.heard(), false),
        onGoAway: (code, data, untouched) => {
          if (!settled) return fail(new Error(`the server said goodbye at once (GOAWAY ${code})`));
          events.tell((follower) => follower.goAway(code, data, untouched as readonly LinkCall[]), true);
        },
        onBroken: (error) => {
          if (settled) events.tell((follower) => follower.broken(error), true);
          else fail(error);
        },
      });
    };
    /** TLS with the server, never with what stands in between: names and certificates are the server's. */
    const secure = (over: NodeTlsOptions) => {
      const made = nodeTlsModule().connect({ ...over, ...tls, ALPNProtocols: ["h2"] });
      made.once("secureConnect", () => {
        if (made.alpnProtocol === "h2") speak();
        else fail(Object.assign(new Error("no HTTP/2"), { code: "ERR_NO_ALPN" }));
      });
      watch(made);
      return made;
    };
    const through = (proxy: Proxy, to: { readonly host: string; readonly port: number }) => {
      const way = nodeNet().connect({ ...proxy.at });
      watch(way);
      way.once("connect", () => {
        if (settled) return;
        stage = "tunnel";
        enterTunnel(way, proxy, to, (error, early) => {
          if (settled) return;
          if (error !== undefined) return fail(error);
          if (tls === undefined) {
            speak();
            // A server may greet before it is greeted, and so right behind the proxy's answer.
            if (early.length > 0) way.unshift(early);
            way.resume();
            return;
          }
          // In TLS the client speaks first.
          if (early.length > 0) return fail(new ProxyError(EARLY, "ERR_PROXY_ANSWER", "perhaps"));
          stage = "tls";
          try {
            secure({ socket: way, host: to.host });
          } catch (error) {
            fail(error as Error);
          }
        });
      });
    };
    try {
      if ("path" in at) {
        const made = nodeNet().connect(at.path);
        made.once("connect", speak);
        watch(made);
      } else if (proxy !== undefined) {
        through(proxy, at);
      } else if (tls === undefined) {
        const made = nodeNet().connect({ ...at });
        made.once("connect", speak);
        watch(made);
      } else {
        secure({ ...at }).once("connect", () => stage = "tls");
      }
    } catch (error) {
      // A library that checks certificates before it connects.
      fail(error as Error);
    }
  });
}
