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
import { ActivityPool } from "./activities/activity_pool.ts";
import { ActivityRegistry } from "./activities/activity_registry.ts";
import { ActivityTasks } from "./activities/activity_tasks.ts";
import { CurrentActivities } from "./activities/current_activities.ts";
import type { NexusServices, NexusServicesOf } from "./nexus/nexus_call.ts";
import { NexusTasks } from "./nexus/nexus_tasks.ts";
import {
  checkedService,
  type WorkerOptions,
  type WorkerSettings,
  workerSettings,
} from "./options.ts";
import { openRealm, type Workflows } from "./workflow/realms.ts";
import type { Replacement, ReplacementOptions } from "./workflow/replacement.ts";
import { WorkflowReplacements } from "./workflow/workflow_replacements.ts";
import { WorkerLife } from "./worker_life.ts";
import { interceptActivity } from "./interceptors.ts";
import { LocalActivities } from "./activities/local_activities.ts";
import { Slots } from "./polls/slots.ts";
import { type ReservedTask, WorkerPollers } from "./polls/worker_pollers.ts";
import { WorkflowTasks } from "./workflow/workflow_tasks.ts";

/** State of a worker: created, running, stopping (no new tasks; running ones finish), stopped. */
export type WorkerState = "created" | "running" | "stopping" | "stopped";

interface WorkerParts {
  options: WorkerOptions;
  settings: WorkerSettings;
  realm: Realm | undefined;
  stickyQueue: string;
  current: CurrentActivities;
  local: LocalActivities;
}

/** Creates the local activities of the worker's workflows. */
function localActivities(settings: WorkerSettings, current: CurrentActivities): LocalActivities {
  const { activityInterceptors, maxConcurrentLocalActivities, activityTimers, codec } = settings;
  const slots = new Slots(maxConcurrentLocalActivities);
  const broadcast = broadcasting(settings);
  const run = (type: string) =>
    type === BROADCAST_ACTIVITY ? broadcast : interceptActivity(
      (context, args) => current.find(type)(context, args),
      activityInterceptors,
      codec,
    );
  return new LocalActivities(
    { ...settings, timers: activityTimers, slots, find: run },
    (type) => type === BROADCAST_ACTIVITY ? undefined : current.lacks(type),
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
  readonly #options: WorkerOptions;
  readonly #settings: WorkerSettings;
  readonly #workflowTasks: WorkflowTasks | undefined;
  readonly #activityTasks: ActivityTasks | undefined;
  readonly #nexusTasks: NexusTasks | undefined;
  readonly #local: LocalActivities;
  readonly #current: CurrentActivities;
  readonly #replacements: WorkflowReplacements | undefined;
  readonly #pollers: WorkerPollers;
  readonly #life: WorkerLife;
  #state: WorkerState = "created";
  #running: Promise<void> | undefined;

  private constructor({ options, settings, realm, stickyQueue, current, local }: WorkerParts) {
    this.#options = options;
    this.#settings = settings;
    this.#current = current;
    this.taskQueue = settings.taskQueue;
    this.identity = settings.identity;
    this.#local = local;
    if (realm !== undefined) {
      this.#workflowTasks = new WorkflowTasks({ ...settings, realm, local });
      this.#replacements = new WorkflowReplacements(
        this.#workflowTasks,
        options,
        settings,
        stickyQueue,
      );
    }
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
        find: (type) => current.find(type),
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
    const parts = {
      settings,
      workflowTasks: this.#workflowTasks,
      activityTasks: this.#activityTasks,
      nexusTasks: this.#nexusTasks,
      local,
      stickyQueue,
      instanceKey: randomId(),
    };
    this.#pollers = new WorkerPollers({ ...parts, stop: (failure) => this.#life.stop(failure) });
    this.#life = new WorkerLife({ ...parts, pollers: this.#pollers, options });
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
      const current = new CurrentActivities(registry, pool, activities, settings);
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
    this.#running = this.#live();
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
      await Promise.all([this.#workflowTasks?.realm.dispose(), this.#current.close()]);
      return;
    }
    this.#pollers.stopRepeating();
    this.#life.stop();
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
    if (this.#replacements === undefined) {
      throw new TypeError("this worker has no workflows to replace");
    }
    this.#replacements.check(workflows);
    this.#mustNotStop();
    return await this.#replacements.replace(workflows, options);
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
    this.#mustNotStop();
    return await this.#current.replace(activities, activityThreads);
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

  #mustNotStop(): void {
    if (this.#state === "stopping" || this.#state === "stopped") {
      throw new Error(`the worker is ${this.#state}`);
    }
  }

  async #live(): Promise<void> {
    const { logger, taskQueue, metrics, tracing } = this.#settings;
    const end = this.#life.start();
    logger.debug("the worker is running", { taskQueue });
    const failure = await this.#life.stopped;
    this.#state = "stopping";
    try {
      await end(() => this.#endReplacements());
      await Promise.all([this.#workflowTasks?.realm.dispose(), this.#current.close()]);
    } finally {
      metrics?.stopped();
      tracing?.stop();
      this.#state = "stopped";
    }
    logger.debug("the worker has stopped", { taskQueue });
    if (failure !== undefined) throw failure;
  }

  async #endReplacements(): Promise<void> {
    const reason = new Error("the worker is shutting down");
    this.#current.stopLoading(reason);
    await this.#replacements?.end(reason);
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
