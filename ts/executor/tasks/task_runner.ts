// Runs the workflow tasks of one realm, with a sticky cache of runs. One activation at a time in
// the whole realm; while a run waits for a page of its history, others continue. A task that
// diverges or deadlocks runs a second time with call sites, so that its failure has the user's line
// (too expensive to always record).
import {
  ErrorKind,
  EvictionReason,
  type TaskOutcome,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CorePanicError } from "../../core/errors.ts";
import type { WorkerCore } from "../../core/worker_half.ts";
import { encodeFailure } from "../../converter/failure_converter.ts";
import { defaultPayloadConverter, type PayloadConverter } from "../../converter/payload.ts";
import { stackOf } from "../../converter/thrown.ts";
import { userFrame } from "../program/call_site.ts";
import {
  CachedRun,
  type FetchHistory,
  type RunIdentity,
  type RunSettings,
  type RunSetup,
} from "./cached_run.ts";
import { DeadlockError, FailedCause } from "../program/errors.ts";
import { asksForStacks } from "../program/built_in_queries.ts";
import { HistoryLimits } from "./history_limits.ts";
import { noLocalActivities, type RunLocalActivities } from "./local_work.ts";
import { Lock } from "./lock.ts";
import {
  type CallSites,
  type LogSink,
  type Program,
  silentLog,
  type TaskWishes,
  ValidatedApart,
  type Verdict,
} from "../program/program.ts";
import type { SinkPort } from "../program/sinks.ts";
import type { Recorder } from "./recording.ts";
import { type RejectionHost, RejectionReports } from "../program/rejections.ts";
import {
  replayHistory,
  type ReplayOptions,
  type ReplayProgress,
  type ReplayVerdict,
} from "./replay.ts";
import { unknownWorkflow } from "./unknown_program.ts";
import { taskFailedRequest, withFailureMessage } from "./failed_request.ts";
import { type TaskHead, taskTokenOf, type WorkflowTask } from "../../messages/workflow_task.ts";
import { CACHE_UNUSED, type CacheUse, type RealmOutcome } from "./realm_outcome.ts";

export interface TaskRunnerOptions {
  readonly core: WorkerCore;
  readonly programs: (workflowType: string) => Program | undefined;
  /** Names for the message about an unknown type. */
  readonly workflowTypes?: () => readonly string[];
  /**
   * Namespace, identity, sdk version, sticky queue, ... The program sets `jobOrder` and `sdkName`.
   */
  readonly runOptions: RunSettings;
  /** Runs kept in memory between tasks; 0: none. */
  readonly cacheSize: number;
  readonly fetchHistory: FetchHistory;
  readonly log?: LogSink;
  /** Functions of the host that workflow code may call. */
  readonly sinks?: SinkPort;
  readonly converter?: PayloadConverter;
  /** Tests and debug sessions: called for every new run; its commands are recorded. */
  readonly onRecorder?: (identity: RunIdentity, recorder: Recorder) => void;
  /** Reports unhandled rejections; absent: the host handles them. */
  readonly rejections?: RejectionHost;
  /** Called when the realm starts or resumes a run's task, for the watchdog. */
  readonly onTurnTo?: (runId: string) => void;
}

/** Callbacks of a replay, called while the realm runs it. */
export interface ReplayListener {
  readonly progress?: ReplayProgress | undefined;
  /** The replay starts. */
  onTurn?(): void;
  /** The replay has ended. */
  onVerdict?(verdict: ReplayVerdict): void;
}

/** The core's code for a query about a state that the cached run has passed. */
const QUERY_EXPIRED = 3010;

export class TaskRunner {
  readonly #options: TaskRunnerOptions;
  readonly #converter: PayloadConverter;
  readonly #log: LogSink;
  readonly #reports: RejectionReports | undefined;
  /** Runs between tasks, least recently used first. */
  readonly #cache = new Map<string, CachedRun>();
  /** The last open task of each run; tasks of a run are processed in sequence. */
  readonly #open = new Map<string, Promise<unknown>>();
  /** Runs that were evicted during an open task; removed at its end. */
  readonly #leaving = new Set<string>();
  readonly #lock = new Lock();
  readonly #historyLimits = new HistoryLimits();
  #disposed = false;

  constructor(options: TaskRunnerOptions) {
    this.#options = options;
    this.#converter = options.converter ?? defaultPayloadConverter;
    this.#log = options.log ?? silentLog;
    this.#reports = options.rejections === undefined
      ? undefined
      : new RejectionReports(options.rejections);
  }

