// Runs workflow code and activities of the leading tab. They run in the page, not in the engine
// worker: activities are functions passed to `open` and may use the page (document, storage); the
// realm is a Web Worker of the page. Only the leading tab has them, so a store has one set of
// realms and caches, and no task waits for a suspended tab. A worker ends with its tab's lead: its
// service then rejects all calls.
import type { WorkerOptions } from "../worker/options.ts";
import { Worker } from "../worker/worker.ts";
import type { Logger } from "../base/logger.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { type Route, TabService } from "./tab_service.ts";

export type HostedWorker = Omit<WorkerOptions, "service">;

interface Term {
  readonly service: TabService;
  worker: Worker | undefined;
  ended: boolean;
  /** Resolves when nothing of the worker runs any more. */
  over: Promise<void>;
}

export class WorkflowHost {
  readonly #options: () => Promise<HostedWorker>;
  readonly #logger: Logger;
  /** The worker could not be created, or has stopped by itself. */
  readonly #failed: (error: Error) => void;
  readonly #started: () => void;
  #term: Term | undefined;
  readonly #ending = new Set<Promise<void>>();

  constructor(
    options: () => Promise<HostedWorker>,
    logger: Logger,
    events: { started(): void; failed(error: Error): void },
  ) {
    this.#options = options;
    this.#logger = logger;
    this.#started = events.started;
    this.#failed = events.failed;
  }

  /** The worker while this tab leads; otherwise undefined. */
  get worker(): Worker | undefined {
    return this.#term?.worker;
  }

  /** Service whose address receives the worker's responses. */
  get service(): TabService | undefined {
    return this.#term?.service;
  }

  start(route: Route, runsReducers: boolean): void {
    this.stop();
    const service = new TabService({ forClients: false, runsReducers });
    service.follow(route);
    const term: Term = { service, worker: undefined, ended: false, over: Promise.resolve() };
    this.#term = term;
    term.over = this.#live(term);
    this.#ending.add(term.over);
    void term.over.finally(() => this.#ending.delete(term.over));
  }

  async #live(term: Term): Promise<void> {
    try {
      const worker = await Worker.create({ ...await this.#options(), service: term.service });
      if (term.ended) return await worker.shutdown();
      term.worker = worker;
      const running = worker.run();
      this.#started();
      await running;
    } catch (e) {
      if (term.ended) {
        this.#logger.debug("a worker stopped because its tab is no longer the leader", {
          error: e,
        });
      } else this.#failed(e as Error);
    }
  }

  /**
   * Ends the worker and cancels activities. Their reports are discarded; the next leader runs them
   * again.
   */
  stop(): void {
    const term = this.#term;
    if (term === undefined) return;
    this.#term = undefined;
    term.ended = true;
    term.service.end(
      new ServiceError(Code.UNAVAILABLE, "this tab is no longer the leader", "EngineClosed"),
    );
    void term.worker?.shutdown();
  }

  /** Completes running tasks, reports them, then ends. */
  async drain(): Promise<void> {
    await this.#term?.worker?.shutdown();
    this.stop();
    await Promise.all(this.#ending);
  }
}
