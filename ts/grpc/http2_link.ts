// One HTTP/2 client connection with a connect timeout, pings, GOAWAY handling and a common end for
// all its calls; `http2/wire.ts` has the protocol. It is ready after the server's SETTINGS, not
// after TCP or TLS: a server can still reject a client certificate after its TLS handshake. It is
// alive while bytes or ping responses arrive; silence is normal, because polls wait for a minute.
// Its end fails all calls in the same turn with the same reason.
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
  /** Timeout of TCP, proxy, TLS and HTTP/2 together. */
  readonly connectMs: number;
  /** Silence before a ping. */
  readonly pingMs: number;
  /** Time for the response to a ping. */
  readonly pongMs: number;
}

/**
 * Minimum interval of pings that follow a timed-out call: servers treat many pings as an attack.
 */
const PROBE_PAUSE_MS = 10_000;
const PROBE_PONG_MS = 5_000;
/** Time to read data that has arrived already. */
const READ_MS = 50;

export class Link {
  readonly #wire: Wire;
  readonly #socket: Socket;
  readonly #target: LinkTarget;
  readonly #times: LinkTimes;
  /** Wall clock, which continues while a machine sleeps. */
  #lastHeard = Date.now();
  #pingMs: number;
  #pingTimer: ReturnType<typeof setTimeout> | undefined;
  #pinging: Promise<boolean> | undefined;
  /** Ends the wait for a ping's response. */
  #endPing: () => void = () => {};
  #lastProbe = -Infinity;
  /** One timer for the deadlines of all calls, because most are never reached. */
  #deadline: { readonly at: number; readonly timer: ReturnType<typeof setTimeout> } | undefined;
  #draining = false;
  #ended: LinkError | undefined;
  /**
   * Since when the server accepts no calls (its limit is 0), in `performance.now()` ms; otherwise
   * undefined.
   */
  #shutSince: number | undefined;
  /** Calls that have waited for this connection and are about to start. */
  reserved = 0;
  /** True after the first completed call: the server does more than accept connections. */
  proven = false;
  /** Called once, when the link has ended. */
  onEnd: (reason: LinkError) => void = () => {};
  /** Called when there may be room for more calls. */
  onRoom: () => void = () => {};
  /** Called when the server reports too many pings. */
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

  /** Connects within `connectMs`. Rejects with a LinkError that has the reason. */
  static async open(target: LinkTarget, times: LinkTimes, signal: AbortSignal): Promise<Link> {
    const events = new LinkEvents();
    const link = new Link(await connect(target, times.connectMs, signal, events), target, times);
    events.listenedBy({
      heard: () => link.heard(),
      settings: () => link.#limited(),
      goAway: (code, data, untouched) => link.#goAway(code, data, untouched),
      broken: (error) => link.destroy(lost(error)),
      failed: (error) => link.destroy(lost(error)),
      closed: () => link.destroy(link.#closedByServer()),
    });
    return link;
  }

  /** True while new calls are accepted. */
  get usable(): boolean {
    return this.#ended === undefined && !this.#draining && !this.#wire.usedUp;
  }

  /** Reason of the end; undefined while the link is open. */
  get ended(): LinkError | undefined {
    return this.#ended;
  }

  get openCalls(): number {
    return this.#wire.streams.size;
  }

  /** Milliseconds for which the server has accepted no calls; undefined while it accepts some. */
  get shutForMs(): number | undefined {
    return this.#shutSince === undefined ? undefined : performance.now() - this.#shutSince;
  }

  /** True if the server accepts another call on this connection. */
  get hasRoom(): boolean {
    return this.#wire.streams.size + this.reserved < this.#wire.maxStreams;
  }

  /**
   * True after a silence that makes a ping due: the process or the network may have been suspended.
   */
  get doubtful(): boolean {
    return this.#silentMs() > this.#pingMs + this.#times.pongMs;
  }

  /** Sends a call; `key` identifies its header fields on this connection. Only while `usable`. */
  start(call: LinkCall, key: string, fields: () => FieldList, request: Uint8Array): void {
    if (this.#wire.streams.size === 0) this.#socket.ref();
    this.#wire.open(call, key, fields, request);
    this.#armDeadline(call.dueMs);
  }

  /** Cancels a call. */
  cancel(call: LinkCall): void {
    this.#wire.reset(call, Reset.CANCEL);
    this.release();
  }

  #closedByServer(): LinkError {
    return new LinkError(`the server at ${this.#target.address} closed the connection`);
  }

  /** Called when a call has ended. */
  release(): void {
    if (this.#ended !== undefined) return;
    if (this.#wire.streams.size === 0) {
      this.#socket.unref();
      if (this.#draining) return this.destroy(this.#closedByServer());
      if (this.#wire.usedUp) {
        return this.destroy(new LinkError("the connection has used up its stream ids"));
      }
    }
    this.onRoom();
  }

  /** Called when the server has changed its limit of concurrent calls. */
  #limited(): void {
    this.#shutSince = this.#wire.maxStreams > 0 ? undefined : this.#shutSince ?? performance.now();
    this.onRoom();
  }

  /** Returns the silence in ms; infinite if the wall clock was set back. */
  #silentMs(): number {
    const ms = Date.now() - this.#lastHeard;
    return ms < 0 ? Infinity : ms;
  }

  /** Bytes have arrived. */
  heard(): void {
    this.#lastHeard = Date.now();
  }

  /** Pings after a timed-out call, without waiting for the next regular ping. */
  probe(): void {
    const now = performance.now();
    if (now - this.#lastProbe < PROBE_PAUSE_MS || this.#ended !== undefined) return;
    this.#lastProbe = now;
    void this.ping(Math.min(PROBE_PONG_MS, this.#times.pongMs));
  }

  /** Resolves to whether the server responds to a ping in time; the link ends if not. */
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
        this.destroy(
          new LinkError(
            `${this.#target.address} did not acknowledge a keep-alive PING within ${pongMs} ms`,
          ),
        );
      };
      // After a long computation, timers run before received data is read.
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
   * Closes the connection and all its calls. Sends no GOAWAY: closing the socket has the same
   * effect, and a Deno server (2.9.5) can abort its process on GOAWAY (nghttp2's assertion
   * find_stream_on_goaway_func).
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

  /**
   * The server accepts no more calls here and finishes the current ones, unless it reports an
   * error.
   */
  #goAway(code: number, data: Uint8Array, untouched: readonly LinkCall[]): void {
    // Too many pings for the server: the next connection doubles the interval.
    if (new TextDecoder().decode(data) === "too_many_pings") this.onTooManyPings();
    const reason = new LinkError(
      `the server at ${this.#target.address} closed the connection (GOAWAY ${code})`,
    );
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
      // A timer can fire a fraction of a millisecond early.
      const now = performance.now() + 1;
      // After a long computation, timers run before received data is read, which may include the
      // response.
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
      else void this.ping().then((alive) => alive && this.#armPing());
    }, Math.max(1, Math.min(due, this.#pingMs)));
    this.#pingTimer.unref();
  }
}

function lost(error: Error): LinkError {
  const { code } = error as { code?: unknown };
  return new LinkError(tidy(error.message), typeof code === "string" ? code : "", { cause: error });
}
