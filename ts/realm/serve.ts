// The code inside a worker realm. In order: saves what it needs from the host, starts the core,
// installs the guard, loads the workflow modules, seals the globals and reports ready; then it runs
// tasks. A bundled application has its own entry: `serveRealm(() => import("./workflows.ts"))`. The
// function form loads modules under the guard; with `serveRealm(workflows)` their top-level code
// ran unguarded. Modules that the host posts are added.
import type { PayloadConverter } from "../converter/payload.ts";
import * as converterModule from "../converter/mod.ts";
import { type WorkerCore, workerTrap } from "../core/worker_half.ts";
import type { TaskOutcome } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { noteLoaded } from "../executor/program/call_site.ts";
import type { HistoryPage } from "../executor/tasks/cached_run.ts";
import type { LineAt } from "../executor/tasks/line_follower.ts";
import type { LocalAnswer, LocalWork } from "../executor/tasks/local_work.ts";
import type { VersioningBehavior } from "../executor/program/definition.ts";
import type { ProgramTable } from "../executor/program/program.ts";
import { lineProbes } from "../executor/program/line_probe.ts";
import { TaskRunner } from "../executor/tasks/task_runner.ts";
import type { WorkflowTask } from "../messages/workflow_task.ts";
import { hostPort } from "../platform/threads.ts";
import * as workflowModule from "../workflow/mod.ts";
import { formatArgs } from "./guard/console.ts";
import { stackText } from "../converter/stack.ts";
import { errorText, isA, messageOf, nameOf } from "../converter/thrown.ts";
import type { Guard } from "./guard/mod.ts";
import { displayName, WorkflowLoadError } from "../modules/loader/errors.ts";
import type { ModuleGraph } from "../modules/loader/module_graph.ts";
import { EvaluableGraph, type Namespace } from "../modules/loader/evaluate.ts";
import { keptWords, watchReplacements } from "./replacements.ts";
import { NO_RUN, prepared, preparedEarly, type PreparedRealm } from "./prepared.ts";
import { programsOf, programTable, type WorkflowModule } from "./programs.ts";
import type { FromRealm, InitMessage, ToRealm } from "./protocol.ts";
import type { TemporalPrograms } from "./temporal_programs.ts";

/**
 * Workflows of a bundled realm: a module's namespace, or (recommended) a function that imports it.
 */
export type ServedWorkflows = WorkflowModule | (() => WorkflowModule | Promise<WorkflowModule>);

/** Options of {@link serveRealm}. */
export interface ServeOptions {
  /** The converter of the application's clients and workers. Default: JSON. */
  readonly payloadConverter?: PayloadConverter;
  /** @internal The core, if the host cannot post a compiled one: into an opaque origin. */
  readonly core?: Promise<WebAssembly.Module>;
  /**
   * @internal Runs the core under the guard until the host's first message arrives (`isAwaited`),
   * so that its code is compiled by then. Must check `isAwaited` between short pieces of work, and
   * must have saved what the guard blocks. Only with `core`, and for modules with rewritten scopes:
   * the realm is prepared before its modules are known.
   */
  readonly rehearse?: (core: WorkerCore, isAwaited: () => boolean) => Promise<void>;
}

interface Served extends ServeOptions {
  readonly workflows: ServedWorkflows | undefined;
}

/**
 * Serves a realm in this worker. Omit `workflows` if the host posts the sources of all workflows.
 */
export function serveRealm(workflows?: ServedWorkflows, options: ServeOptions = {}): void {
  const port = hostPort();
  let realm: RealmInside | undefined;
  let isAwaited = false;
  // Failures of the preparation occur again, and are reported, when the realm is started.
  const early = options.rehearse === undefined || options.core === undefined
    ? undefined
    : preparedEarly(port, options.core, (core) => options.rehearse!(core, () => isAwaited)).catch(
      () => undefined,
    );
  const start = async (init: InitMessage) => {
    isAwaited = true;
    try {
      realm = await RealmInside.start(await early ?? await prepared(port, init, options), init, {
        workflows,
        ...options,
      });
      const { workflowTypes, takesAnyType, versioningBehaviors } = realm;
      port.post(
        { t: "ready", workflowTypes, takesAnyType, versioningBehaviors } satisfies FromRealm,
      );
    } catch (e) {
      const text = nameOf(e) === "Error" ? messageOf(e) : errorText(e);
      const problems = e instanceof WorkflowLoadError ? { problems: e.problems } : {};
      port.post({ t: "refused", message: text, ...problems } satisfies FromRealm);
    }
  };
  port.listen((data) => {
    const message = data as ToRealm;
    if (message.t !== "init") realm?.receive(message);
    else void start(message);
  });
}

