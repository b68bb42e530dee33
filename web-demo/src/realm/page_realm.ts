// A realm for a code set: a worker in a sandboxed frame of an opaque origin, behind the determinism
// guard and a watchdog. `PageRealms` keeps the frame, and in it a spare worker that has loaded
// script and core, so that the next realm starts fast.
import {
  createWorkerRealm,
  type ReplayOptions,
  type ReplayVerdict,
  type WorkerRealm,
} from "temporalex/slim";
import type { ReplayingRealm } from "temporalex/debug";
import type { Divergence } from "../../../ts/debug/divergence/types.ts";
import type { WebWorker } from "../../../ts/platform/threads.ts";
import type { Problem } from "../../../ts/modules/loader/errors.ts";
import type { LineOptions } from "../../../ts/modules/sources.ts";
import type { CodeSet } from "../store/code_set.ts";
import { CodeLoader } from "./load_code.ts";
import { SandboxFrame } from "./sandbox_frame.ts";

/** Milliseconds. A workflow that computes longer without yielding is terminated. */
const WATCHDOG_MS = 2000;
const STARTUP_MS = 10_000;

/** The code was stopped on request. */
export class StoppedError extends Error {
  override name = "StoppedError";

  constructor() {
    super("the code was stopped");
  }
}

/** Runs the files of one code set. Used by `openSession` of "temporalex/debug". */
export interface PageRealm extends ReplayingRealm, Pick<WorkerRealm, "runTask" | "evict"> {
  /** The code set with the files that the entry needs. */
  readonly code: CodeSet;
  /** Warnings of the loader. */
  readonly warnings: readonly Problem[];
  /**
   * Starts the worker of the next text, so that it has loaded script and core. Call it after the
   * verdict, because starting a worker takes more CPU than most replays.
   */
  prepareNext(): void;
  /** Stops the code; open replays reject. */
  dispose(): void;
}

/**
 * Creates the realms of one open run, one for each text of its code. Each realm replaces the
 * previous one.
 */
export class PageRealms {
  readonly #loader = new CodeLoader();
  #frame: Promise<SandboxFrame> | undefined;
  /** Removes a frame that is still loading. */
  #framing = new AbortController();
  #spare: WebWorker | undefined;
  /** Id of the last code set: a set that is opened again is being edited. */
  #last = "";
  #current: { dispose(): void } | undefined;
  #disposed = false;

  /**
   * Loads the code and starts a realm. The caller has checked that the code may run
   * (permission.ts). Rejects with a WorkflowLoadError that lists file and line of all errors, or
   * with a StoppedError.
   */
  async open(code: CodeSet, lines: LineOptions = true): Promise<PageRealm> {
    this.#current?.dispose();
    const stop = stoppable();
    this.#current = { dispose: stop.now };
    // Frame and core are loaded while the code is read.
    const framed = this.#opened();
    framed.catch(() => {});
    const { graph, hasConverter, code: loaded } = await stop.race(this.#loader.load(code, lines));
    const frame = await stop.race(framed);
    const ended = new AbortController();
    // Also stops a worker in which the top level of a module does not return.
    stop.then(() => ended.abort());
    const starting = createWorkerRealm({
      entry: () => this.#worker(frame),
      entryHasCore: true,
      graph: () => Promise.resolve({ graph, hasConverter }),
      lines,
      watchdogMs: WATCHDOG_MS,
      startupMs: STARTUP_MS,
      maxQuarantine: 1,
      signal: ended.signal,
    });
    const realm = await stop.race(starting);
    const isEdited = this.#last === code.id;
    this.#last = code.id;
    return new SandboxedRealm(realm, loaded, stop, {
      inLines: (divergence) => this.#loader.inLines(divergence),
      prepareNext: () => this.#spareFor(frame, isEdited),
    });
  }

  /** Stops the code, and discards everything that was kept for the next realm. */
  stop(): void {
    this.#current?.dispose();
    this.#current = undefined;
    this.#spare = undefined;
    this.#loader.stop();
    this.#framing.abort();
    this.#framing = new AbortController();
    const frame = this.#frame;
    this.#frame = undefined;
    void frame?.then((opened) => opened.remove(), () => {});
  }

  /** Like `stop`, permanently. */
  dispose(): void {
    this.stop();
    this.#disposed = true;
  }

  #opened(): Promise<SandboxFrame> {
    if (this.#disposed) return Promise.reject(new StoppedError());
    const before = this.#frame ?? Promise.resolve(undefined);
    const { signal } = this.#framing;
    return this.#frame = before.catch(() => undefined).then(async (frame) => {
      if (frame !== undefined && !frame.removed) return frame;
      // After a stop in the meantime, no frame may be created.
      signal.throwIfAborted();
      this.#spare = undefined;
      return await SandboxFrame.open({ signal });
    });
  }

  #worker(frame: SandboxFrame): WebWorker {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare ?? frame.worker();
  }

  #spareFor(frame: SandboxFrame, isEdited: boolean): void {
    if (this.#spare === undefined && !this.#disposed && !frame.removed) {
      this.#spare = frame.worker(isEdited);
    }
  }
}

