// One workflow run in memory: its handle in the core, its activator, and the loop between them: next step, activation, commands, finish,
// until the core answers an outcome. What goes wrong in workflow code fails the activation and so the task; the run is void then.
import type { Activation, Step, TaskOutcome } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { WorkerCore } from "../../core/worker_half.ts";
import type { CoreRun } from "../../core/run.ts";
import { encodeFailure } from "../../converter/failure_converter.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { hop } from "../../platform/hop.ts";
import { FailedCause, isTaskError } from "../program/errors.ts";
import { type LocalWork, noLocalActivities, type RunLocalActivities } from "./local_work.ts";
import type { RunShown, Shows } from "../program/run_shown.ts";
import type { Activator, CallSites, LogSink, Program, TaskWishes, Verdict, WorkerVersion } from "../program/program.ts";
import { Recorder } from "./recording.ts";
import type { SinkPort } from "../program/sinks.ts";
import { OpenRejections, type RejectionReports } from "../program/rejections.ts";
import type { ReplayTracer } from "./replay_trace.ts";
import type { RunOptions } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";

/** A page of a run's history: bytes of temporal.api.history.v1.History, and the token of the next page (empty: the last). */
export interface HistoryPage {
  readonly history: Uint8Array;
  readonly nextPageToken: Uint8Array;
}

/** Fetches a page of history from event 1 (empty token) or on. */
export type FetchHistory = (workflowId: string, runId: string, nextPageToken: Uint8Array) => Promise<HistoryPage>;

export interface RunIdentity {
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
}

/** Namespace, identity, sdk version, sticky queue, ...: what the core is told of every run, and what programs alone are. */
export type RunSettings = Partial<RunOptions> & {
  readonly workerVersion?: WorkerVersion | undefined;
  /** The service runs reducers. */
  readonly runsReducers?: boolean;
  /** How much a run shows of itself to a service that keeps it. */
  readonly shows?: Shows | undefined;
  /** The service of this process does; others ask for it with a task. */
  readonly keepsShown?: boolean;
};

export interface RunSetup {
  readonly core: WorkerCore;
  readonly program: Program;
  readonly identity: RunIdentity;
  readonly runOptions: RunSettings;
  readonly converter: PayloadConverter;
  readonly log: LogSink;
  readonly sinks?: SinkPort | undefined;
  readonly onlyReplays?: boolean;
  readonly reports: RejectionReports | undefined;
  readonly record: boolean;
  readonly callSites: CallSites;
  /** Writes down what a debug session shows; log lines go there, too. */
  readonly tracer?: ReplayTracer | undefined;
  /** What validators said already of updates of the task that it is made for. */
  readonly verdicts?: ReadonlyMap<string, Verdict>;
}

const NOBODY = new OpenRejections(() => true);

export class CachedRun {
  readonly core: CoreRun;
  readonly identity: RunIdentity;
  readonly recorder: Recorder | undefined;
  /** It can say where its code waits: it was made for that. */
  readonly knowsStacks: boolean;
  /** What workflow code failed the last task with. */
  thrown: unknown;
  /** Events and bytes of its history, as far as the server has told. */
  historyLength = 0;
  historySizeBytes = 0;
  /** When the run was started; 0 before its code began. */
  startMs = 0;
  /** Its last task asked for the history from the first event. */
  replayed = false;
  readonly #activator: Activator;
  readonly #shows: Shows | undefined;
  readonly #keepsShown: boolean;
  readonly #tracer: ReplayTracer | undefined;
  readonly #converter: PayloadConverter;
  readonly #reports: RejectionReports | undefined;
  readonly #rejections: OpenRejections;
  /** User code ran since the last hop that the host could report rejections in. */
  #unreported = false;

