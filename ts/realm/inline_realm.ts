// A realm in the calling thread, for unit tests and benchmarks. Globals are not replaced, so
// Date.now() and Math.random() are the host's, and workflows that use them do not replay. An
// infinite loop in a workflow blocks the thread. Use a worker realm where either matters.
import { defaultPayloadConverter, type PayloadConverter } from "../converter/payload.ts";
import { loadWorkerCore, type WorkerCore } from "../core/worker_half.ts";
import type { VersioningBehavior } from "../executor/program/definition.ts";
import { type ProgramTable, silentLog } from "../executor/program/program.ts";
import { TaskRunner, type TaskRunnerOptions } from "../executor/tasks/task_runner.ts";
import { addThreadWork } from "../platform/thread_work.ts";
import { captureRejections } from "../platform/rejections.ts";
import { Explainer } from "./explained.ts";
import { programsOf, type WorkflowModule } from "./programs.ts";
import {
  type CommonRealmOptions,
  DEFAULT_CACHE_SIZE,
  noHistory,
  type Realm,
  RealmDisposedError,
  type RealmOutcome,
} from "./realm.ts";

/** Options of {@link createInlineRealm}. */
export interface InlineRealmOptions extends CommonRealmOptions {
  /** Namespaces of modules that export workflows, or lists of definitions. */
  readonly workflows: WorkflowModule | readonly WorkflowModule[];
  /** The worker half of the core. Default: the package's. */
  readonly core?: WorkerCore;
  /** Converts values to payloads. Default: JSON. */
  readonly converter?: PayloadConverter;
  /** Called for every run that is loaded: its commands are recorded (for tests). */
  readonly onRecorder?: TaskRunnerOptions["onRecorder"];
}

/** Creates an inline realm. */
export async function createInlineRealm(options: InlineRealmOptions): Promise<Realm> {
  const modules =
    (Array.isArray(options.workflows)
      ? [options.workflows, ...options.workflows]
      : [options.workflows])
      .filter((m) => typeof m === "object" && m !== null) as WorkflowModule[];
  const programs = programsOf(modules, "the workflow modules export");
  const runner = new TaskRunner({
    core: options.core ?? await loadWorkerCore(),
    programs: (name) => programs.get(name),
    workflowTypes: () => programs.names(),
    runOptions: options.runOptions ?? {},
    cacheSize: options.cacheSize ?? DEFAULT_CACHE_SIZE,
    fetchHistory: options.fetchHistory ?? noHistory,
    log: options.log ?? silentLog,
    converter: options.converter ?? defaultPayloadConverter,
    rejections: captureRejections({ ownThread: false }),
    ...(options.onRecorder === undefined ? {} : { onRecorder: options.onRecorder }),
  });
  return new InlineRealm(runner, programs, options.runOptions?.namespace);
}

class InlineRealm implements Realm {
  readonly workflowTypes: readonly string[];
  readonly takesAnyType = false;
  readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
  readonly #runner: TaskRunner;
  readonly #explainer: Explainer;
  readonly #removeWork: () => void;
  #disposed = false;

  constructor(runner: TaskRunner, programs: ProgramTable, namespace: string | undefined) {
    this.#runner = runner;
    this.#removeWork = addThreadWork(() => runner.isRunning);
    this.#explainer = new Explainer((...args) => runner.replay(...args), { namespace });
    this.workflowTypes = programs.names();
    this.versioningBehaviors = programs.versioningBehaviors;
  }

  #check(): void {
    if (this.#disposed) throw new RealmDisposedError();
  }

  get cachedRuns(): number {
    return this.#runner.cachedRuns;
  }

  async runTask(...args: Parameters<Realm["runTask"]>): Promise<RealmOutcome> {
    this.#check();
    return await this.#runner.runTask(...args);
  }

  async replay(...args: Parameters<Realm["replay"]>): ReturnType<Realm["replay"]> {
    this.#check();
    return await this.#explainer.replay(...args);
  }

  taskReported(runId: string, response: Uint8Array): void {
    if (!this.#disposed) this.#runner.taskReported(runId, response);
  }

  evict(runId: string): void {
    if (!this.#disposed) this.#runner.evict(runId);
  }

  dispose(): Promise<void> {
    if (!this.#disposed) this.#runner.dispose();
    this.#removeWork();
    this.#disposed = true;
    return Promise.resolve();
  }
}
