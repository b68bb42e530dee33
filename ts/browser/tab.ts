// One tab: its engine worker, calls, workflow worker, and knowledge of other tabs.
import type { Logger } from "../base/logger.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { randomId } from "../platform/host.ts";
import type { WebWorker } from "../platform/threads.ts";
import type { Worker as WorkflowWorker } from "../worker/worker.ts";
import { fromData } from "./error_data.ts";
import { EngineProcess } from "./engine_process.ts";
import { NoLeaderError, PageOutdatedError } from "./errors.ts";
import {
  channelOf,
  commonChannel,
  type EngineInit,
  type FromEngine,
  type FromLeader,
  type Hail,
  isHail,
  isNewer,
  ownVersions,
  TAB_PROTOCOL,
} from "./messages.ts";
import { TabService } from "./tab_service.ts";
import { type HostedWorker, WorkflowHost } from "./workflow_host.ts";

/** Current state of a tab. */
export interface TabStatus {
  /**
   * "leader": the store is open here. "follower": another tab leads. "none": no leader is known
   * (for a moment, or see `problem`).
   */
  readonly role: "leader" | "follower" | "none";
  /** Address of the leader; changes with each leader. */
  readonly leader: string | undefined;
  /** Why this tab cannot lead, or cannot work at all; undefined without a problem. */
  readonly problem: Error | undefined;
}

export interface TabOptions {
  readonly name: string;
  readonly logger: Logger;
  readonly engineWorker: () => WebWorker;
  /** Initial message of the engine worker; undefined if this tab never leads. */
  readonly init: Omit<EngineInit, "k" | "name"> | undefined;
  readonly worker: () => Promise<HostedWorker>;
}

/** Time that a tab that does not lead waits for a leader. */
const FIND_LEADER_MS = 5000;
const ASK_AGAIN_MS = 3000;
/** Minimum interval between logs of the same engine error. */
const REPEAT_MS = 10_000;

export class Tab {
  readonly service = new TabService({ forClients: true });
  /** Settles once: the tab can be used, or never will be. */
  readonly ready: Promise<void>;
  /**
   * Resolves after `close`; rejects if this tab's worker has stopped by itself or its store is
   * lost.
   */
  readonly done: Promise<void>;
  readonly #options: TabOptions;
  readonly #own = ownVersions();
  readonly #engine: EngineProcess | undefined;
  readonly #host: WorkflowHost;
  readonly #common: BroadcastChannel;
  readonly #answers: BroadcastChannel;
  readonly #line = randomId();
  readonly #listeners = new Set<(status: TabStatus) => void>();
  readonly #life = new AbortController();
  /** The channel to another tab that leads. */
  #channel: BroadcastChannel | undefined;
  #status: TabStatus = { role: "none", leader: undefined, problem: undefined };
  #readyNow!: () => void;
  #neverReady!: (error: Error) => void;
  #doneNow!: () => void;
  #failedNow!: (error: Error) => void;
  #closed = false;
  /** Value reported by the own engine when it began to lead. */
  #runsReducers = false;

