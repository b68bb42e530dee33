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
import { tidy } from "./connect_errors.ts";
import type { FieldList } from "./http2/hpack.ts";
import { Reset } from "./http2/frames.ts";
import type { Wire } from "./http2/wire.ts";
import type { LinkCall } from "./link_call.ts";
import { connect, type Connected, LinkEvents } from "./link_connect.ts";
import { LinkError, type LinkTarget } from "./link_target.ts";

export interface LinkTimes {
  /** TCP, the proxy, TLS and HTTP/2 together. */
  readonly connectMs: number;
  /** Silence after which a ping is sent. */
  readonly pingMs: number;
  /** Time in which a ping is answered. */
  readonly pongMs: number;
}

/** A ping that is sent because a call had no answer is not sent more often than this: servers take many pings for an attack. */
const PROBE_PAUSE_MS = 10_000;
const PROBE_PONG_MS = 5_000;
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
    events.listenedBy({
      heard: () => link.heard(),
      settings: () => link.#limited(),
      goAway: (code, data, untouched) => link.#goAway(code, data, untouched),
      broken: (error) => link.destroy(lost(error)),
      failed: (error) => link.destroy(lost(error)),
      closed: () => link.destroy(new LinkError("the server closed the connection")),
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
      if (this.#wire.usedUp) return this.destroy(new LinkError("the connection has used up its stream ids"));
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
        this.destroy(new LinkError(`${this.#target.address} did not acknowledge a keep-alive PING within ${pongMs} ms`));
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
