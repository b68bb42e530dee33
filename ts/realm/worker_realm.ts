// A worker realm: workflow code in a worker with the determinism guard. The worker is replaced when
// a workflow loops, crashes the worker or breaks the core. The culprit's task fails, and its later
// tasks run in a quarantine worker. Open tasks of other runs move to the new worker, which fetches
// their whole history; they do not fail and count no attempt.
import type { ReplayError } from "../executor/tasks/replay.ts";
import type { RunSettings } from "../executor/tasks/cached_run.ts";
import { coreModule } from "../core/source.ts";
import { silentLog } from "../executor/program/program.ts";
import { ownFile } from "../platform/own_code.ts";
import type { SourceHost } from "../platform/source_files.ts";
import type { WebWorker } from "../platform/threads.ts";
import type { Problem } from "../modules/loader/errors.ts";
import { type BareReplay, Explainer, type ExplainerHelp } from "./explained.ts";
import { ProbedTwin } from "./probed_twin.ts";
import type { ModuleGraph } from "../modules/loader/module_graph.ts";
import { LastLines } from "./last_line.ts";
import { type Loss, lostReplayVerdict, lostTaskOutcome } from "./lost_task.ts";
import { detachedCopy, type FromRealm } from "./protocol.ts";
import { Quarantine } from "./quarantine.ts";
import {
  type CommonRealmOptions,
  DEFAULT_CACHE_SIZE,
  noHistory,
  type Realm,
  RealmDisposedError,
  type RealmOutcome,
  type ReplayOptions,
  type ReplayVerdict,
  type RunLocalActivities,
  type TaskHead,
  type VersioningBehavior,
  type WorkflowTask,
} from "./realm.ts";
import {
  type Job,
  type LostHandler,
  type RealmInit,
  type RealmSpec,
  RealmThread,
} from "./realm_thread.ts";
import { ShardedRealm, shareOf } from "./sharded_realm.ts";
import { HostSinks, type InjectedSinks } from "./sinks.ts";
import { type LineOptions, loadSources, sourceTexts, withModuleText } from "../modules/sources.ts";
import type { SourceText } from "../modules/repairs/in_lines.ts";

/** Options of `openWorkerRealm`. */
export interface WorkerRealmOptions extends CommonRealmOptions {
  /**
   * Modules that export workflows: paths (relative to the working directory) or file URLs, also of
   * TypeScript (without a build step) and of bundles made by `temporalex build`. With `sources`,
   * keys of it. Omit it if `entry` is a bundle with its own workflows (serveRealm).
   */
  readonly workflows?: string | URL | readonly (string | URL)[];
  /** Module texts by path, for hosts without a file system (browsers), or a custom source host. */
  readonly sources?: { readonly [path: string]: string } | SourceHost;
  /** A module that exports `payloadConverter`, loaded into the realm like a workflow module. */
  readonly payloadConverter?: string | URL;
  /**
   * Modules that export `interceptors` for `@temporalio/workflow` programs: a function that creates
   * the interceptors of a run. Evaluated for each run, before its workflows; those of the first
   * module are the outermost.
   */
  readonly interceptors?: string | URL | readonly (string | URL)[];
  /** Functions that `@temporalio/workflow` programs call through `proxySinks()`. */
  readonly sinks?: InjectedSinks;
  /**
   * The worker's entry: URL of a bundle, or a function that creates the Worker. Default: the
   * package's entry file.
   */
  readonly entry?: string | URL | (() => WebWorker);
  /** The compiled worker half of the core. Default: the package's. */
  readonly core?: WebAssembly.Module;
  /**
   * Time in milliseconds after which a workflow that does not yield is stopped. 0: never. Default:
   * 2000.
   */
  readonly watchdogMs?: number;
  /** Timeout for loading the workflow modules into a worker, in milliseconds. Default: 30000. */
  readonly startupMs?: number;
  /** Heap limit of the worker in megabytes (Node). Default: Node's. */
  readonly maxHeapMb?: number;
  /** Maximum number of quarantine workers. Default: 4. */
  readonly maxQuarantine?: number;
  /**
   * Number of workers that share the runs by run id. Each has its part of the cache and a copy of
   * the modules in memory. More than one helps if workflow code uses a full core. Default: 1.
   */
  readonly threads?: number;
  /** @internal The modules, already loaded. `workflows` is then ignored. */
  readonly graph?: () => Promise<{ readonly graph: ModuleGraph; readonly hasConverter: boolean }>;
  /** @internal The entry has its own core. */
  readonly entryHasCore?: boolean;
  /**
   * For debug sessions, not for workers: modules get probes, and a replay with `lines` records
   * executed lines and variables. The code behaves the same but runs slower.
   */
  readonly lines?: LineOptions;
  /**
   * @internal How scopes of `@temporalio/workflow` programs follow async functions. Default:
   * AsyncLocalStorage if the runtime has it.
   */
  readonly scopes?: "asyncLocalStorage" | "rewritten";
  /**
   * @internal When aborted, disposes the realm, also during start: ends infinite loops in top-level
   * code.
   */
  readonly signal?: AbortSignal;
  /** @internal Called after the start data is sent to a worker, when this thread would wait. */
  readonly onStarting?: () => void;
}