class RealmInside {
  readonly workflowTypes: readonly string[];
  readonly takesAnyType: boolean;
  readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
  readonly #send: (message: FromRealm, transfer?: readonly object[]) => void;
  readonly #runner: TaskRunner;
  readonly #alive: { start(): void; stop(): void };
  /** Ids of open tasks by run, and of replays under undefined; each list in order. */
  readonly #open = new Map<string | undefined, number[]>();
  /** The replay that the host knows as current. */
  #turnedTo = 0;
  readonly #pages = new Map<
    number,
    { resolve(page: HistoryPage): void; reject(error: Error): void }
  >();
  /** Tasks that wait for local activities. */
  readonly #locals = new Map<number, (answer: LocalAnswer) => void>();
  #nextPage = 1;
  /** Number of runs in memory, as last reported to the host. */
  #cachedRuns = 0;
  #trapped = false;

  static async start(made: PreparedRealm, init: InitMessage, served: Served): Promise<RealmInside> {
    const { log, nowMs, guard } = made;
    const temporal = init.graph?.needsTemporal === true ? made.temporal : undefined;
    const { programs, converter } = await load(
      init,
      served,
      guard,
      temporal,
      nowMs(),
      (message) => {
        log({ ...NO_RUN, level: "warn", message, timeMs: nowMs(), source: "executor" });
      },
    );
    if (temporal !== undefined) guard.keepAdditions();
    // Runs also share what this package provides.
    guard.seal([
      ...Object.values(workflowModule),
      ...Object.values(converterModule),
      ...temporal?.shared() ?? [],
    ]);
    return new RealmInside(made, init, programs, converter);
  }