  /** Ids of cached runs, least recently used first. */
  get cachedRunIds(): string[] {
    return [...this.#cache.keys()];
  }

  get cachedRuns(): number {
    return this.#cache.size;
  }

  /** Whether a task is executing; one that waits for history or a local activity is not. */
  get isRunning(): boolean {
    return this.#lock.isHeld;
  }

  /**
   * Processes a workflow task. A failure of workflow code is part of the outcome; rejects if the
   * core rejects the task. A task with local activities fails without `runLocally`.
   */
  runTask(
    task: WorkflowTask,
    runLocally: RunLocalActivities = noLocalActivities,
  ): Promise<RealmOutcome> {
    const { runId } = task.head;
    const before = this.#open.get(runId);
    const run = () => this.#run(task, this.#freed(runId, runLocally));
    const outcome = before === undefined ? run() : before.then(run, run);
    this.#open.set(runId, outcome);
    const done = () => {
      if (this.#open.get(runId) === outcome) this.#open.delete(runId);
    };
    outcome.then(done, done);
    return outcome;
  }

  async #run(task: WorkflowTask, runLocally: RunLocalActivities): Promise<RealmOutcome> {
    const { head } = task;
    await this.#lock.acquire();
    this.#options.onTurnTo?.(head.runId);
    try {
      if (this.#disposed) throw new Error("the task runner is disposed");
      if (head.query !== undefined && asksForStacks([head.query])) {
        return await this.#askForStacks(task);
      }
      let run = this.#take(head);
      let hit = run !== undefined;
      run ??= this.#create(head, asksForStacks(head.queries ?? []));
      let outcome: TaskOutcome | undefined;
      let wishes: TaskWishes = {};
      try {
        run.core.startTask(task.bytes);
        outcome = await run.drive(this.#fetch, runLocally);
        const verdicts = new Map<string, Verdict>();
        while (run.thrown instanceof ValidatedApart) {
          verdicts.set(run.thrown.protocolInstanceId, run.thrown.verdict);
          run.dispose();
          run = this.#create(head, run.knowsStacks, verdicts);
          hit = false;
          run.core.startTask(task.bytes);
          outcome = await run.drive(this.#fetch, runLocally);
        }
        // Another update may reuse the id of a rejected one.
        verdicts.clear();
        hit &&= !run.replayed;
        if (outcome.error?.code === QUERY_EXPIRED) outcome = await this.#askApart(task, outcome);
        if (wantsCallSites(outcome, run)) outcome = await this.#diagnose(task, outcome, run);
      } catch (e) {
        outcome = undefined;
        if (e instanceof CorePanicError) return this.#panicked(task, e);
        throw e;
      } finally {
        wishes = run.wishes;
        const leaves = this.#leaving.delete(head.runId) || this.#disposed;
        if (outcome === undefined || outcome.evict || leaves || this.#options.cacheSize <= 0) {
          run.dispose();
        } else this.#cache.set(head.runId, run);
      }
      return {
        ...this.#told(
          run,
          this.#warned(run, outcome),
          { hit, displaced: this.#makeRoom() },
          head.asksForShown === true,
        ),
        ...wishes,
      };
    } finally {
      this.#lock.release();
    }
  }

  /**
   * Adds data of the run to the core's outcome. The user's line is for outcomes without a report:
   * only first attempts are reported, but a new process may start with a later one.
   */
  #told(
    run: CachedRun,
    outcome: TaskOutcome,
    cache: CacheUse,
    asksForShown: boolean,
  ): RealmOutcome {
    const at = outcome.error === undefined || outcome.response?.$case === "failed"
      ? ""
      : userFrame(stackOf(run.thrown));
    const shown = outcome.response?.$case === "completed" ? run.shown(asksForShown) : undefined;
    return {
      ...outcome,
      cache,
      runStartMs: run.startMs,
      ...(at !== "" && { at }),
      ...(shown && { shown }),
    };
  }

  /** Adds a warning if the run's history has become large; not for a closing run. */
  #warned(run: CachedRun, outcome: TaskOutcome): TaskOutcome {
    if (outcome.evictionReason === EvictionReason.EVICTION_REASON_WORKFLOW_EXECUTION_ENDING) {
      this.#historyLimits.forget(run.identity.runId);
      return outcome;
    }
    const warning = this.#historyLimits.check(
      run.identity,
      run.historyLength,
      run.historySizeBytes,
    );
    return warning === undefined
      ? outcome
      : { ...outcome, warnings: [...outcome.warnings, warning] };
  }

  /**
   * Takes the task's run from the cache. For stack queries it must have recorded stacks from its
   * start.
   */
  #take(head: TaskHead): CachedRun | undefined {
    const cached = this.#cache.get(head.runId);
    this.#cache.delete(head.runId);
    if (cached === undefined || cached.knowsStacks || !asksForStacks(head.queries ?? [])) {
      return cached;
    }
    cached.dispose();
    return undefined;
  }