  constructor(setup: RunSetup) {
    const { program, identity, runOptions, converter } = setup;
    this.identity = identity;
    const { jobOrder, sdkName, knownLangFlags = [], usedLangFlags = [] } = program;
    const langFlags = { knownLangFlags: [...knownLangFlags], usedLangFlags: [...usedLangFlags] };
    const { workerVersion, runsReducers = false, shows, keepsShown = false, ...ofCore } = runOptions;
    this.#shows = shows;
    this.#keepsShown = keepsShown;
    this.core = setup.core.createRun({ ...ofCore, jobOrder, sdkName, ...langFlags });
    const sites = setup.callSites === true;
    this.recorder = setup.record || sites ? new Recorder(this.core, sites) : undefined;
    this.knowsStacks = setup.callSites === "stacks";
    this.#converter = converter;
    this.#tracer = setup.tracer;
    this.#reports = setup.reports;
    this.#activator = program.createActivator({
      run: this.recorder ?? this.core,
      converter,
      log: setup.tracer ?? setup.log,
      logsReplay: setup.tracer !== undefined,
      watch: setup.tracer?.lines,
      sinks: setup.sinks,
      onlyReplays: setup.onlyReplays === true,
      namespace: runOptions.namespace ?? "",
      ...identity,
      callSites: setup.callSites,
      sdkVersion: runOptions.sdkVersion ?? "",
      workerVersion,
      runsReducers,
      verdicts: setup.verdicts,
    });
    this.#rejections = new OpenRejections(
      (reason) => this.#activator.ignoresRejection?.(reason) ?? false,
      (reason) => this.#activator.rejectionMessage?.(reason),
    );
  }

  /**
   * Drives the open task of the core to its outcome. `fetch` and `runLocally` are called between activations, never inside one. Rejects
   * only when the core itself failed or was misused.
   */
  async drive(fetch: FetchHistory, runLocally: RunLocalActivities = noLocalActivities): Promise<TaskOutcome> {
    this.thrown = undefined;
    this.replayed = false;
    this.#reports?.attribute(this.#rejections);
    try {
      for (;;) {
        const step: Step["kind"] = this.core.next().kind;
        switch (step?.$case) {
          case "activation":
            await this.#activate(step.value);
            break;
          case "needHistory":
            this.#reports?.attribute(undefined);
            await this.#feed(fetch, step.value.workflowId, step.value.runId, step.value.nextPageToken);
            this.#reports?.attribute(this.#rejections);
            break;
          case "localWork":
            this.#reports?.attribute(undefined);
            await this.#work(runLocally, step.value);
            this.#reports?.attribute(this.#rejections);
            break;
          case "outcome":
            if (this.#reports !== undefined && this.#unreported) await hop();
            return step.value;
          case undefined:
            throw new Error("the core returned an unknown step");
        }
      }
    } finally {
      this.#reports?.attribute(undefined);
    }
  }

  /** The first rejection of workflow code that nothing has handled, as the error that fails its task. */
  unhandledRejection(): Error | undefined {
    return this.#rejections.error();
  }

  async #activate(activation: Activation): Promise<void> {
    if (!activation.queryOnly) {
      this.historyLength = activation.historyLength;
      this.historySizeBytes = activation.historySizeBytes;
    }
    if (this.startMs === 0) this.startMs = startOf(activation);
    this.recorder?.begin(activation);
    this.#tracer?.begin(activation);
    try {
      // What a query handler leaves behind is not the run's: it must not fail its next task.
      if (activation.queryOnly) this.#reports?.attribute(NOBODY);
      await this.#activator.activate(activation);
      if (this.#reports !== undefined) {
        // A run that goes on replaying is looked at again after its next activation; otherwise a completion is about to leave.
        this.#unreported = activation.isReplaying && !activation.queryOnly;
        if (!this.#unreported) await hop();
        // Queries are answered without a turn, so the hop of one is missing.
        if (activation.queryOnly) await hop();
        this.#reports.attribute(this.#rejections);
        const unhandled = this.#rejections.error();
        if (unhandled !== undefined) throw unhandled;
      }
      this.core.finishActivation();
    } catch (e) {
      if (this.core.poisoned) throw e;
      this.thrown = e;
      this.core.failActivation(encodeFailure(e, this.#converter), isTaskError(e) ? e.failedCause : FailedCause.UNHANDLED_FAILURE);
    } finally {
      this.#tracer?.end(this.#activator.inspect?.());
    }
  }

  async #feed(fetch: FetchHistory, workflowId: string, runId: string, token: Uint8Array): Promise<void> {
    if (token.length === 0) this.replayed = true;
    try {
      const page = await fetch(workflowId, runId, token);
      this.core.feedHistory(page.history, page.nextPageToken);
    } catch (e) {
      if (this.core.poisoned) throw e;
      this.thrown = e;
      this.core.failActivation(encodeFailure(e, this.#converter));
    }
  }

  async #work(runLocally: RunLocalActivities, work: LocalWork): Promise<void> {
    try {
      const { resolutions, heartbeat, failure } = await runLocally(work);
      if (failure !== undefined) throw new Error(failure);
      for (const resolution of resolutions) this.core.resolveLocalActivity(resolution);
      if (heartbeat === true) this.core.heartbeat();
    } catch (e) {
      if (this.core.poisoned) throw e;
      this.thrown = e;
      this.core.failActivation(encodeFailure(e, this.#converter));
    }
  }

  /** What its completed task shows of it, where somebody keeps that. */
  shown(asked: boolean): RunShown | undefined {
    if (this.#shows === undefined || !(asked || this.#keepsShown)) return undefined;
    const shown = this.#activator.shown?.();
    return shown === undefined || this.#shows === "all" ? shown : { phase: shown.phase };
  }

  /** What the run wants for its last task beside its commands. */
  get wishes(): TaskWishes {
    return this.#activator.wishes ?? {};
  }

  dispose(): void {
    this.#activator.dispose();
    this.core.dispose();
  }
}

/** When the run was started, of the activation that begins it. */
function startOf({ jobs }: Activation): number {
  for (const { variant } of jobs) if (variant?.$case === "initializeWorkflow") return variant.value.startTimeMs;
  return 0;
}