  private constructor(
    { send, core, heartbeat, rejections, log }: PreparedRealm,
    init: InitMessage,
    programs: ProgramTable,
    converter: PayloadConverter | undefined,
  ) {
    this.#send = send;
    this.#alive = heartbeat(init.aliveMs);
    this.workflowTypes = programs.names();
    this.takesAnyType = programs.takesAnyType;
    this.versioningBehaviors = programs.versioningBehaviors;
    this.#runner = new TaskRunner({
      core,
      programs: (name) => programs.get(name),
      workflowTypes: () => programs.names(),
      runOptions: init.runOptions,
      cacheSize: init.cacheSize,
      fetchHistory: (workflowId, runId, token) => this.#fetch(workflowId, runId, token),
      log: { write: log },
      sinks: { functions: init.sinks, call: (call) => send({ t: "sink", call }) },
      ...(converter === undefined ? {} : { converter }),
      rejections,
      onTurnTo: (runId) => {
        const id = this.#open.get(runId)?.[0];
        if (id !== undefined) send({ t: "busy", id });
      },
    });
  }

  receive(message: Exclude<ToRealm, InitMessage>): void {
    switch (message.t) {
      case "batch":
        for (const each of message.messages) this.receive(each);
        return;
      case "task":
        return void this.#task(message.id, message.task);
      case "replay":
        return void this.#replay(message);
      case "page": {
        const { history, nextPageToken } = message;
        this.#pages.get(message.id)?.resolve({ history, nextPageToken });
        this.#pages.delete(message.id);
        return;
      }
      case "noPage":
        this.#pages.get(message.id)?.reject(new Error(message.message));
        this.#pages.delete(message.id);
        return;
      case "local":
        this.#locals.get(message.id)?.(message.answer);
        this.#locals.delete(message.id);
        return;
      case "reported":
        return this.#guarded(() => this.#runner.taskReported(message.runId, message.response));
      case "evict":
        return this.#guarded(() => this.#runner.evict(message.runId));
    }
  }

  async #task(id: number, task: WorkflowTask): Promise<void> {
    const { runId } = task.head;
    this.#begin(runId, id);
    try {
      const outcome = await this.#runner.runTask(task, (work) => this.#runLocally(id, work));
      const cachedRuns = this.#cachedRuns = this.#runner.cachedRuns;
      this.#send({ t: "outcome", id, outcome, cachedRuns }, buffersOf(outcome));
    } catch (e) {
      // After a trap the host reports the task.
      if (this.#probe()) return;
      this.#tellCached();
      this.#send({ t: "error", id, message: messageOf(e) });
    } finally {
      this.#end(runId, id);
    }
  }

  async #replay(
    { id, workflowId, history, options }: Extract<ToRealm, { t: "replay" }>,
  ): Promise<void> {
    this.#begin(undefined, id);
    try {
      await this.#runner.replay(workflowId, history, options, {
        progress: options.trace !== true ? undefined : {
          task: (eventId) => this.#send({ t: "at", id, eventId }),
          ...(options.follow !== undefined &&
            { line: (at: LineAt) => this.#send({ t: "line", id, at }) }),
        },
        onTurn: () => {
          if (this.#turnedTo !== id) this.#send({ t: "busy", id });
          this.#turnedTo = id;
        },
        // Sent before other work can run: if code that does not yield delayed it, the host would
        // blame this replay.
        onVerdict: (verdict) => {
          const error = verdict.error === undefined
            ? {}
            : { error: { ...verdict.error, thrown: shown(verdict.error.thrown) } };
          const next = this.#nextReplay(id);
          this.#send({
            t: "verdict",
            id,
            verdict: { ...verdict, ...error },
            ...(next !== undefined && { next }),
          });
          if (next !== undefined) this.#turnedTo = next;
        },
      });
    } catch (e) {
      if (!this.#probe()) this.#send({ t: "error", id, message: messageOf(e) });
    } finally {
      this.#end(undefined, id);
    }
  }

  /** Returns the replay that certainly runs next. */
  #nextReplay(id: number): number | undefined {
    if (this.#open.size > 1) return undefined;
    const ids = this.#open.get(undefined)!;
    return ids[ids.indexOf(id) + 1];
  }

  #begin(runId: string | undefined, id: number): void {
    if (this.#open.size === 0) this.#alive.start();
    const ids = this.#open.get(runId);
    if (ids === undefined) this.#open.set(runId, [id]);
    else ids.push(id);
  }

  #end(runId: string | undefined, id: number): void {
    const ids = this.#open.get(runId)!.filter((other) => other !== id);
    if (ids.length > 0) this.#open.set(runId, ids);
    else this.#open.delete(runId);
    if (this.#open.size === 0) this.#alive.stop();
    this.#probe();
  }

  /** Runs work without a result. Its errors appear when the run gets its next task. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch {
      if (this.#probe()) return;
    }
    this.#tellCached();
  }

  /** Reports the number of runs in memory, if it changed since the last outcome. */
  #tellCached(): void {
    const runs = this.#runner.cachedRuns;
    if (runs !== this.#cachedRuns) this.#send({ t: "cached", runs });
    this.#cachedRuns = runs;
  }

  /**
   * Whether the core has trapped: its memory is then unreliable, and the host replaces the realm.
   */
  #probe(): boolean {
    const message = workerTrap();
    if (message === undefined) return false;
    if (!this.#trapped) this.#send({ t: "trapped", message });
    return this.#trapped = true;
  }

  #fetch(workflowId: string, runId: string, nextPageToken: Uint8Array): Promise<HistoryPage> {
    const id = this.#nextPage++;
    return new Promise((resolve, reject) => {
      this.#pages.set(id, { resolve, reject });
      this.#send({ t: "fetch", id, workflowId, runId, nextPageToken });
    });
  }

  #runLocally(id: number, work: LocalWork): Promise<LocalAnswer> {
    return new Promise((resolve) => {
      this.#locals.set(id, resolve);
      this.#send({ t: "local", id, work });
    });
  }
}