/** Default time in milliseconds for which workflow code may block its thread. */
const DEFAULT_WATCHDOG_MS = 2000;

/** Maximum number of workers of one realm; a larger value is likely a mistake. */
export const MAX_REALM_THREADS = 64;

/** A realm in one or more workers, each replaced when a workflow loops or takes it down. */
export interface WorkerRealm extends Realm {
  /** Warnings of the loader: state that workflow runs would share. */
  readonly warnings: readonly Problem[];
  /** Whether its modules use `@temporalio/workflow`; false for an entry with its own workflows. */
  readonly needsTemporal: boolean;
  /** False if rewritten code does not follow all scopes as AsyncLocalStorage does. */
  readonly followsScopes: boolean;
}

/**
 * Starts a worker realm. Rejects with a WorkflowLoadError that lists the file and line of
 * everything that cannot be loaded.
 */
export async function openWorkerRealm(options: WorkerRealmOptions): Promise<WorkerRealm> {
  const { workflows } = options;
  if (workflows === undefined && options.entry === undefined && options.graph === undefined) {
    throw new TypeError(
      "a worker realm needs `workflows` (modules), or an `entry` that serves workflows",
    );
  }
  const { threads = 1 } = options;
  if (!Number.isInteger(threads) || threads < 1 || threads > MAX_REALM_THREADS) {
    throw new RangeError(
      `a realm's threads must be a whole number from 1 to ${MAX_REALM_THREADS}, not ${threads}`,
    );
  }
  const log = options.log ?? silentLog;
  const { entry } = options;
  // Loading follows in a microtask: the workers start first, because that takes longest and needs
  // nothing from this thread.
  const begun = Promise.resolve();
  const compiled = options.entryHasCore === true
    ? undefined
    : begun.then(() => options.core ?? coreModule("worker"));
  const loading = options.graph !== undefined
    ? begun.then(options.graph)
    : workflows === undefined
    ? undefined
    : begun.then(() => loadSources({ ...options, workflows }));
  const init = Promise.all([compiled, loading]).then(([core, loaded]): RealmInit => ({
    ...(core === undefined ? {} : { core }),
    ...(loaded === undefined ? {} : { graph: loaded.graph }),
    hasConverter: loaded?.hasConverter === true,
    cacheSize: shareOf(options.cacheSize ?? DEFAULT_CACHE_SIZE, threads),
    runOptions: options.runOptions ?? {},
  }));
  init.catch(() => {}); // reported by start()
  const spec: RealmSpec = {
    entry: entry === undefined
      ? ownFile(
        "realm/worker_entry",
        'pass an `entry`, a module that calls serveRealm() of "temporalex/realm"',
      )
      : typeof entry === "string"
      ? new URL(entry, typeof location === "undefined" ? import.meta.url : location.href)
      : entry,
    init,
    watchdogMs: options.watchdogMs ?? DEFAULT_WATCHDOG_MS,
    startupMs: options.startupMs ?? 30_000,
    maxHeapMb: options.maxHeapMb,
    fetchHistory: options.fetchHistory ?? noHistory,
    log,
    sinks: new HostSinks(options.sinks ?? {}, log),
    onStarting: options.onStarting,
  };
  const probed = probedReplay(options, compiled);
  const sourceOf = workflows === undefined || options.graph !== undefined
    ? undefined
    : sourceTexts(options);
  const withText = sourceOf && ((changed: SourceText) => realmWithText(options, changed, compiled));
  const maxQuarantine = shareOf(options.maxQuarantine ?? 4, threads);
  const realms = Array.from({ length: threads }, (_, i) => {
    // The host's own work is done once, not once per worker.
    const own = i === 0 ? spec : { ...spec, onStarting: undefined };
    return new ThreadedRealm(own, options.runOptions ?? {}, maxQuarantine, probed, {
      sourceOf,
      withText,
    });
  });
  const end = () => realms.forEach((realm) => void realm.dispose());
  if (options.signal?.aborted === true) end();
  options.signal?.addEventListener("abort", end, { once: true });
  const started = await Promise.allSettled(realms.map((realm) => realm.start()));
  const failed = started.find((start) => start.status === "rejected");
  if (failed !== undefined) {
    await Promise.all(realms.map((realm) => realm.dispose()));
    throw failed.reason;
  }
  const { warnings = [], needsTemporal = false, followsScopes = true } = (await loading)?.graph ??
    {};
  const loaded = { warnings, needsTemporal, followsScopes };
  if (threads > 1) return new ShardedRealm(realms, loaded);
  return Object.assign(realms[0]!, loaded);
}

