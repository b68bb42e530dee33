// A tab's engine worker, managed by its page: started, ended when the page is frozen or hidden, and
// restarted when the page returns. The workers of a frozen page are frozen as well, and would block
// lock and files for all other tabs. So the page ends the worker in its freeze event. That is safe
// at any time (P1).
import type { WebWorker } from "../platform/threads.ts";
import { EngineWorkerError } from "./errors.ts";
import type { EngineInit, FromEngine, FromLeader, ToEngine, ToLeader } from "./messages.ts";

export interface EngineEvents {
  message(message: FromEngine | FromLeader): void;
  /** The worker was ended and has released everything. */
  gone(): void;
  /** The worker cannot start, or its code failed. */
  broken(error: EngineWorkerError): void;
}

/** Delay before a crashed worker is restarted, up to MAX_DEATHS times in a row. */
const RESTART_MS = 1000;
const MAX_DEATHS = 5;
const CALM_MS = 60_000;

export class EngineProcess {
  readonly #make: () => WebWorker;
  readonly #init: EngineInit;
  readonly #events: EngineEvents;
  readonly #life = new AbortController();
  #worker: WebWorker | undefined;
  #spoke = false;
  #deaths = 0;
  #diedAt = 0;
  #restart: ReturnType<typeof setTimeout> | undefined;
  /** The worker that has resigned by itself; it has nothing to finish. */
  #idle: WebWorker | undefined;
  #hasResigned: () => void = () => (this.#idle = this.#worker);

  constructor(make: () => WebWorker, init: EngineInit, events: EngineEvents) {
    this.#make = make;
    this.#init = init;
    this.#events = events;
    const { signal } = this.#life;
    globalThis.document?.addEventListener("freeze", () => this.suspend(), { signal });
    globalThis.document?.addEventListener("resume", () => this.start(), { signal });
    globalThis.addEventListener?.("pagehide", () => this.suspend(), { signal });
    globalThis.addEventListener?.("pageshow", () => this.start(), { signal });
  }

  start(): void {
    clearTimeout(this.#restart);
    if (this.#worker !== undefined || this.#life.signal.aborted) return;
    let worker: WebWorker;
    try {
      worker = this.#make();
    } catch (e) {
      return this.#events.broken(explain((e as Error).message, e));
    }
    this.#worker = worker;
    worker.onmessage = ({ data }) => {
      if (this.#worker !== worker) return;
      this.#spoke = true;
      if ((data as FromEngine)?.k === "ping") return this.send({ k: "pong" });
      if ((data as FromEngine)?.k === "resigned") this.#hasResigned();
      this.#events.message(data as FromEngine | FromLeader);
    };
    worker.onmessageerror = () =>
      this.#died(worker, "a message from the worker cannot be deserialized");
    worker.onerror = (event) => {
      event.preventDefault?.();
      const at = event.filename ? ` (${event.filename}:${event.lineno})` : "";
      this.#died(worker, `${event.message || "its file could not be loaded"}${at}`);
    };
    worker.postMessage(this.#init);
  }

  #died(worker: WebWorker, reason: string): void {
    if (this.#worker !== worker) return;
    this.suspend();
    // Never sent a message: the file is missing or blocked, so a retry is useless.
    const now = performance.now();
    this.#deaths = now - this.#diedAt > CALM_MS ? 1 : this.#deaths + 1;
    this.#diedAt = now;
    if (!this.#spoke) return this.#events.broken(explain(reason));
    if (this.#deaths >= MAX_DEATHS) {
      return this.#events.broken(
        new EngineWorkerError(
          `the engine's worker has crashed ${this.#deaths} times within a minute; the last time: ${reason}. Reload the page.`,
        ),
      );
    }
    this.#restart = setTimeout(() => this.start(), RESTART_MS);
  }

  send(message: ToEngine | ToLeader): void {
    this.#worker?.postMessage(message);
  }

  /** Ends the worker at once; lock and files are released. */
  suspend(): void {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#worker = undefined;
    worker.onmessage = worker.onerror = worker.onmessageerror = null;
    worker.terminate();
    this.#events.gone();
  }

  /** Lets the worker finish (commit, close files), then ends it. */
  async close(withinMs: number): Promise<void> {
    this.#life.abort();
    clearTimeout(this.#restart);
    if (this.#worker !== undefined && this.#worker !== this.#idle) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        this.#hasResigned = () => {
          clearTimeout(timer);
          resolve();
        };
        this.send({ k: "resign" });
      });
    }
    this.suspend();
  }
}

function explain(reason: string, cause?: unknown): EngineWorkerError {
  return new EngineWorkerError(
    `the engine's worker could not be started: ${reason}. It must be served from this page's origin, and a content security policy must ` +
      "allow it (worker-src 'self'; script-src 'self' 'wasm-unsafe-eval'). With a bundler, write an entry file that calls " +
      'serveEngine(): engineWorker: () => new Worker(new URL("./engine.ts", import.meta.url), { type: "module" })',
    cause === undefined ? undefined : { cause },
  );
}
