// The worker: polls for tasks, runs workflow code in its realm and activities in this process or in
// threads, and reports results. Needs only a RawService and a realm.
import { checkOptions, needsOption } from "../base/option_kinds.ts";
import { WORKER_OPTIONS } from "./option_kinds.ts";
import { BROADCAST_ACTIVITY } from "../converter/subscriptions.ts";
import { broadcasting } from "./workflow/broadcast.ts";
import { randomId } from "../platform/host.ts";
import { withCodec } from "../codec/coded_service.ts";
import { containedMetrics } from "../base/contained.ts";
import { metered } from "../service/metered.ts";
import type { Realm } from "../realm/realm.ts";
import { typedService } from "../service/typed.ts";
import { WorkflowService } from "../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { namespaceRequest, readNamespaceOffer } from "../api/server_info.ts";
import type { ActivityDialect, RunActivity } from "./activities/activity_dialect.ts";
import { ActivityPool } from "./activities/activity_pool.ts";
import { takeActivityRejections } from "./activities/activity_rejections.ts";
import { ActivityRegistry } from "./activities/activity_registry.ts";
import { ActivityTasks } from "./activities/activity_tasks.ts";
import { drainWorker } from "./polls/draining.ts";
import type { NexusServices, NexusServicesOf } from "./nexus/nexus_call.ts";
import { NexusTasks } from "./nexus/nexus_tasks.ts";
import {
  checkedService,
  type WorkerOptions,
  type WorkerSettings,
  workerSettings,
} from "./options.ts";
import { openRealm, type Workflows } from "./workflow/realms.ts";
import { type Replacement, type ReplacementOptions, replaceRealm } from "./workflow/replacement.ts";
import { intercepted } from "./interceptors.ts";
import { LocalActivities } from "./activities/local_activities.ts";
import { Slots } from "./polls/slots.ts";
import { type ReservedTask, WorkerPollers } from "./polls/worker_pollers.ts";
import { WorkflowTasks } from "./workflow/workflow_tasks.ts";
import { evictClosedRuns } from "./workflow/closed_runs.ts";
import { noteTasks } from "./workflow/left_behind.ts";

/** State of a worker: created, running, stopping (no new tasks; running ones finish), stopped. */
export type WorkerState = "created" | "running" | "stopping" | "stopped";

const LOOK_MS = 10_000;
const BUILD_AFTER_MS = 100;

interface WorkerParts {
  options: WorkerOptions;
  settings: WorkerSettings;
  realm: Realm | undefined;
  stickyQueue: string;
  current: CurrentActivities;
  local: LocalActivities;
}

/** The current activities of the worker. */
interface CurrentActivities {
  registry: ActivityRegistry | undefined;
  pool: ActivityPool | undefined;
}

/** Returns the function that runs an activity, in a thread or in this one. */
function find(
  type: string,
  { registry, pool }: CurrentActivities,
  dialect: ActivityDialect,
): RunActivity {
  if (pool?.names.includes(type)) return (context, args) => pool.run(type, context, args);
  return dialect.call((registry ?? NO_ACTIVITIES).find(type));
}

const NO_ACTIVITIES = new ActivityRegistry({});

/** Creates the local activities of the worker's workflows. */
function localActivities(settings: WorkerSettings, current: CurrentActivities): LocalActivities {
  const { activityInterceptors, maxConcurrentLocalActivities, activityTimers, dialect, codec } =
    settings;
  const slots = new Slots(maxConcurrentLocalActivities);
  const broadcast = broadcasting(settings);
  const run = (type: string) =>
    type === BROADCAST_ACTIVITY ? broadcast : intercepted(
      (context, args) => find(type, current, dialect)(context, args),
      activityInterceptors,
      codec,
    );
  return new LocalActivities(
    { ...settings, timers: activityTimers, slots, find: run },
    (type) =>
      type === BROADCAST_ACTIVITY ? undefined : (current.registry ?? NO_ACTIVITIES).lacks(type),
  );
}

/**
 * The worker of one task queue: polls for workflow and activity tasks, runs them, and reports
 * results. `Worker.create(options)`, then `run()`.
 *
 * @example
 * const worker = await Worker.create({ service: engine, taskQueue: "main", workflows: new URL("./workflows.ts", import.meta.url),
 * activities });
 * const done = worker.run();
 * await worker.shutdown();
 * await done;
 */