  #create(head: TaskHead, stacks: boolean, verdicts?: ReadonlyMap<string, Verdict>): CachedRun {
    const { onRecorder } = this.#options;
    const extra = {
      record: onRecorder !== undefined,
      callSites: stacks && "stacks",
      verdicts,
    } as const;
    const run = new CachedRun(this.#setup(head, extra));
    if (run.recorder !== undefined) onRecorder?.(run.identity, run.recorder);
    return run;
  }

  /** Releases the realm for other runs while a page of history is fetched. */
  readonly #fetch: FetchHistory = async (workflowId, runId, token) => {
    this.#lock.release();
    try {
      return await this.#options.fetchHistory(workflowId, runId, token);
    } finally {
      await this.#lock.acquire();
      this.#options.onTurnTo?.(runId);
    }
  };

  /** Releases the realm for other runs while local activities run. */
  #freed(runId: string, runLocally: RunLocalActivities): RunLocalActivities {
    return async (work) => {
      this.#lock.release();
      try {
        return await runLocally(work);
      } finally {
        await this.#lock.acquire();
        this.#options.onTurnTo?.(runId);
      }
    };
  }

  #setup(
    identity: RunIdentity & Pick<TaskHead, "runsReducers">,
    extra: {
      record?: boolean;
      callSites?: CallSites;
      quiet?: boolean;
      /** First pass of a replay for a verdict: sink calls during replay are made. */
      onlyReplays?: boolean;
      verdicts?: ReadonlyMap<string, Verdict> | undefined;
    },
  ): RunSetup {
    const { core, runOptions, programs, workflowTypes } = this.#options;
    const { workflowType, workflowId, runId } = identity;
    return {
      core,
      runOptions: identity.runsReducers === true
        ? { ...runOptions, runsReducers: true }
        : runOptions,
      program: programs(workflowType) ?? unknownWorkflow(workflowType, workflowTypes?.() ?? []),
      identity: { workflowType, workflowId, runId },
      converter: this.#converter,
      log: extra.quiet === true ? silentLog : this.#log,
      sinks: extra.quiet === true && extra.onlyReplays !== true ? undefined : this.#options.sinks,
      onlyReplays: extra.onlyReplays === true,
      reports: this.#reports,
      record: extra.record === true,
      callSites: extra.callSites ?? false,
      ...(extra.verdicts === undefined ? {} : { verdicts: extra.verdicts }),
    };
  }

  /** Evicts runs above the cache size. Returns their number. */
  #makeRoom(): number {
    let displaced = 0;
    for (const runId of this.#cache.keys()) {
      if (this.#cache.size <= this.#options.cacheSize) break;
      this.evict(runId);
      displaced++;
    }
    return displaced;
  }

  /** Runs the task again with call sites, in a separate run; used if it fails the same way. */
  async #diagnose(
    { head, bytes }: WorkflowTask,
    first: TaskOutcome,
    failed: CachedRun,
  ): Promise<TaskOutcome> {
    const run = new CachedRun(this.#setup(head, { callSites: true, quiet: true }));
    try {
      run.core.startTask(bytes);
      const second = await run.drive(this.#fetch);
      if (second.error === undefined || second.error.code !== first.error!.code) return first;
      failed.thrown = run.thrown;
      return first.error!.kind === ErrorKind.ERROR_KIND_NONDETERMINISM
        ? located(second, run)
        : second;
    } catch {
      // Without a better explanation the first outcome is used.
      return first;
    } finally {
      run.dispose();
    }
  }

  /**
   * For a query that was overtaken by a task: the cached run has advanced to an unconfirmed state.
   * A run rebuilt from history handles the query, and the cached one stays.
   */
  async #askApart({ head, bytes }: WorkflowTask, first: TaskOutcome): Promise<TaskOutcome> {
    const run = new CachedRun(this.#setup(head, { quiet: true }));
    try {
      run.core.startTask(bytes);
      const second = await run.drive(this.#fetch);
      return {
        ...second,
        evict: false,
        evictionReason: EvictionReason.EVICTION_REASON_UNSPECIFIED,
      };
    } catch {
      return first;
    } finally {
      run.dispose();
    }
  }

  /**
   * For a query of the wait positions, which are not recorded by default: a separate run replays
   * the whole history with stacks; the cached one stays.
   */
  async #askForStacks(task: WorkflowTask): Promise<RealmOutcome> {
    const { head, bytes } = task;
    const run = new CachedRun(this.#setup(head, { callSites: "stacks", quiet: true }));
    try {
      run.core.startTask(bytes);
      const outcome = await run.drive(this.#fetch);
      const evict = !this.#cache.has(head.runId);
      const evictionReason = EvictionReason.EVICTION_REASON_UNSPECIFIED;
      return { ...outcome, evict, evictionReason, cache: CACHE_UNUSED, runStartMs: run.startMs };
    } catch (e) {
      if (e instanceof CorePanicError) return this.#panicked(task, e);
      throw e;
    } finally {
      run.dispose();
    }
  }

  #panicked(task: WorkflowTask, error: CorePanicError): RealmOutcome {
    const { identity = "", namespace = "" } = this.#options.runOptions;
    const value = taskFailedRequest({
      taskToken: taskTokenOf(task),
      cause: FailedCause.UNHANDLED_FAILURE,
      failure: encodeFailure(error, this.#converter),
      identity,
      namespace,
    });
    return {
      response: { $case: "failed", value },
      evict: true,
      evictionReason: EvictionReason.EVICTION_REASON_FATAL,
      error: undefined,
      heartbeat: false,
      warnings: [],
      cache: CACHE_UNUSED,
      runStartMs: 0,
    };
  }

  /**
   * Replays a complete or truncated history (encoded History) without reports, and returns the
   * verdict.
   */
  async replay(
    workflowId: string,
    history: Uint8Array,
    options: ReplayOptions = {},
    told: ReplayListener = {},
  ): Promise<ReplayVerdict> {
    await this.#lock.acquire();
    told.onTurn?.();
    try {
      const verdict = await replayHistory(
        (identity, extra) => this.#setup(identity, { ...extra, quiet: true }),
        workflowId,
        history,
        options,
        told.progress,
      );
      told.onVerdict?.(verdict);
      return verdict;
    } finally {
      this.#lock.release();
    }
  }

  /**
   * The server accepted a completion: encoded RespondWorkflowTaskCompletedResponse. No-op for
   * evicted runs.
   */
  taskReported(runId: string, response: Uint8Array): void {
    const run = this.#cache.get(runId);
    if (run === undefined) {
      // A task that has started does not include this response, so its run is not kept.
      if (this.#open.has(runId)) this.#leaving.add(runId);
      return;
    }
    try {
      run.core.taskReported(response);
    } catch (e) {
      // Its state is unknown: the next task replays the whole history.
      this.evict(runId);
      throw e;
    }
  }

  /** Evicts a run, at once or at the end of its open task. Its next task replays the history. */
  evict(runId: string): void {
    const run = this.#cache.get(runId);
    if (run === undefined) {
      if (this.#open.has(runId)) this.#leaving.add(runId);
      return;
    }
    this.#cache.delete(runId);
    run.dispose();
  }

  dispose(): void {
    this.#disposed = true;
    for (const runId of this.cachedRunIds) this.evict(runId);
    this.#reports?.dispose();
  }
}

function wantsCallSites(outcome: TaskOutcome, run: CachedRun): boolean {
  if (outcome.error === undefined || outcome.response?.$case !== "failed") return false;
  return run.thrown instanceof DeadlockError ||
    (run.thrown === undefined && outcome.error.kind === ErrorKind.ERROR_KIND_NONDETERMINISM);
}

/** Adds the user's line to a divergence, in its message and in the response. */
function located(outcome: TaskOutcome, run: CachedRun): TaskOutcome {
  const { error, response } = outcome;
  const site = run.recorder?.siteOf(error!.commandKind, error!.seq) ?? "";
  if (site === "" || response?.$case !== "failed") return outcome;
  const message = `${error!.message} (at ${site})`;
  return {
    ...outcome,
    error: { ...error!, message },
    response: { $case: "failed", value: withFailureMessage(response.value, message) },
  };
}
