// Replacements of the workflow code of one worker: which are possible, one at a time, and the
// realm that is used afterwards. replacement.ts replays the open runs.
import type { WorkerOptions, WorkerSettings } from "../options.ts";
import { openRealm, type Workflows } from "./realms.ts";
import { type Replacement, type ReplacementOptions, replaceRealm } from "./replacement.ts";
import type { WorkflowTasks } from "./workflow_tasks.ts";

/** The replacements of one worker's workflow code. */
export class WorkflowReplacements {
  readonly #tasks: WorkflowTasks;
  /** With the workflows of the last replacement. */
  #options: WorkerOptions;
  readonly #settings: WorkerSettings;
  readonly #stickyQueue: string;
  /** Aborts the running replacement; resolves when it has ended. */
  #end: ((reason: Error) => Promise<void>) | undefined;

  constructor(
    tasks: WorkflowTasks,
    options: WorkerOptions,
    settings: WorkerSettings,
    stickyQueue: string,
  ) {
    this.#tasks = tasks;
    this.#options = options;
    this.#settings = settings;
    this.#stickyQueue = stickyQueue;
  }

  /** Throws a TypeError if the worker's realm cannot load `workflows`. */
  check(workflows: Workflows | undefined): void {
    const { realm: kind } = this.#options;
    if (typeof kind === "object") {
      throw new TypeError(
        "this worker uses a realm from its options: replace the workflows in that realm",
      );
    }
    if (
      kind === "inline" &&
      (workflows === undefined || typeof workflows === "string" || workflows instanceof URL)
    ) {
      throw new TypeError(
        "modules in an inline realm are loaded once per process; use a worker realm, or pass definitions",
      );
    }
  }

  /** See `Worker.replaceWorkflows`. */
  async replace(
    workflows: Workflows | undefined,
    options: ReplacementOptions,
  ): Promise<Replacement> {
    if (this.#end !== undefined) {
      throw new Error("another replacement of the workflows is in progress; wait until it is done");
    }
    const stop = new AbortController();
    const give = () => stop.abort(options.signal!.reason);
    if (options.signal?.aborted) give();
    else options.signal?.addEventListener("abort", give, { once: true });
    const work = this.#replace(workflows, { ...options, signal: stop.signal });
    this.#end = (reason) => {
      stop.abort(reason);
      return work.then(() => {}, () => {});
    };
    try {
      return await work;
    } finally {
      this.#end = undefined;
      options.signal?.removeEventListener("abort", give);
    }
  }

  async #replace(
    workflows: Workflows | undefined,
    options: ReplacementOptions,
  ): Promise<Replacement> {
    const settings = this.#settings;
    options.onProgress?.({ phase: "load", checked: 0, total: 0 });
    const realmOptions = workflows === undefined ? this.#options : { ...this.#options, workflows };
    const next = (await openRealm(realmOptions, settings, this.#stickyQueue))!;
    const old = this.#tasks.realm;
    let result: Replacement;
    try {
      settings.deployment?.check(next);
      result = await replaceRealm({ ...settings, tasks: this.#tasks }, next, options);
    } catch (error) {
      await next.dispose();
      throw error;
    }
    this.#options = realmOptions;
    await old.dispose();
    settings.logger.debug("the workflows were replaced", {
      taskQueue: settings.taskQueue,
      checkedRuns: result.checkedRuns,
    });
    return result;
  }

  /** Aborts the running replacement, if any, and waits for its end. */
  async end(reason: Error): Promise<void> {
    await this.#end?.(reason);
  }
}