export class Worker {
  readonly taskQueue: string;
  /** Identity of the worker in histories. */
  readonly identity: string;
  #options: WorkerOptions;
  readonly #settings: WorkerSettings;
  readonly #stickyQueue: string;
  readonly #workflowTasks: WorkflowTasks | undefined;
  readonly #activityTasks: ActivityTasks | undefined;
  readonly #nexusTasks: NexusTasks | undefined;
  readonly #local: LocalActivities;
  readonly #current: CurrentActivities;
  /** Replaced pools with running activities. */
  readonly #retired = new Set<ActivityPool>();
  /** Aborts a running replacement of the workflows; resolves when it has ended. */
  #endReplacement: ((reason: Error) => Promise<void>) | undefined;
  /** Aborts activities that are being loaded. */
  readonly #stopLoading = new AbortController();
  readonly #pollers: WorkerPollers;
  readonly #instanceKey = randomId();
  #state: WorkerState = "created";
  #running: Promise<void> | undefined;
  #stop!: (failure?: Error) => void;
  readonly #stopped: Promise<Error | undefined>;

  private constructor({ options, settings, realm, stickyQueue, current, local }: WorkerParts) {
    this.#options = options;
    this.#settings = settings;
    this.#stickyQueue = stickyQueue;
    this.#current = current;
    this.taskQueue = settings.taskQueue;
    this.identity = settings.identity;
    this.#stopped = new Promise((resolve) => (this.#stop = resolve));
    this.#local = local;
    if (realm !== undefined) this.#workflowTasks = new WorkflowTasks({ ...settings, realm, local });
    if (current.registry !== undefined && !settings.localActivitiesOnly) {
      this.#activityTasks = new ActivityTasks({
        ...settings,
        typed: typedService(
          settings.codec === undefined
            ? settings.service
            : withCodec(settings.service, settings.codec, settings),
        ),
        timers: settings.activityTimers,
        reportTimers: settings.timers,
        find: (type) => find(type, current, settings.dialect),
      });
    }
    if (settings.nexus !== undefined) {
      const { nexus: services, activityTimers, timers } = settings;
      this.#nexusTasks = new NexusTasks({
        ...settings,
        services,
        timers: activityTimers,
        reportTimers: timers,
      });
    }
    this.#pollers = new WorkerPollers({
      settings,
      workflowTasks: this.#workflowTasks,
      activityTasks: this.#activityTasks,
      nexusTasks: this.#nexusTasks,
      local,
      stickyQueue,
      instanceKey: this.#instanceKey,
      stop: (failure) => this.#stop(failure),
    });
  }

  /** Loads the workflows. Polls only after `run`. */
  static async create(options: WorkerOptions): Promise<Worker> {
    const { service, activities, activityThreads } = options ?? {};
    // It may reject while workflows are loaded; the rejection is reported after that.
    if (service instanceof Promise) service.catch(() => {});
    checkOptions("Worker.create", options, WORKER_OPTIONS);
    needsOption("Worker.create", "service", { ...options }, WORKER_OPTIONS);
    const settings = workerSettings(options);
    if (
      options.realm === undefined && options.realmEntry === undefined &&
      options.workflows === undefined &&
      activities === undefined && activityThreads === undefined && options.nexus === undefined &&
      options.nexusServices === undefined
    ) {
      throw new TypeError("a worker needs workflows or activities");
    }
    const stickyQueue = settings.cachedWorkflows > 0
      ? `${settings.taskQueue}-sticky-${randomId()}`
      : "";
    const pool = activityThreads &&
      await ActivityPool.open(activityThreads, settings.timers, undefined, settings.codec);
    try {
      const registry = activities === undefined && pool === undefined
        ? undefined
        : new ActivityRegistry(activities ?? {}, settings, pool?.names);
      const current: CurrentActivities = { registry, pool };
      const local = localActivities(settings, current);
      const realm = await openRealm(options, settings, stickyQueue);
      try {
        if (realm !== undefined) settings.deployment?.check(realm);
        if (service instanceof Promise) {
          const measured = options.metrics && containedMetrics(options.metrics);
          settings.service = metered(checkedService(await service), measured, settings);
        }
        settings.nexus ??= options.nexusServices &&
          nexusOf(options.nexusServices, options, settings);
      } catch (error) {
        await realm?.dispose();
        throw error;
      }
      return new Worker({ options, settings, realm, stickyQueue, current, local });
    } catch (error) {
      await pool?.close();
      throw error;
    }
  }

  /** State of the worker. */
  get state(): WorkerState {
    return this.#state;
  }

  /**
   * Whether the worker runs and the service accepts the polls of every poller, for readiness
   * probes.
   */
  get ready(): boolean {
    return this.#state === "running" && this.#pollers.all.every((poller) => poller.served);
  }

  /** Types of the current workflows. */
  get workflowTypes(): readonly string[] {
    return this.#workflowTasks?.realm.workflowTypes ?? [];
  }

  /**
   * Whether workflows of every type run here: a `@temporalio/workflow` program may have a default
   * export.
   */
  get takesAnyType(): boolean {
    return (this.#workflowTasks?.realm as Partial<Realm> | undefined)?.takesAnyType ?? false;
  }

  /** Types of the current activities. */
  get activityTypes(): readonly string[] {
    return this.#current.registry?.names ?? [];
  }

  /** Names of the current Nexus services. */
  get nexusServices(): readonly string[] {
    return this.#nexusTasks?.services.names ?? [];
  }

  /** Running activities, including local ones. */
  get runningActivities(): number {
    return (this.#activityTasks?.running ?? 0) + this.#local.running;
  }

  /** @internal Running tasks of all kinds. */
  get runningTasks(): number {
    return this.#pollers.tasks;
  }

  /** @internal Running Nexus handlers. */
  get runningNexusHandlers(): number {
    return this.#nexusTasks?.running ?? 0;
  }

  /** @internal Running local activities. */
  get runningLocalActivities(): number {
    return this.#local.running;
  }

  /** @internal Runs in the cache. */
  get cachedRuns(): number {
    return this.#workflowTasks?.realm.cachedRuns ?? 0;
  }

  /** @internal Workflow tasks in progress, without those that wait for local activities. */
  get busyWorkflowTasks(): number {
    return this.#pollers.workflow.reduce((count, poller) => count + poller.tasks, 0) -
      this.#local.waiting;
  }

  /**
   * @internal Reserves a slot for the workflow task that a start may return; undefined if none is
   * free.
   */
  reserveWorkflowTask(): ReservedTask | undefined {
    return this.#state === "running" ? this.#pollers.reserveWorkflowTask() : undefined;
  }

  /** @internal Tasks in progress, without activities that only sleep. */
  get busyTasks(): number {
    const activities = this.#pollers.activity.reduce((count, poller) => count + poller.tasks, 0);
    const local = this.#local.waiting - this.#local.idle;
    return this.busyWorkflowTasks + local + activities + this.runningNexusHandlers -
      (this.#activityTasks?.sleeping ?? 0);
  }

  /**
   * Runs until `shutdown` is called and all tasks are finished. Rejects with a WorkerPollError if
   * the service rejects the worker permanently; other errors are logged and retried.
   */
  run(): Promise<void> {
    if (this.#running !== undefined) {
      throw new Error("run() can be called once per worker; create another worker");
    }
    this.#state = "running";
    this.#running = this.#life();
    return this.#running;
  }

  /**
   * Finishes running tasks, cancels activities after the grace period. Resolves when the worker has
   * stopped.
   */
  async shutdown(): Promise<void> {
    if (this.#state === "created") {
      this.#state = "stopped";
      this.#running = Promise.resolve();
      await this.#endReplacements();
      await Promise.all([this.#workflowTasks?.realm.dispose(), this.#current.pool?.close()]);
      return;
    }
    this.#pollers.isStopping = true;
    this.#stop();
    // A failure is reported by run().
    await this.#running?.catch(() => {});
  }

  /**
   * Runs while a promise (or the promise of a function) is pending, then stops. Resolves to its
   * value.
   */
  async runUntil<T>(work: Promise<T> | (() => Promise<T>)): Promise<T> {
    const running = this.run();
    const ended = running.then(() => {
      throw new Error("the worker was shut down before the promise of runUntil settled");
    });
    const promise = typeof work === "function" ? Promise.resolve().then(work) : work;
    // Prevents an unhandled rejection of the one that settles later.
    promise.catch(() => {});
    ended.catch(() => {});
    try {
      return await Promise.race([promise, ended]);
    } finally {
      await this.shutdown();
    }
  }

  /**
   * Replaces the workflow code of the running worker by `workflows`, or by the same modules as they
   * are now. Every open run of the task queue is replayed with the new code first. Tasks use the
   * old code until all replays have succeeded; no task is lost or counted as a failed attempt.
   *
   * Rejects, with the old code still in use, with a WorkflowLoadError (the modules do not load), a
   * WorkflowReplacementError (runs that the new code cannot replay, with event and line of code),
   * or an Error if it is not possible now.
   */
  async replaceWorkflows(
    workflows?: Workflows,
    options: ReplacementOptions = {},
  ): Promise<Replacement> {
    const tasks = this.#workflowTasks;
    const { realm: kind } = this.#options;
    if (tasks === undefined) throw new TypeError("this worker has no workflows to replace");
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
    if (this.#state === "stopping" || this.#state === "stopped") {
      throw new Error(`the worker is ${this.#state}`);
    }
    if (this.#endReplacement !== undefined) {
      throw new Error("another replacement of the workflows is in progress; wait until it is done");
    }
    const stop = new AbortController();
    const give = () => stop.abort(options.signal!.reason);
    if (options.signal?.aborted) give();
    else options.signal?.addEventListener("abort", give, { once: true });
    const work = this.#replace(tasks, workflows, { ...options, signal: stop.signal });
    this.#endReplacement = (reason) => {
      stop.abort(reason);
      return work.then(() => {}, () => {});
    };
    try {
      return await work;
    } finally {
      this.#endReplacement = undefined;
      options.signal?.removeEventListener("abort", give);
    }
  }

  async #replace(
    tasks: WorkflowTasks,
    workflows: Workflows | undefined,
    options: ReplacementOptions,
  ): Promise<Replacement> {
    const settings = this.#settings;
    options.onProgress?.({ phase: "load", checked: 0, total: 0 });
    const realmOptions = workflows === undefined ? this.#options : { ...this.#options, workflows };
    const next = (await openRealm(realmOptions, settings, this.#stickyQueue))!;
    const old = tasks.realm;
    let result: Replacement;
    try {
      settings.deployment?.check(next);
      result = await replaceRealm({ ...settings, tasks }, next, options);
    } catch (error) {
      await next.dispose();
      throw error;
    }
    this.#options = realmOptions;
    await old.dispose();
    settings.logger.debug("the workflows were replaced", {
      taskQueue: this.taskQueue,
      checkedRuns: result.checkedRuns,
    });
    return result;
  }

  /**
   * Replaces the activities of the worker: later attempts use them, running ones finish. An option
   * that is left out is unchanged. Returns the types of all activities. Rejects without changes if
   * they fail to load.
   */
  async replaceActivities(
    { activities, activityThreads }: Pick<WorkerOptions, "activities" | "activityThreads">,
  ): Promise<readonly string[]> {
    if (this.#activityTasks === undefined) {
      throw new TypeError("this worker has no activities to replace");
    }
    if (this.#state === "stopping" || this.#state === "stopped") {
      throw new Error(`the worker is ${this.#state}`);
    }
    const { timers, codec } = this.#settings;
    const pool = activityThreads === undefined
      ? this.#current.pool
      : await ActivityPool.open(activityThreads, timers, this.#stopLoading.signal, codec);
    const old = this.#current.pool;
    try {
      const own = activities ?? this.#options.activities ?? {};
      this.#current.registry = new ActivityRegistry(own, this.#settings, pool?.names);
    } catch (error) {
      if (pool !== old) await pool?.close();
      throw error;
    }
    if (activities !== undefined) this.#options = { ...this.#options, activities };
    this.#current.pool = pool;
    if (pool !== old && old !== undefined) {
      // It closes after its last activity; only a shutdown waits for that.
      this.#retired.add(old);
      void old.retire().then(() => this.#retired.delete(old));
    }
    return this.#current.registry.names;
  }

  /**
   * Replaces the Nexus services of the worker: later requests use them, running handlers finish.
   * Throws a TypeError without changes for invalid services.
   */
  replaceNexusServices(nexusServices: NexusServicesOf): void {
    if (this.#nexusTasks === undefined) {
      throw new TypeError("this worker has no Nexus services to replace");
    }
    this.#nexusTasks.services = nexusOf(nexusServices, this.#options, this.#settings);
  }

  async #life(): Promise<void> {
    const { logger, taskQueue } = this.#settings;
    // Without lost polls the capabilities are not needed.
    const looking = this.#settings.service.losesCancelledPolls === true
      ? this.#lookAround()
      : undefined;
    const noted = this.#workflowTasks && noteTasks(this.#settings);
    if (noted !== undefined) this.#workflowTasks!.noteRunningTasks(noted.running);
    const endEvictions = this.#workflowTasks &&
      evictClosedRuns(this.#settings, this.#workflowTasks);
    this.#pollers.start();
    const building = this.#buildLater();
    const untake = this.#activityTasks && takeActivityRejections(this.#settings.codec);
    logger.debug("the worker is running", { taskQueue });
    const failure = await this.#stopped;
    clearTimeout(building);
    this.#state = "stopping";
    looking?.abort();
    endEvictions?.();
    try {
      await this.#drain();
    } finally {
      untake?.();
      this.#settings.metrics?.stopped();
      this.#settings.tracing?.stop();
      if (noted?.own === true) noted.running.close();
      this.#state = "stopped";
    }
    logger.debug("the worker has stopped", { taskQueue });
    if (failure !== undefined) throw failure;
  }

  /**
   * Builds descriptors that activities need after the first polls are sent, so that no task waits
   * for it.
   */
  #buildLater(): ReturnType<typeof setTimeout> | undefined {
    if (this.#activityTasks === undefined) return undefined;
    const timer = setTimeout(() => void WorkflowService.method, BUILD_AFTER_MS);
    (timer as { unref?(): void }).unref?.();
    return timer;
  }

  /** Requests the namespace's capabilities in the background; an error means none. */
  #lookAround(): AbortController {
    const { service, namespace, logger } = this.#settings;
    const giveUp = new AbortController();
    const options = { signal: giveUp.signal, timeoutMs: LOOK_MS };
    service.call("describeNamespace", namespaceRequest(namespace), options).then(readNamespaceOffer)
      .then(
        ({ endsPolls, largestPayload }) => {
          this.#pollers.pollsAreEnded = endsPolls;
          // The namespace's own limit, unless the options set one.
          if (largestPayload > 0 && this.#options.payloadLimits?.errorBytes === undefined) {
            this.#settings.limits.errorBytes = largestPayload;
          }
        },
        // The polls report errors of the namespace or the connection.
        (error) => logger.debug("the service did not report its capabilities", { error }),
      );
    return giveUp;
  }

  async #endReplacements(): Promise<void> {
    const reason = new Error("the worker is shutting down");
    this.#stopLoading.abort(reason);
    await this.#endReplacement?.(reason);
  }

  async #drain(): Promise<void> {
    await this.#endReplacements();
    await drainWorker({
      settings: this.#settings,
      pollers: this.#pollers,
      workflowTasks: this.#workflowTasks,
      activityTasks: this.#activityTasks,
      nexusTasks: this.#nexusTasks,
      local: this.#local,
      stickyQueue: this.#stickyQueue,
      instanceKey: this.#instanceKey,
    });
    await Promise.all([
      this.#workflowTasks?.realm.dispose(),
      ...[this.#current.pool, ...this.#retired].map((pool) => pool?.close()),
    ]);
  }
}

function nexusOf(
  services: NexusServicesOf,
  { converter, codec, encodeCommonAttributes }: WorkerOptions,
  { service, namespace, taskQueue, identity, logger }: WorkerSettings,
): NexusServices {
  return services({
    service,
    namespace,
    taskQueue,
    identity,
    logger,
    converter,
    codec,
    encodeCommonAttributes,
  });
}
