// A worker realm: workflow code in a worker of its own, with the determinism guard, replaced by a new one when a workflow spins, crashes the
// worker or breaks the core. The culprit's task fails by name, and its later tasks run in a quarantine worker of its own. Open tasks of the
// other runs are given to the new worker again; it knows nothing of their runs, so it asks for their whole history, and they neither
// fail nor count an attempt.
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
import type { ModuleGraph } from "../modules/loader/graph.ts";
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
import { type Job, type LostHandler, type RealmInit, type RealmSpec, RealmThread } from "./realm_thread.ts";
import { ShardedRealm, shareOf } from "./sharded_realm.ts";
import { HostSinks, type InjectedSinks } from "./sinks.ts";
import { type LineOptions, loadSources, sourceTexts, withModuleText } from "../modules/sources.ts";
import type { SourceText } from "../modules/repairs/in_lines.ts";

/** Options of {@link createWorkerRealm}. */
export interface WorkerRealmOptions extends CommonRealmOptions {
  /**
   * Modules that export workflows: paths (relative to the working directory) or file URLs. They may be TypeScript; no build step is needed.
   * A bundle of `temporalex build` is such a module, too. With `sources`, keys of it. Absent when `entry` is a bundle that serves its own workflows (serveRealm).
   */
  readonly workflows?: string | URL | readonly (string | URL)[];
  /** Module texts by path, for hosts without files (browsers), or a host of one's own. */
  readonly sources?: { readonly [path: string]: string } | SourceHost;
  /** A module that exports `payloadConverter`; it is loaded into the realm like a workflow module. */
  readonly payloadConverter?: string | URL;
  /**
   * Modules that export `interceptors`, for programs of `@temporalio/workflow`: a function that makes the interceptors of a run. They are
   * evaluated for each run, before its workflows; the first module's are the outermost.
   */
  readonly interceptors?: string | URL | readonly (string | URL)[];
  /** Functions that programs of `@temporalio/workflow` call through `proxySinks()`. */
  readonly sinks?: InjectedSinks;
  /** The worker's entry: the URL of a bundle, or a function that makes the Worker. Default: the package's own entry file. */
  readonly entry?: string | URL | (() => WebWorker);
  /** The worker's half of the core, compiled. Default: the one that comes with the package. */
  readonly core?: WebAssembly.Module;
  /** A workflow that runs for so long without yielding is stopped. Milliseconds; 0: never. Default: 2000. */
  readonly watchdogMs?: number;
  /** Time for loading the workflow modules into a worker. Milliseconds. Default: 30000. */
  readonly startupMs?: number;
  /** Heap limit of the worker (Node). Megabytes. Default: Node's own. */
  readonly maxHeapMb?: number;
  /** Quarantine workers at once. Default: 4. */
  readonly maxQuarantine?: number;
  /**
   * Workers that share the runs between them, by run id; each has its part of the cache, and the modules once more in its memory. More
   * than one pays where workflow code keeps a core busy. Default: 1.
   */
  readonly threads?: number;
  /** @internal The modules, loaded already or elsewhere. `workflows` is not read. */
  readonly graph?: () => Promise<{ readonly graph: ModuleGraph; readonly hasConverter: boolean }>;
  /** @internal The entry has a core of its own. */
  readonly entryHasCore?: boolean;
  /**
   * For debug sessions: the modules get probes, and a replay with `lines` writes down which lines ran and what the variables were. The
   * code does the same, more slowly. Not for workers.
   */
  readonly lines?: LineOptions;
  /** @internal How scopes of `@temporalio/workflow` programs follow async functions. Default: by AsyncLocalStorage where there is one. */
  readonly scopes?: "asyncLocalStorage" | "rewritten";
  /** @internal Aborted, it disposes the realm, also while it starts: code at the top level of a module that has no end is ended with it. */
  readonly signal?: AbortSignal;
  /** @internal Called when a worker has been given what it starts with, and this thread would wait for it. */
  readonly onStarting?: () => void;
}