/** Starts a realm for one replay, in which one module has another text. */
async function realmWithText(
  options: WorkerRealmOptions,
  changed: SourceText,
  compiled: Promise<WorkerRealmOptions["core"]> | undefined,
): Promise<WorkerRealm> {
  const core = await compiled;
  const { onStarting: _, lines: __, ...kept } = { ...options, ...withModuleText(options, changed) };
  return await openWorkerRealm({
    ...kept,
    ...{ threads: 1, cacheSize: 0, maxQuarantine: 1, log: silentLog },
    ...(core === undefined ? {} : { core }),
  });
}

/** Which realm replays again to record executed lines: this realm, another one, or none. */
type ProbedReplay = "own" | ProbedTwin | undefined;

function probedReplay(
  options: WorkerRealmOptions,
  compiled: Promise<WorkerRealmOptions["core"]> | undefined,
): ProbedReplay {
  if (options.lines !== undefined && options.lines !== false) return "own";
  if (options.workflows === undefined || options.graph !== undefined) return undefined;
  return new ProbedTwin(async () => {
    const core = await compiled;
    // Log lines of loading modules have already been written.
    const one = {
      threads: 1,
      cacheSize: 0,
      lines: true,
      onStarting: undefined,
      log: silentLog,
    } as const;
    const { onStarting: _, ...probed } = {
      ...options,
      ...one,
      ...(core === undefined ? {} : { core }),
    };
    return await openWorkerRealm(probed);
  });
}

class ThreadedRealm implements WorkerRealm {
  warnings: readonly Problem[] = [];
  needsTemporal = false;
  followsScopes = true;
  workflowTypes: readonly string[] = [];
  takesAnyType = false;
  versioningBehaviors: ReadonlyMap<string, VersioningBehavior> = new Map();
  readonly #spec: RealmSpec;
  readonly #runOptions: RunSettings;
  readonly #quarantine: Quarantine;
  readonly #explainer: Explainer;
  readonly #lastLines: LastLines;
  readonly #probed: ProbedReplay;
  #main: RealmThread;
  /** Work that waits until the main worker has started. */
  #waiting: Job[] | undefined = [];
  #starting: Promise<void> | undefined;
  #disposed = false;

