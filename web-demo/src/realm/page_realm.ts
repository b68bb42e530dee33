// A realm for the code of a code set: a worker inside a sandboxed frame of an opaque origin, behind the determinism guard and a watchdog.
// `PageRealms` keeps what makes the next realm fast: the frame, and in it a worker that has its script and its core already.
import { createWorkerRealm, type ReplayOptions, type ReplayVerdict, type WorkerRealm } from "temporalex/slim";
import type { ReplayingRealm } from "temporalex/debug";
import type { Divergence } from "../../../ts/debug/divergence/types.ts";
import type { WebWorker } from "../../../ts/platform/threads.ts";
import type { Problem } from "../../../ts/modules/loader/errors.ts";
import type { LineOptions } from "../../../ts/modules/sources.ts";
import type { CodeSet } from "./code_set.ts";
import { CodeLoader } from "./load_code.ts";
import { SandboxFrame } from "./sandbox_frame.ts";

/** A workflow that computes for so long without yielding is ended, milliseconds. */
const WATCHDOG_MS = 2000;
const STARTUP_MS = 10_000;

/** What was ended on request. */
export class StoppedError extends Error {
  override name = "StoppedError";

  constructor() {
    super("the code was stopped");
  }
}

/** Runs the files of one code set. For `openSession` of "temporalex/debug". */
export interface PageRealm extends ReplayingRealm, Pick<WorkerRealm, "runTask" | "evict"> {
  /** With the files that the entry needs. */
  readonly code: CodeSet;
  /** What the loader warned of. */
  readonly warnings: readonly Problem[];
  /**
   * Starts the worker of the next text, which then has its script and its core already. Call it after the verdict: to
   * start one takes more of the processor than most replays.
   */
  prepareNext(): void;
  /** Ends it; replays that are open reject. */
  dispose(): void;
}

/** Makes realms for one open run, each for another text of its code. The next one ends the one before. */
export class PageRealms {
  readonly #loader = new CodeLoader();
  #frame: Promise<SandboxFrame> | undefined;
  /** Ends a frame that is still loading. */
  #framing = new AbortController();
  #spare: WebWorker | undefined;
  /** The code set that was opened last: one that is opened again is being edited. */
  #last = "";
  #current: { dispose(): void } | undefined;
  #disposed = false;

  /**
   * Loads the code and starts a realm with it. The caller has made sure that the code may run (permission.ts). Rejects with a
   * WorkflowLoadError that names file and line of everything that cannot be loaded, and with a StoppedError where it is ended first.
   */
  async open(code: CodeSet, lines: LineOptions = true): Promise<PageRealm> {
    this.#current?.dispose();
    const stop = stoppable();
    this.#current = { dispose: stop.now };
    // Frame and core are made while the code is read.
    const framed = this.#opened();
    framed.catch(() => {});
    const { graph, hasConverter, code: loaded } = await stop.race(this.#loader.load(code, lines));
    const frame = await stop.race(framed);
    const ended = new AbortController();
    // Also a worker that is kept by the top level of a module.
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

  /** Ends what runs, at once, and everything that was kept for the next realm. */
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

  /** As `stop`, for good. */
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
      // A stop that came meanwhile has nothing to remove: no frame may be made after it.
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
    if (this.#spare === undefined && !this.#disposed && !frame.removed) this.#spare = frame.worker(isEdited);
  }
}

/** A promise of a stop that may come at any time. */
interface Stop {
  now(): void;
  then(listener: () => void): void;
  readonly stopped: boolean;
  /** What the promise gives, unless the stop comes first. */
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

/** What a realm needs of who made it. */
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

  async replay(workflowId: string, history: Uint8Array, options?: ReplayOptions): Promise<ReplayVerdict> {
    const verdict = await this.#stop.race(this.#realm.replay(workflowId, history, options));
    const { error } = verdict;
    if (error?.divergence === undefined) return verdict;
    return { ...verdict, error: { ...error, divergence: await this.#stop.race(this.#owner.inLines(error.divergence)) } };
  }

  async runTask(...args: Parameters<WorkerRealm["runTask"]>): ReturnType<WorkerRealm["runTask"]> {
    return await this.#stop.race(this.#realm.runTask(...args));
  }

  evict(runId: string): void {
    this.#realm.evict(runId);
  }

  prepareNext(): void {
    // Another text has come: its realm takes what there is.
    if (!this.#stop.stopped) this.#owner.prepareNext();
  }

  dispose(): void {
    this.#stop.now();
  }
}