async function load(
  init: InitMessage,
  { workflows, payloadConverter }: Served,
  guard: Guard,
  temporal: TemporalPrograms | undefined,
  nowMs: number,
  warn: (message: string) => void,
): Promise<{ programs: ProgramTable; converter: PayloadConverter | undefined }> {
  if (init.graph === undefined && workflows === undefined) {
    throw new Error(
      "the realm has no workflows: pass sources, or an entry file that serves workflows",
    );
  }
  const served = workflows === undefined
    ? []
    : [typeof workflows === "function" ? await workflows() : workflows];
  const replaced = workflows === undefined ? undefined : guard.restore();
  if (replaced !== undefined) warn(`the bundle ${keptWords(replaced.name)}`);
  if (init.graph === undefined) {
    return {
      programs: programsOf(served, "the workflow modules export"),
      converter: payloadConverter,
    };
  }
  const provided = {
    workflow: { namespace: workflowModule as unknown as Namespace },
    converter: { namespace: converterModule as unknown as Namespace },
    ...temporal?.provided(),
  };
  // Namespace objects of bundlers are extensible, and all runs would see added properties; real
  // namespaces are not.
  for (const { namespace } of Object.values(provided)) {
    if (Object.isExtensible(namespace)) Object.freeze(namespace);
  }
  noteLoaded(init.graph.modules.map(({ url }) => url));
  const watch = watchReplacements(init.graph.modules, guard, warn);
  const graph = new EvaluableGraph(init.graph, {
    provided,
    evaluate: guard.evaluate,
    hostModule: guard.hostModule,
    whileLoading: guard.whileLoading,
    probes: (source) => lineProbes.add(source),
  });
  lineProbes.isLoading = true;
  const modules = graph.evaluateShared(watch);
  lineProbes.isLoading = false;
  const shared = init.hasConverter ? modules.pop() : undefined;
  const forRuns = init.graph.runEntries.length === 0
    ? undefined
    : await temporal!.load(graph, watch, nowMs);
  const converting = shared ?? forRuns?.converter;
  return {
    programs: programTable(
      modules,
      forRuns,
      exporting(init.graph, init.hasConverter),
      served,
      entryFiles(init.graph),
    ),
    converter: converting === undefined ? payloadConverter : converterOf(converting, temporal),
  };
}

/** Returns the files of the modules that are evaluated for all runs, in order. */
function entryFiles({ modules, entries }: ModuleGraph): string[] {
  return entries.map((index) => displayName(modules[index]!.url));
}

/** Returns the named modules as the subject of a sentence. */
function exporting(
  { modules, entries, runEntries, runConverter }: ModuleGraph,
  hasConverter: boolean,
): string {
  const named = [...hasConverter ? entries.slice(0, -1) : entries, ...runEntries].filter((index) =>
    index !== runConverter
  );
  const names = [...new Set(named)].map((index) => displayName(modules[index]!.url));
  return names.length === 1
    ? `the workflow module ${names[0]} exports`
    : `the workflow modules${names.length > 0 ? ` ${names.join(", ")}` : ""} export`;
}

/**
 * Returns the payload converter. A `failureConverter` in the module is for `@temporalio/workflow`
 * programs.
 */
function converterOf(
  namespace: Namespace,
  temporal: TemporalPrograms | undefined,
): PayloadConverter {
  const found = (namespace["payloadConverter"] ?? namespace["default"]) as
    | Partial<PayloadConverter>
    | undefined;
  if (typeof found?.toPayload !== "function" || typeof found.fromPayload !== "function") {
    throw new Error(
      "the payload converter's module exports no converter: export it as `payloadConverter`, with toPayload and fromPayload",
    );
  }
  temporal?.convertFailures(namespace["failureConverter"], found as PayloadConverter);
  return found as PayloadConverter;
}

/** Returns the buffer of the response, which is transferred instead of copied. */
function buffersOf({ response }: TaskOutcome): readonly object[] {
  if (response === undefined || !("value" in response) || !(response.value instanceof Uint8Array)) {
    return [];
  }
  return response.value.byteLength === 0 ? [] : [response.value.buffer];
}

/** Returns a thrown value as data. */
function shown(thrown: unknown): unknown {
  if (!isA(thrown, Error)) return thrown === undefined ? undefined : formatArgs([thrown]);
  return { name: nameOf(thrown), message: messageOf(thrown), stack: stackText(thrown) };
}