  constructor(
    spec: RealmSpec,
    runOptions: RunSettings,
    maxQuarantine: number,
    probed: ProbedReplay,
    texts: Pick<ExplainerHelp, "sourceOf" | "withText">,
  ) {
    this.#probed = probed;
    const replay: BareReplay = (...args) => this.#replay(...args);
    const again = probed === "own"
      ? replay
      : typeof probed === "object"
      ? probed.replay
      : undefined;
    this.#lastLines = new LastLines(again);
    this.#explainer = new Explainer(replay, {
      probed: again,
      lastLines: this.#lastLines,
      namespace: runOptions.namespace,
      ...texts,
    });
    this.#spec = spec;
    this.#runOptions = runOptions;
    this.#main = this.#newMain();
    this.#quarantine = new Quarantine(spec, maxQuarantine, (job, loss) => job.lost(loss));
  }

  #newMain(): RealmThread {
    return new RealmThread(this.#spec, (jobs, culprit, loss) => this.#lost(jobs, culprit, loss));
  }

  async start(): Promise<void> {
    const { workflowTypes, takesAnyType, versioningBehaviors } = await this.#main.start();
    this.workflowTypes = workflowTypes;
    this.takesAnyType = takesAnyType;
    this.versioningBehaviors = versioningBehaviors;
    this.#release();
  }

  #release(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const job of waiting) this.#main.submit(job);
  }

  get cachedRuns(): number {
    return this.#main.cachedRuns + this.#quarantine.cachedRuns;
  }

  runTask(task: WorkflowTask, runLocally?: RunLocalActivities): Promise<RealmOutcome> {
    return new Promise((resolve, reject) => {
      const { head, bytes } = task;
      const { identity = "", namespace = "" } = this.#runOptions;
      const job: Job = {
        runId: head.runId,
        unclear: 0,
        message: (id) => ({ t: "task", id, task: { head, bytes: detachedCopy(bytes) } }),
        runLocally,
        done: (answer) => settle(answer, "outcome", (a) => resolve(a.outcome), reject),
        fail: reject,
        lost: (loss) => {
          resolve(lostTaskOutcome(task, loss, { identity, namespace }));
          // Later attempts would stop at the same line.
          if (head.query === undefined && head.attempt === 1) void this.#logLine(head, loss);
        },
      };
      this.#submit(job);
    });
  }

  /** Logs the line of a lost task's code. The task's failure does not wait for it. */
  async #logLine({ workflowType, workflowId, runId }: TaskHead, { kind }: Loss): Promise<void> {
    const last = await this.#lastLines.ofRun(workflowId, runId, kind, this.#spec.fetchHistory);
    if (last === undefined || this.#disposed) return;
    const run = {
      workflowType,
      workflowId,
      runId,
      timeMs: Date.now(),
      source: "executor",
    } as const;
    const message = `workflow "${workflowType}" (id "${workflowId}") was at ${last.location} when ${
      LOST[kind]
    }`;
    this.#spec.log.write({ ...run, level: "error", message, fields: {} });
  }

  replay(
    workflowId: string,
    history: Uint8Array,
    options: ReplayOptions = {},
  ): Promise<ReplayVerdict> {
    return this.#explainer.replay(workflowId, history, options);
  }

  #replay(workflowId: string, history: Uint8Array, options: ReplayOptions): Promise<ReplayVerdict> {
    return new Promise((resolve, reject) => {
      const job: Job = {
        runId: undefined,
        unclear: 0,
        message: (id) => ({ t: "replay", id, workflowId, history: detachedCopy(history), options }),
        done: (answer) => settle(answer, "verdict", (a) => resolve(a.verdict), reject),
        fail: reject,
        lost: (loss) =>
          resolve(lostReplayVerdict(workflowId, history, loss, job.at, lastLineOf(job))),
      };
      this.#submit(job);
    });
  }

  #submit(job: Job): void {
    if (this.#disposed) return job.fail(new RealmDisposedError());
    if (job.runId !== undefined && this.#quarantine.holds(job.runId)) {
      return this.#quarantine.submit(job.runId, job);
    }
    if (this.#waiting !== undefined) this.#waiting.push(job);
    else this.#main.submit(job);
  }

  /** The main worker is lost: its culprit fails, all other work restarts in a new worker. */
  readonly #lost: LostHandler = (jobs, culprit, loss) => {
    if (culprit?.runId !== undefined) this.#quarantine.add(culprit.runId, loss);
    culprit?.job?.lost(loss);
    const others = jobs.filter((job) =>
      job !== culprit?.job && !(culprit === undefined && this.#suspect(job, loss))
    );
    this.#waiting = [];
    this.#main = this.#newMain();
    this.#starting = this.#restart();
    // Queued tasks of the culprit's run go to the same worker as the run.
    for (const job of others) this.#submit(job);
  };

  /**
   * Handles a loss without a known cause: a job that was open at each of several losses becomes the
   * culprit.
   */
  #suspect(job: Job, loss: Loss): boolean {
    if (++job.unclear < 4) return false;
    if (job.runId !== undefined) this.#quarantine.add(job.runId, loss);
    job.lost(loss);
    return true;
  }

  async #restart(): Promise<void> {
    try {
      await this.#main.start();
      if (!this.#disposed) this.#release();
    } catch (e) {
      // It started before with the same sources, so the machine lacks some resource. The next work
      // retries.
      const waiting = this.#waiting ?? [];
      this.#waiting = [];
      for (const job of waiting) {
        job.fail(
          new Error(`the realm could not be restarted: ${(e as Error).message}`, { cause: e }),
        );
      }
      if (this.#disposed) return;
      this.#main = this.#newMain();
      setTimeout(() => !this.#disposed && (this.#starting = this.#restart()), 1000);
    }
  }

  taskReported(runId: string, response: Uint8Array): void {
    this.#to(runId).post({ t: "reported", runId, response: detachedCopy(response) });
  }

  evict(runId: string): void {
    this.#to(runId).post({ t: "evict", runId });
  }

  #to(runId: string): { post: RealmThread["post"] } {
    return this.#quarantine.threadOf(runId) ?? this.#main;
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    const error = new RealmDisposedError();
    for (const job of this.#waiting ?? []) job.fail(error);
    this.#waiting = [];
    if (typeof this.#probed === "object") await this.#probed.dispose();
    await this.#starting?.catch(() => {});
    for (const job of [...await this.#main.end(), ...await this.#quarantine.dispose()]) {
      job.fail(error);
    }
  }
}

const LOST: { readonly [kind in Loss["kind"]]: string } = {
  spun: "it was stopped",
  crashed: "it took its thread down",
  trapped: "it broke its core",
};

/** Returns the last line that a replay with `follow` reported. */
function lastLineOf({ line }: Job): ReplayError["lastLine"] {
  return line === undefined
    ? undefined
    : { location: line.location, ran: line.ran, quietMs: performance.now() - line.atMs };
}

function settle<T extends FromRealm["t"]>(
  answer: FromRealm,
  wanted: T,
  resolve: (answer: Extract<FromRealm, { t: T }>) => void,
  reject: (error: Error) => void,
): void {
  if (answer.t === wanted) resolve(answer as Extract<FromRealm, { t: T }>);
  else {reject(
      new Error(
        answer.t === "error"
          ? answer.message
          : `the realm responded with "${answer.t}" instead of "${wanted}"`,
      ),
    );}
}