/** A stop that can be requested at any time. */
interface Stop {
  now(): void;
  then(listener: () => void): void;
  readonly stopped: boolean;
  /** The result of the promise, or a rejection at the stop. */
  race<T>(promise: Promise<T>): Promise<T>;
}

function stoppable(): Stop {
  const listeners = new Set<() => void>();
  let stopped = false;
  return {
    now: () => {
      stopped = true;
      for (const listener of listeners) listener();
      listeners.clear();
    },
    get stopped() {
      return stopped;
    },
    then: (listener) => void (stopped ? listener() : listeners.add(listener)),
    race: (promise) =>
      new Promise((resolve, reject) => {
        const stop = () => reject(new StoppedError());
        if (stopped) stop();
        listeners.add(stop);
        promise.then(resolve, reject).finally(() => listeners.delete(stop));
      }),
  };
}

/** What a realm needs from its creator. */
interface RealmOwner {
  inLines(divergence: Divergence): Promise<Divergence>;
  prepareNext(): void;
}

class SandboxedRealm implements PageRealm {
  readonly code: CodeSet;
  readonly #realm: WorkerRealm;
  readonly #stop: Stop;
  readonly #owner: RealmOwner;

  constructor(realm: WorkerRealm, code: CodeSet, stop: Stop, owner: RealmOwner) {
    this.#realm = realm;
    this.code = code;
    this.#stop = stop;
    this.#owner = owner;
  }

  get workflowTypes(): readonly string[] {
    return this.#realm.workflowTypes;
  }

  get takesAnyType(): boolean {
    return this.#realm.takesAnyType;
  }

  get warnings(): readonly Problem[] {
    return this.#realm.warnings;
  }

  async replay(
    workflowId: string,
    history: Uint8Array,
    options?: ReplayOptions,
  ): Promise<ReplayVerdict> {
    const verdict = await this.#stop.race(this.#realm.replay(workflowId, history, options));
    const { error } = verdict;
    if (error?.divergence === undefined) return verdict;
    return {
      ...verdict,
      error: { ...error, divergence: await this.#stop.race(this.#owner.inLines(error.divergence)) },
    };
  }

  async runTask(...args: Parameters<WorkerRealm["runTask"]>): ReturnType<WorkerRealm["runTask"]> {
    return await this.#stop.race(this.#realm.runTask(...args));
  }

  evict(runId: string): void {
    this.#realm.evict(runId);
  }

  prepareNext(): void {
    // After a stop the newer text uses the spare worker.
    if (!this.#stop.stopped) this.#owner.prepareNext();
  }

  dispose(): void {
    this.#stop.now();
  }
}