/** How long workflow code may keep its thread, in milliseconds, where nobody says otherwise. */
const DEFAULT_WATCHDOG_MS = 2000;

/** Workers of one realm at most: more than any machine has cores for is a slip of the pen. */
export const MAX_REALM_THREADS = 64;

/** A realm in a worker of its own (or several), replaced by a new one when a workflow spins or takes it down. */
export interface WorkerRealm extends Realm {
  /** What the loader warned of: state that workflow runs would share. */
  readonly warnings: readonly Problem[];
}

/** Starts a worker realm. Rejects with a WorkflowLoadError that names file and line of everything that cannot be loaded. */
export async function createWorkerRealm(options: WorkerRealmOptions): Promise<WorkerRealm> {
  const { workflows } = options;
  if (workflows === undefined && options.entry === undefined && options.graph === undefined) {
    throw new TypeError("a worker realm needs `workflows` (modules), or an `entry` that serves some");
  }
  const { threads = 1 } = options;
  if (!Number.isInteger(threads) || threads < 1 || threads > MAX_REALM_THREADS) {
    throw new RangeError(`a realm's threads must be a whole number from 1 to ${MAX_REALM_THREADS}, not ${threads}`);
  }
  const log = options.log ?? silentLog;
  const { entry } = options;
  // In microtasks of their own: the workers are started first, because that takes longest and needs nothing of this thread.
  const begun = Promise.resolve();
  const compiled = options.entryHasCore === true ? undefined : begun.then(() => options.core ?? coreModule("worker"));
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
  init.catch(() => {}); // told by start()
  const spec: RealmSpec = {
    entry: entry === undefined
      ? ownFile("realm/worker_entry", 'give an `entry` of your own, a module that calls serveRealm() of "temporalex/realm"')
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
  const sourceOf = workflows === undefined || options.graph !== undefined ? undefined : sourceTexts(options);
  const withText = sourceOf && ((changed: SourceText) => realmWithText(options, changed, compiled));
  const maxQuarantine = shareOf(options.maxQuarantine ?? 4, threads);
  const realms = Array.from({ length: threads }, (_, i) => {
    // The host has its own work to do once, not once per worker.
    const own = i === 0 ? spec : { ...spec, onStarting: undefined };
    return new ThreadedRealm(own, options.runOptions ?? {}, maxQuarantine, probed, { sourceOf, withText });
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
  const warnings = (await loading)?.graph.warnings ?? [];
  if (threads > 1) return new ShardedRealm(realms, warnings);
  realms[0]!.warnings = warnings;
  return realms[0]!;
}

/** A realm for one replay, in which one module has another text. */
async function realmWithText(
  options: WorkerRealmOptions,
  changed: SourceText,
  compiled: Promise<WorkerRealmOptions["core"]> | undefined,
): Promise<WorkerRealm> {
  const core = await compiled;
  const { onStarting: _, lines: __, ...kept } = { ...options, ...withModuleText(options, changed) };
  return await createWorkerRealm({
    ...kept,
    ...{ threads: 1, cacheSize: 0, maxQuarantine: 1, log: silentLog },
    ...(core === undefined ? {} : { core }),
  });
}

/**
 * Who replays again to learn which lines ran: this realm itself, another one, or nobody. "endless": this realm, and only for code that
 * never ends; where modules come from elsewhere, whoever brings them has a trace of lines to explain a divergence with.
 */
type ProbedReplay = "own" | "endless" | ProbedTwin | undefined;

function probedReplay(options: WorkerRealmOptions, compiled: Promise<WorkerRealmOptions["core"]> | undefined): ProbedReplay {
  if (options.lines !== undefined && options.lines !== false) return options.graph === undefined ? "own" : "endless";
  if (options.workflows === undefined || options.graph !== undefined) return undefined;
  return new ProbedTwin(async () => {
    const core = await compiled;
    // What the modules log while they are loaded has been said.
    const one = { threads: 1, cacheSize: 0, lines: true, onStarting: undefined, log: silentLog } as const;
    const { onStarting: _, ...probed } = { ...options, ...one, ...(core === undefined ? {} : { core }) };
    return await createWorkerRealm(probed);
  });
}

class ThreadedRealm implements WorkerRealm {
  warnings: readonly Problem[] = [];
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
  /** Work that waits for the main worker, which is being started. */
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
    const again = probed === "own" ? replay : typeof probed === "object" ? probed.replay : undefined;
    this.#lastLines = new LastLines((lost) => probed === "endless" && lost === "spun" ? replay : again);
    this.#explainer = new Explainer(replay, { probed: again, lastLines: this.#lastLines, ...texts });
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
          // Later attempts would stand there, too.
          if (head.query === undefined && head.attempt === 1) void this.#logLine(head, loss);
        },
      };
      this.#submit(job);
    });
  }

  /** Logs where a lost task's code stood, for who looks for the loop. The task's failure does not wait for it. */
  async #logLine({ workflowType, workflowId, runId }: TaskHead, { kind }: Loss): Promise<void> {
    const stood = await this.#lastLines.ofRun(workflowId, runId, kind, this.#spec.fetchHistory);
    if (stood === undefined || this.#disposed) return;
    const run = { workflowType, workflowId, runId, timeMs: Date.now(), source: "executor" } as const;
    const message = `workflow "${workflowType}" (id "${workflowId}") stood at ${stood.location} when ${LOST[kind]}`;
    this.#spec.log.write({ ...run, level: "error", message, fields: {} });
  }

  replay(workflowId: string, history: Uint8Array, options: ReplayOptions = {}): Promise<ReplayVerdict> {
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
        lost: (loss) => resolve(lostReplayVerdict(workflowId, history, loss, job.at, lastLineOf(job))),
      };
      this.#submit(job);
    });
  }

  #submit(job: Job): void {
    if (this.#disposed) return job.fail(new RealmDisposedError());
    if (job.runId !== undefined && this.#quarantine.holds(job.runId)) return this.#quarantine.submit(job.runId, job);
    if (this.#waiting !== undefined) this.#waiting.push(job);
    else this.#main.submit(job);
  }

  /** The main worker is gone: its culprit pays, everybody else starts over in a new one. */
  readonly #lost: LostHandler = (jobs, culprit, loss) => {
    if (culprit?.runId !== undefined) this.#quarantine.add(culprit.runId, loss);
    culprit?.job?.lost(loss);
    const others = jobs.filter((job) => job !== culprit?.job && !(culprit === undefined && this.#suspect(job, loss)));
    this.#waiting = [];
    this.#main = this.#newMain();
    this.#starting = this.#restart();
    // Tasks of the culprit's run that were queued behind it go where it goes.
    for (const job of others) this.#submit(job);
  };

  /** Nobody knows what the realm was lost on: whoever was there each time answers for it in the end. */
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
      // It started before with the same sources: the machine is short of something. The next work tries again.
      const waiting = this.#waiting ?? [];
      this.#waiting = [];
      for (const job of waiting) {
        job.fail(new Error(`the realm could not be started again: ${(e as Error).message}`, { cause: e }));
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
    for (const job of [...await this.#main.end(), ...await this.#quarantine.dispose()]) job.fail(error);
  }
}

const LOST: { readonly [kind in Loss["kind"]]: string } = {
  spun: "it was stopped",
  crashed: "it took its thread down",
  trapped: "it broke its core",
};

/** What a replay with `follow` told last. */
function lastLineOf({ line }: Job): ReplayError["lastLine"] {
  return line === undefined ? undefined : { location: line.location, ran: line.ran, quietMs: performance.now() - line.atMs };
}

function settle<T extends FromRealm["t"]>(
  answer: FromRealm,
  wanted: T,
  resolve: (answer: Extract<FromRealm, { t: T }>) => void,
  reject: (error: Error) => void,
): void {
  if (answer.t === wanted) resolve(answer as Extract<FromRealm, { t: T }>);
  else reject(new Error(answer.t === "error" ? answer.message : `the realm answered "${answer.t}" instead of "${wanted}"`));
}
