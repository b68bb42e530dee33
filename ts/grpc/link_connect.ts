// Connects a link: TCP or a Unix socket, optionally through a proxy and with TLS, up to the
// server's first SETTINGS, within one timeout.
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import type { ConnectionOptions as NodeTlsOptions, TLSSocket } from "node:tls";
import { explain, type Stage } from "./connect_errors.ts";
import { Wire } from "./http2/wire.ts";
import type { LinkCall } from "./link_call.ts";
import { LinkError, type LinkTarget } from "./link_target.ts";
import { nodeNet, nodeTlsModule } from "./node_net.ts";
import type { Proxy } from "./proxy.ts";
import { enterTunnel, ProxyError } from "./tunnel.ts";

/** Error for data before the TLS handshake: usually the preface of a server with plain HTTP/2. */
const EARLY =
  "the server does not support TLS; omit `tls`, or set it to false (or the proxy sent other data)";
export interface Connected {
  readonly wire: Wire;
  readonly socket: Socket;
}

export interface LinkListener {
  heard(): void;
  settings(): void;
  goAway(code: number, data: Uint8Array, untouched: readonly LinkCall[]): void;
  broken(error: Error): void;
  failed(error: Error): void;
  closed(): void;
}

/** Events of a connection: first for the attempt, then for the link. */
export class LinkEvents {
  #listener: LinkListener | undefined;
  /** The end of the connection, if it came before a listener was set. */
  #ended: ((listener: LinkListener) => void) | undefined;

  listenedBy(listener: LinkListener): void {
    this.#listener = listener;
    this.#ended?.(listener);
  }

  emit(event: (listener: LinkListener) => void, ends: boolean): void {
    if (this.#listener !== undefined) event(this.#listener);
    else if (ends) this.#ended ??= event;
  }
}

/** Returns a connection whose server has sent SETTINGS. `events` receives its further events. */
export function connect(
  target: LinkTarget,
  timeoutMs: number,
  signal: AbortSignal,
  events: LinkEvents,
): Promise<Connected> {
  return new Promise((resolve, reject) =>
    new Connecting(target, timeoutMs, signal, events, { resolve, reject }).start()
  );
}

class Connecting {
  readonly #target: LinkTarget;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal;
  readonly #events: LinkEvents;
  readonly #outcome: { resolve(connected: Connected): void; reject(reason: LinkError): void };
  #stage: Stage;
  #settled = false;
  #socket: Socket | TLSSocket | undefined;
  #wire: Wire | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    target: LinkTarget,
    timeoutMs: number,
    signal: AbortSignal,
    events: LinkEvents,
    outcome: { resolve(connected: Connected): void; reject(reason: LinkError): void },
  ) {
    this.#target = target;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
    this.#events = events;
    this.#outcome = outcome;
    this.#stage = target.proxy === undefined ? "tcp" : "proxy";
  }

  start(): void {
    this.#timer = setTimeout(() => this.#fail(undefined, true), this.#timeoutMs);
    if (this.#signal.aborted) return this.#onAbort();
    this.#signal.addEventListener("abort", this.#onAbort, { once: true });
    try {
      this.#open(this.#target);
    } catch (error) {
      // A library that checks certificates before it connects.
      this.#fail(error as Error);
    }
  }

  #open({ at, tls, proxy }: LinkTarget): void {
    if ("path" in at) {
      const made = nodeNet().connect(at.path);
      made.once("connect", () => this.#speak());
      this.#watch(made);
    } else if (proxy !== undefined) {
      this.#through(proxy, at);
    } else if (tls === undefined) {
      const made = nodeNet().connect({ ...at });
      made.once("connect", () => this.#speak());
      this.#watch(made);
    } else {
      this.#secure({ ...at }).once("connect", () => this.#stage = "tls");
    }
  }

  #watch(made: Socket): void {
    made.on("error", this.#failed);
    made.on("end", this.#closed);
    made.on("close", this.#closed);
    made.setNoDelay(true);
    this.#socket = made;
  }

  #through(proxy: Proxy, to: { readonly host: string; readonly port: number }): void {
    const way = nodeNet().connect({ ...proxy.at });
    this.#watch(way);
    way.once("connect", () => {
      if (this.#settled) return;
      this.#stage = "tunnel";
      enterTunnel(way, proxy, to, (error, early) => {
        if (this.#settled) return;
        if (error !== undefined) return this.#fail(error);
        this.#tunnelled(way, to.host, early);
      });
    });
  }

  /** The tunnel of the proxy is open. `early`: bytes after the proxy's response. */
  #tunnelled(way: Socket, host: string, early: Uint8Array): void {
    if (this.#target.tls === undefined) {
      this.#speak();
      // A server can send its preface first, directly after the proxy's response.
      if (early.length > 0) way.unshift(early);
      way.resume();
      return;
    }
    // In TLS the client sends first.
    if (early.length > 0) return this.#fail(new ProxyError(EARLY, "ERR_PROXY_ANSWER", "perhaps"));
    this.#stage = "tls";
    try {
      this.#secure({ socket: way, host });
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /** TLS with the server, not with the proxy: names and certificates are the server's. */
  #secure(over: NodeTlsOptions): TLSSocket {
    const made = nodeTlsModule().connect({ ...over, ...this.#target.tls, ALPNProtocols: ["h2"] });
    made.once("secureConnect", () => {
      if (made.alpnProtocol === "h2") this.#speak();
      else this.#fail(Object.assign(new Error("no HTTP/2"), { code: "ERR_NO_ALPN" }));
    });
    this.#watch(made);
    return made;
  }

  #speak(): void {
    this.#stage = "http2";
    const socket = this.#socket!;
    const events = this.#events;
    const wire = this.#wire = new Wire(socket, {
      onSettings: () => {
        if (this.#settled) return events.emit((listener) => listener.settings(), false);
        this.#settle();
        this.#outcome.resolve({ wire, socket });
      },
      onHeard: () => events.emit((listener) => listener.heard(), false),
      onGoAway: (code, data, untouched) => {
        if (!this.#settled) {
          return this.#fail(new Error(`the server closed the connection at once (GOAWAY ${code})`));
        }
        events.emit(
          (listener) => listener.goAway(code, data, untouched as readonly LinkCall[]),
          true,
        );
      },
      onBroken: (error) => {
        if (this.#settled) events.emit((listener) => listener.broken(error), true);
        else this.#fail(error);
      },
    });
  }

  #settle(): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#onAbort);
  }

  #fail(error: Error | undefined, timedOut = false): void {
    if (this.#settled) return;
    this.#settle();
    this.#wire?.end();
    const { message, code, setup } = explain({
      error,
      timedOut,
      timeoutMs: this.#timeoutMs,
      stage: this.#stage,
      target: this.#target,
    });
    this.#outcome.reject(
      new LinkError(message, code, error === undefined ? { setup } : { setup, cause: error }),
    );
    this.#socket?.destroy();
  }

  readonly #onAbort = (): void => this.#fail(new Error("the connection was closed during connect"));

  readonly #failed = (error: Error): void => {
    if (this.#settled) this.#events.emit((listener) => listener.failed(error), true);
    else this.#fail(error);
  };

  /** Waits for the error with the reason, which may follow the end of the socket. */
  readonly #closed = (): void => {
    if (this.#settled) this.#events.emit((listener) => listener.closed(), true);
    else setTimeout(() => this.#fail(undefined), 0);
  };
}