  constructor(options: TabOptions) {
    this.#options = options;
    const { name, init, logger } = options;
    this.ready = new Promise((resolve, reject) => {
      this.#readyNow = resolve;
      this.#neverReady = reject;
    });
    this.done = new Promise((resolve, reject) => {
      this.#doneNow = resolve;
      this.#failedNow = reject;
    });
    // Prevents an unhandled rejection.
    this.ready.catch(() => {});
    this.done.catch(() => {});
    this.#host = new WorkflowHost(options.worker, logger, {
      started: () => this.#readyNow(),
      failed: (error) => this.#workerFailed(error),
    });
    this.#common = new BroadcastChannel(commonChannel(name));
    this.#common.onmessage = ({ data }) => this.#hail(data);
    this.#answers = new BroadcastChannel(channelOf(name, this.service.address));
    this.#answers.onmessage = ({ data }) => this.service.receive(data);
    // Sent before this tab's engine can open the store: a leader of an older version releases it
    // first.
    this.#hello();
    // Messages during a freeze of this page may be lost.
    const { signal } = this.#life;
    const awake = () => {
      this.#hello();
      this.service.askAgain();
    };
    document.addEventListener("resume", awake, { signal });
    document.addEventListener("visibilitychange", () => this.#hello(), { signal });
    globalThis.addEventListener(
      "pageshow",
      ({ persisted }) => persisted ? awake() : this.#hello(),
      { signal },
    );
    // Messages of two senders can arrive out of order, so a waiting tab checks its leader
    // periodically.
    const asking = setInterval(
      () => this.service.waiting && this.#status.role !== "leader" && this.#hello(),
      ASK_AGAIN_MS,
    );
    signal.addEventListener("abort", () => clearInterval(asking));
    if (init !== undefined) {
      this.#engine = new EngineProcess(options.engineWorker, { k: "init", name, ...init }, {
        message: (message) => this.#receive(message),
        gone: () => this.#lost(),
        broken: (error) => this.#problem(error, true),
      });
      this.#engine.start();
    } else {
      const late = setTimeout(() => {
        this.#neverReady(
          new NoLeaderError(
            `no tab has the store "${name}" open: open a page of this site that runs its workflows (one without lead: false)`,
          ),
        );
      }, FIND_LEADER_MS);
      void this.ready.catch(() => {}).finally(() => clearTimeout(late));
    }
  }

  get worker(): WorkflowWorker | undefined {
    return this.#host.worker;
  }

  get status(): TabStatus {
    return this.#status;
  }

  onStatus(listener: (status: TabStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #become(change: Partial<TabStatus>): void {
    const next = { ...this.#status, ...change };
    const { role, leader, problem } = this.#status;
    if (next.role === role && next.leader === leader && next.problem === problem) return;
    this.#status = next;
    for (const listener of [...this.#listeners]) {
      try {
        listener(next);
      } catch (error) {
        this.#options.logger.error("a listener of the tab's status failed", { error });
      }
    }
  }

  // ---- other tabs

  #hello(): void {
    if (!this.#closed) {
      this.#common.postMessage(
        { temporalex: 1, kind: "hello", from: this.#line, ...this.#own } satisfies Hail,
      );
    }
  }

  #hail(data: unknown): void {
    if (!isHail(data) || this.#closed) return;
    if (isNewer(data, this.#own)) this.#outdated(data);
    if (data.kind !== "leader" || this.#status.role === "leader") return;
    if (data.protocol === TAB_PROTOCOL) this.#follow(data.from);
    // An older leader received this tab's message and makes way.
  }

  #outdated(newer: Hail): void {
    if (this.#status.problem instanceof PageOutdatedError) return;
    const error = new PageOutdatedError(newer.version, this.#own.version);
    this.#options.logger.warn(error.message);
    this.#become({ problem: error });
    if (newer.protocol === TAB_PROTOCOL) return;
    // No tab that this one could call will lead again.
    this.#neverReady(error);
    this.service.end(
      new ServiceError(Code.FAILED_PRECONDITION, error.message, "PageOutdated", {}, {
        cause: error,
      }),
    );
  }

  #follow(address: string): void {
    if (this.service.leader === address) return;
    this.#channel?.close();
    const channel = this.#channel = new BroadcastChannel(channelOf(this.#options.name, address));
    this.service.follow({ address, send: (message) => channel.postMessage(message) });
    this.#become({ role: "follower", leader: address, ...this.#fixed() });
    this.#readyNow();
  }

  /** Problems of this tab's own turn do not matter while another tab leads; being outdated does. */
  #fixed(): Partial<TabStatus> {
    return this.#status.problem instanceof PageOutdatedError ? {} : { problem: undefined };
  }

  // ---- the own engine

  #receive(message: FromEngine | FromLeader): void {
    switch (message.k) {
      case "answer":
      case "refusal":
        if (message.to === this.service.address) this.service.receive(message);
        else this.#host.service?.receive(message);
        return;
      case "leading": {
        const { leader: address, runsReducers } = message;
        this.#runsReducers = runsReducers;
        this.#channel?.close();
        this.#channel = undefined;
        const route = this.#route(address);
        this.service.follow(route);
        this.#become({ role: "leader", leader: address, ...this.#fixed() });
        this.#host.start(route, runsReducers);
        this.#options.logger.debug("this tab is the leader", { store: message.description });
        return;
      }
      case "replaced":
        if (this.#status.leader !== undefined) {
          this.#host.start(this.#route(this.#status.leader), this.#runsReducers);
        }
        return;
      case "stepped-down":
        this.#options.logger.info("this tab is no longer the leader", { reason: message.reason });
        return this.#lost();
      case "failed": {
        const error = fromData(message.error);
        this.#lost();
        return this.#problem(error, message.final);
      }
      case "survived":
        return this.#survived(fromData(message.error));
      case "waiting":
      case "ping":
      case "resigned":
        return;
    }
  }

  #lastTrouble = { message: "", at: -Infinity };
  #survived(error: Error): void {
    const at = performance.now();
    const { message } = error;
    if (message === this.#lastTrouble.message && at - this.#lastTrouble.at < REPEAT_MS) return;
    this.#lastTrouble = { message, at };
    this.#options.logger.error("the engine failed", { error });
  }

  #route(address: string) {
    return {
      address,
      send: (message: Parameters<EngineProcess["send"]>[0]) => this.#engine?.send(message),
    };
  }

  /** The engine of this tab is gone, if it led. Open calls wait for the next leader. */
  #lost(): void {
    this.#host.stop();
    if (this.#status.role !== "leader") return;
    this.service.follow(undefined);
    this.#become({ role: "none", leader: undefined });
    this.#hello();
  }

  #problem(error: Error, final: boolean): void {
    if (this.#closed) return;
    const first = this.#status.problem;
    this.#become({ problem: error });
    // Logged once: a retry every few seconds would fill the log.
    if (first?.message !== error.message) {
      this.#options.logger.error("this tab cannot lead", { error });
    }
    this.#neverReady(error);
    if (final && this.#status.role === "none") this.#failedNow(error);
  }

  /** Steps down, because a leader needs a worker and another tab may have one. */
  #workerFailed(error: Error): void {
    this.#options.logger.error("the worker has stopped", { error });
    this.#become({ problem: error });
    this.#neverReady(error);
    this.#failedNow(error);
    this.#engine?.send({ k: "resign" });
  }

  async close(withinMs: number): Promise<void> {
    if (this.#closed) return;
    if (withinMs > 0) await this.#host.drain();
    else this.#host.stop();
    await this.#engine?.close(withinMs);
    this.#closed = true;
    this.#life.abort();
    this.service.end(
      new ServiceError(Code.UNAVAILABLE, "this tab has closed the store", "EngineClosed"),
    );
    this.#common.close();
    this.#answers.close();
    this.#channel?.close();
    this.#become({ role: "none", leader: undefined });
    this.#doneNow();
  }
}
