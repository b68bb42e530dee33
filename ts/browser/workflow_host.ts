// Workflow code and activities of the leading tab. They run from the page, not from the engine worker: activities are the functions that the
// page gave to `open`, and may touch what only a page has (the document, its storage, what it has loaded); the realm is a Web Worker beside
// them. Only the leading tab has them, because tasks of this engine are answered by the very process that runs it: one set of realms
// and caches per store, and no task that waits for a tab that the browser has put to sleep.
//
// A worker lives as long as its tab leads. When that ends its service refuses everything at once, so it can report nothing late.
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
  /** Resolves when nothing of it runs any more. */
  over: Promise<void>;
}

export class WorkflowHost {
  readonly #options: () => Promise<HostedWorker>;
  readonly #logger: Logger;
  /** The worker could not be made, or has stopped by itself. */
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

  /** Runs while this tab leads; undefined otherwise. */
  get worker(): Worker | undefined {
    return this.#term?.worker;
  }

  /** Answers of this address belong to the worker. */
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
      if (term.ended) this.#logger.debug("a worker stopped because its tab is no longer the leader", { error: e });
      else this.#failed(e as Error);
    }
  }

  /** Ends the worker. Activities are told to stop; what they report goes nowhere, and the next leader runs them again. */
  stop(): void {
    const term = this.#term;
    if (term === undefined) return;
    this.#term = undefined;
    term.ended = true;
    term.service.end(new ServiceError(Code.UNAVAILABLE, "this tab is no longer the leader", "EngineClosed"));
    void term.worker?.shutdown();
  }

  /** Finishes the tasks in hand and reports them, then ends. */
  async drain(): Promise<void> {
    await this.#term?.worker?.shutdown();
    this.stop();
    await Promise.all(this.#ending);
  }
}
