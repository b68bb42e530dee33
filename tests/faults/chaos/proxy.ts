// A network that misbehaves: a TCP proxy in front of a server that cuts, resets, delays, half-opens
// and refuses connections, as a seed says. It knows nothing of the protocol, so it breaks frames in
// the middle as real networks do.
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A small generator of random numbers (splitmix32), so that a run can be had again. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / 2 ** 32;
  };
}

export const MISHAPS = [
  "cut",
  "cutMidway",
  "reset",
  "delay",
  "halfOpen",
  "loseAnswers",
  "refuse",
  "mute",
] as const;
/**
 * cut: both sides see an end. cutMidway: the same, in the middle of a response. reset: RST. delay:
 * bytes come late, in order. halfOpen: nothing arrives any more, in either direction, without an
 * error. loseAnswers: requests arrive, responses do not; then a cut. refuse: for a while new
 * connections are closed at once. mute: for a while new connections are accepted and get no
 * response.
 */
export type Mishap = typeof MISHAPS[number];

export interface ProxyOptions {
  /** `host:port` of the server. */
  target: string;
  random: () => number;
  /** Milliseconds between mishaps: from, to. */
  pause?: readonly [number, number];
}

interface Way {
  readonly client: Socket;
  readonly server: Socket;
  silent: boolean;
  deaf: boolean;
  delayMs: number;
  /** The next answer is cut after so many bytes. */
  cutAfter: number | undefined;
}

export class ChaosProxy {
  readonly address: string;
  /** How often each mishap happened to at least one connection (or began, for refuse and mute). */
  readonly counts: { [mishap in Mishap]: number } = {
    cut: 0,
    cutMidway: 0,
    reset: 0,
    delay: 0,
    halfOpen: 0,
    loseAnswers: 0,
    refuse: 0,
    mute: 0,
  };
  /** Connections taken in all. */
  connections = 0;
  readonly #server: Server;
  readonly #options: ProxyOptions;
  readonly #ways = new Set<Way>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #mode: "open" | "refuse" | "mute" = "open";
  #running = false;

  private constructor(server: Server, options: ProxyOptions) {
    this.#server = server;
    this.#options = options;
    this.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("connection", (socket) => this.#take(socket));
  }

  static start(options: ProxyOptions): Promise<ChaosProxy> {
    const server = createServer();
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", () => resolve(new ChaosProxy(server, options)));
    });
  }

  /** Begins to misbehave. */
  begin(): void {
    this.#running = true;
    this.#next();
  }

  /**
   * The behavior from now on. A half-open connection stays half open: its peers have to detect it.
   */
  calm(): void {
    this.#running = false;
    this.#mode = "open";
    for (const way of this.#ways) way.delayMs = 0;
  }

  /** One mishap now. */
  happen(mishap: Mishap): void {
    const { random } = this.#options;
    const all = [...this.#ways];
    // One connection, or every one.
    const hit = random() < 0.3
      ? all
      : all.length === 0
      ? []
      : [all[Math.floor(random() * all.length)]!];
    if (mishap === "refuse" || mishap === "mute") {
      this.#mode = mishap;
      this.counts[mishap]++;
      // A client has to connect first.
      for (const way of hit) this.#cut(way);
      this.#after(200 + random() * 1200, () => this.#mode = "open");
      return;
    }
    if (hit.length > 0) this.counts[mishap]++;
    for (const way of hit) this.#befall(way, mishap, random);
  }

  async stop(): Promise<void> {
    this.#running = false;
    for (const timer of this.#timers) clearTimeout(timer);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const way of this.#ways) this.#cut(way);
    await closed;
  }

  #befall(way: Way, mishap: Mishap, random: () => number): void {
    if (mishap === "cut") this.#cut(way);
    if (mishap === "cutMidway") way.cutAfter = Math.floor(random() * 200);
    if (mishap === "reset") this.#reset(way);
    if (mishap === "halfOpen") way.silent = true;
    if (mishap === "delay") {
      way.delayMs = 20 + random() * 600;
      this.#after(1000, () => way.delayMs = 0);
    }
    if (mishap === "loseAnswers") {
      way.deaf = true;
      this.#after(100 + random() * 400, () => this.#cut(way));
    }
  }

  #next(): void {
    const { random, pause: [from, to] = [300, 1500] } = this.#options;
    this.#after(from + random() * (to - from), () => {
      if (!this.#running) return;
      this.happen(MISHAPS[Math.floor(random() * MISHAPS.length)]!);
      this.#next();
    });
  }

  #after(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }

  #take(client: Socket): void {
    this.connections++;
    client.on("error", () => {});
    if (this.#mode === "refuse") return void client.destroy();
    const at = this.#options.target.lastIndexOf(":");
    const host = this.#options.target.slice(0, at);
    const server = connect(Number(this.#options.target.slice(at + 1)), host);
    server.on("error", () => {});
    const way: Way = {
      client,
      server,
      silent: this.#mode === "mute",
      deaf: false,
      delayMs: 0,
      cutAfter: undefined,
    };
    this.#ways.add(way);
    client.setNoDelay(true);
    server.setNoDelay(true);
    this.#carry(way, client, server, false);
    this.#carry(way, server, client, true);
    // On a half-open connection an end does not arrive either; but a connection that its owner has
    // closed is gone.
    client.on("close", () => this.#cut(way));
    server.on("close", () => way.silent || this.#cut(way));
  }

  #carry(way: Way, from: Socket, to: Socket, answers: boolean): void {
    let last = Promise.resolve();
    from.on("data", (chunk: Uint8Array) => {
      if (way.silent || (answers && way.deaf)) return;
      if (answers && way.cutAfter !== undefined) {
        to.write(chunk.subarray(0, way.cutAfter), () => this.#cut(way));
        way.silent = true;
        return;
      }
      const ms = way.delayMs;
      from.pause();
      last = last.then(async () => {
        if (ms > 0) await new Promise<void>((resolve) => this.#after(ms, resolve));
        if (!way.silent && !to.destroyed && !to.write(chunk)) {
          await new Promise((resolve) => to.once("drain", resolve).once("close", resolve));
        }
        from.resume();
      });
    });
  }

  #cut(way: Way): void {
    this.#ways.delete(way);
    way.client.destroy();
    way.server.destroy();
  }

  #reset(way: Way): void {
    this.#ways.delete(way);
    for (const socket of [way.client, way.server]) {
      if (typeof socket.resetAndDestroy === "function") socket.resetAndDestroy();
      else socket.destroy();
    }
  }
}
