// One workflow run in memory: its handle in the core, its activator, and the loop between them
// (next step, activation, commands, finish) until the core returns an outcome. An error of workflow
// code fails the activation and its task; the run is unusable then.
import type {
  Activation,
  Step,
  TaskOutcome,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { WorkerCore } from "../../core/worker_half.ts";
import type { CoreRun } from "../../core/run.ts";
import { encodeFailure } from "../../converter/failure_converter.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { hop } from "../../platform/hop.ts";
import { FailedCause, isTaskError } from "../program/errors.ts";
import { type LocalWork, noLocalActivities, type RunLocalActivities } from "./local_work.ts";
import type { RunShown, Shows } from "../program/run_shown.ts";
import type {
  Activator,
  CallSites,
  LogSink,
  Program,
  TaskWishes,
  Verdict,
  WorkerVersion,
} from "../program/program.ts";
import { Recorder } from "./recording.ts";
import type { SinkPort } from "../program/sinks.ts";
import { OpenRejections, type RejectionReports } from "../program/rejections.ts";
import type { ReplayTracer } from "./replay_trace.ts";
import type { RunOptions } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";

/**
 * A page of history: encoded temporal.api.history.v1.History, and the next token (empty: last
 * page).
 */
export interface HistoryPage {
  readonly history: Uint8Array;
  readonly nextPageToken: Uint8Array;
}

/** Fetches a page of history; an empty token requests the first one. */
export type FetchHistory = (
  workflowId: string,
  runId: string,
  nextPageToken: Uint8Array,
) => Promise<HistoryPage>;

export interface RunIdentity {
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
}

/**
 * Settings of all runs (namespace, identity, sdk version, sticky queue, ...): for the core, and for
 * programs.
 */
export type RunSettings = Partial<RunOptions> & {
  readonly workerVersion?: WorkerVersion | undefined;
  /** The service runs reducers. */
  readonly runsReducers?: boolean;
  /** How much a run shows to a service that stores it. */
  readonly shows?: Shows | undefined;
  /** The service of this process stores it; others request it with a task. */
  readonly keepsShown?: boolean;
  /** Names of error classes that fail runs of a workflow type; "*": of all types. */
  readonly failureErrorTypes?: { readonly [workflowType: string]: readonly string[] } | undefined;
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
  /** Records what a debug session shows, including log lines. */
  readonly tracer?: ReplayTracer | undefined;
  /** Existing verdicts on updates of its first task. */
  readonly verdicts?: ReadonlyMap<string, Verdict>;
}

const NOBODY = new OpenRejections(() => true);

export class CachedRun {
  readonly core: CoreRun;
  readonly identity: RunIdentity;
  readonly recorder: Recorder | undefined;
  /** It was created with recorded wait positions. */
  readonly knowsStacks: boolean;
  /** The error that workflow code failed the last task with. */
  thrown: unknown;
  /** Events and bytes of its history, as last reported by the server. */
  historyLength = 0;
  historySizeBytes = 0;
  /** Start of the run in ms since the epoch; 0 before its code began. */
  startMs = 0;
  /** Its last task needed the history from the first event. */
  replayed = false;
  readonly #activator: Activator;
  readonly #shows: Shows | undefined;
  readonly #keepsShown: boolean;
  readonly #tracer: ReplayTracer | undefined;
  readonly #converter: PayloadConverter;
  readonly #throwsUnregistered: boolean;
  readonly #reports: RejectionReports | undefined;
  readonly #rejections: OpenRejections;
  /** User code ran since the last hop in which the host could report rejections. */
  #unreported = false;

  constructor(setup: RunSetup) {
    const { program, identity, runOptions, converter } = setup;
    this.identity = identity;
    const { jobOrder, sdkName, knownLangFlags = [], usedLangFlags = [] } = program;
    const langFlags = { knownLangFlags: [...knownLangFlags], usedLangFlags: [...usedLangFlags] };
    const { workerVersion, runsReducers = false, shows, keepsShown = false, ...others } =
      runOptions;
    const { failureErrorTypes = {}, ...ofCore } = others;
    this.#shows = shows;
    this.#keepsShown = keepsShown;
    this.core = setup.core.createRun({ ...ofCore, jobOrder, sdkName, ...langFlags });
    const sites = setup.callSites === true;
    this.recorder = setup.record || sites ? new Recorder(this.core, sites) : undefined;
    this.knowsStacks = setup.callSites === "stacks";
    this.#converter = converter;
    this.#throwsUnregistered = program.throwsUnregisteredLocal === true;
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
      failureErrorTypes: ["*", identity.workflowType].flatMap((type) =>
        failureErrorTypes[type] ?? []
      ),
      verdicts: setup.verdicts,
    });
    this.#rejections = new OpenRejections(
      (reason) => this.#activator.ignoresRejection?.(reason) ?? false,
      (reason) => this.#activator.rejectionMessage?.(reason),
    );
  }

  /**
   * Drives the core's open task to its outcome. `fetch` and `runLocally` are called between
   * activations. Rejects only if the core fails or is misused.
   */
  async drive(
    fetch: FetchHistory,
    runLocally: RunLocalActivities = noLocalActivities,
  ): Promise<TaskOutcome> {
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
            await this.#feed(
              fetch,
              step.value.workflowId,
              step.value.runId,
              step.value.nextPageToken,
            );
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

  /** The first unhandled rejection of workflow code, as the error that fails its task. */
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
      // Rejections of a query handler must not fail the run's next task.
      if (activation.queryOnly) this.#reports?.attribute(NOBODY);
      await this.#activator.activate(activation);
      if (this.#reports !== undefined) {
        // During replay the check follows the next activation; otherwise a completion is about to
        // be sent.
        this.#unreported = activation.isReplaying && !activation.queryOnly;
        if (!this.#unreported) await hop();
        // Queries run without a turn, so their hop is missing.
        if (activation.queryOnly) await hop();
        this.#reports.attribute(this.#rejections);
        const unhandled = this.#rejections.error();
        if (unhandled !== undefined) throw unhandled;
      }
      this.core.finishActivation();
    } catch (e) {
      if (this.core.poisoned) throw e;
      this.thrown = e;
      this.core.failActivation(
        encodeFailure(e, this.#converter),
        isTaskError(e) ? e.failedCause : FailedCause.UNHANDLED_FAILURE,
      );
    } finally {
      this.#tracer?.end(this.#activator.inspect?.());
    }
  }

  async #feed(
    fetch: FetchHistory,
    workflowId: string,
    runId: string,
    token: Uint8Array,
  ): Promise<void> {
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
      const { resolutions, heartbeat, failure } = await runLocally(
        this.#throwsUnregistered ? { ...work, throwsUnregistered: true } : work,
      );
      if (failure !== undefined) throw new Error(failure);
      for (const resolution of resolutions) this.core.resolveLocalActivity(resolution);
      if (heartbeat === true) this.core.heartbeat();
    } catch (e) {
      if (this.core.poisoned) throw e;
      this.thrown = e;
      this.core.failActivation(encodeFailure(e, this.#converter));
    }
  }

  /** What its completed task shows of it, if the service stores it. */
  shown(asked: boolean): RunShown | undefined {
    if (this.#shows === undefined || !(asked || this.#keepsShown)) return undefined;
    const shown = this.#activator.shown?.();
    return shown === undefined || this.#shows === "all" ? shown : { phase: shown.phase };
  }

  /** Options of the last task apart from its commands. */
  get wishes(): TaskWishes {
    return this.#activator.wishes ?? {};
  }

  dispose(): void {
    this.#activator.dispose();
    this.core.dispose();
  }
}

/** Start of the run, from its first activation; 0 in later ones. */
function startOf({ jobs }: Activation): number {
  for (const { variant } of jobs) {
    if (variant?.$case === "initializeWorkflow") return variant.value.startTimeMs;
  }
  return 0;
}
