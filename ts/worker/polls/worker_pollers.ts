// The pollers of a worker: its task queue and its sticky queue for workflow tasks, its task queue
// for activities and Nexus tasks.
import { PollNexusTaskQueueRequest } from "../../messages/generated/fields.ts";
import { TaskQueueKind } from "../../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type { WorkflowTask } from "../../realm/realm.ts";
import { type CallOptions, Code } from "../../service/raw.ts";
import type { ActivityTasks } from "../activities/activity_tasks.ts";
import { EagerActivities } from "../workflow/eager_activities.ts";
import type { LocalActivities } from "../activities/local_activities.ts";
import type { NexusTasks } from "../nexus/nexus_tasks.ts";
import type { WorkerSettings } from "../options.ts";
import { pollRequest } from "./poll_requests.ts";
import { type PollAnswer, Poller, type PollerOptions } from "./poller.ts";
import type { PollRange } from "./poller_behavior.ts";
import { RateLimit } from "./rate_limit.ts";
import { hasCode } from "../workflow/reports.ts";
import { Slots } from "./slots.ts";
import { QuietTime } from "./quiet_time.ts";
import { isEmptyTask, readScaling, SCALING_FIELD } from "../task_bytes.ts";
import type { PollerType, WorkerType } from "../metrics/worker_metrics.ts";
import type { WorkflowTasks } from "../workflow/workflow_tasks.ts";

/** Deadline of a poll, in ms. Services respond earlier (Temporal after about a minute). */
const POLL_MS = 70_000;
/**
 * The same for activities of a service that loses tasks of canceled polls: shutdown waits for it.
 */
export const LOSSY_POLL_MS = 5000;

export interface PollerParts {
  readonly settings: WorkerSettings;
  readonly workflowTasks: WorkflowTasks | undefined;
  readonly activityTasks: ActivityTasks | undefined;
  readonly nexusTasks: NexusTasks | undefined;
  readonly local: LocalActivities;
  /** "": no sticky queue. */
  readonly stickyQueue: string;
  readonly instanceKey: string;
  /** Called by a poller with an error that ends the worker. */
  stop(failure: Error): void;
}

/** A slot for a workflow task that does not come with a poll. */
export interface ReservedTask {
  /** Processes the task: an encoded PollWorkflowTaskQueueResponse. */
  run(task: Uint8Array): void;
  /** Releases the slot if `run` was not called. */
  release(): void;
  /** An encoded WorkerDeploymentOptions; undefined for a worker without a version. */
  readonly deploymentOptions: Uint8Array | undefined;
}

function atMost({ min, initial, max }: PollRange, limit: number): PollRange {
  return {
    min: Math.min(min, limit),
    initial: Math.min(initial, limit),
    max: Math.min(max, limit),
  };
}

export class WorkerPollers {
  readonly workflow: Poller<WorkflowTask>[] = [];
  readonly activity: Poller<Uint8Array>[] = [];
  readonly nexus: Poller<Uint8Array>[] = [];
  /**
   * The service ends this worker's polls when it is notified of the shutdown: no need to cancel
   * them.
   */
  pollsAreEnded = false;
  /** Shutdown was requested: later poll errors are expected. */
  #isStopping = false;
  /** Time since the last task from a poll. */
  readonly quiet: QuietTime;
  readonly #parts: PollerParts;
  readonly #settings: WorkerSettings;
  #eager: EagerActivities | undefined;
  /** A poller reported an error that ends the worker. */
  #failing = false;

  constructor(parts: PollerParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.quiet = new QuietTime(parts.settings.timers);
  }

  /** Running tasks, including local activities. */
  get tasks(): number {
    return this.all.reduce((sum, poller) => sum + poller.tasks, 0) + this.#parts.local.running;
  }

  get all(): readonly Poller<WorkflowTask | Uint8Array>[] {
    return [...this.workflow, ...this.activity, ...this.nexus] as Poller<
      WorkflowTask | Uint8Array
    >[];
  }

  /** Resolves when no report with requested activities is in flight. */
  async eagerIdle(): Promise<void> {
    await this.#eager?.idle();
  }

  /** Reserves a slot for a workflow task; undefined if none is free. */
  reserveWorkflowTask(): ReservedTask | undefined {
    const [poller] = this.workflow;
    let free = poller?.slots.tryAcquire();
    if (free === undefined) return undefined;
    const take = () => {
      const taken = free;
      free = undefined;
      return taken;
    };
    return {
      deploymentOptions: this.#settings.deployment?.poll.deploymentOptions,
      release: () => take()?.(),
      run: (bytes) => {
        const task = this.#parts.workflowTasks!.read(bytes);
        const release = task === undefined ? undefined : take();
        if (release !== undefined) poller!.work(task!, release);
      },
    };
  }

  /** Creates the pollers and sends the first polls. */
  start(): void {
    const { taskQueue, maxConcurrentWorkflowTasks, maxConcurrentActivities, metrics } =
      this.#settings;
    const { workflowPolls, activityPolls } = this.#settings;
    if (this.#parts.workflowTasks !== undefined) {
      const tasks = this.#parts.workflowTasks;
      const common = {
        slots: new Slots(maxConcurrentWorkflowTasks),
        handle: (task: WorkflowTask) => tasks.handle(task),
      };
      const what = `workflow tasks of queue "${taskQueue}"`;
      const normal = this.#workflowPoll(tasks, { name: taskQueue, kind: TaskQueueKind.NORMAL });
      this.workflow.push(
        this.#poller({
          ...common,
          what,
          polls: workflowPolls.normal,
          poll: normal,
          polled: metrics?.polled("workflow_task"),
        }),
      );
      if (workflowPolls.sticky !== undefined) {
        const sticky = this.#workflowPoll(tasks, {
          name: this.#parts.stickyQueue,
          kind: TaskQueueKind.STICKY,
          normalName: taskQueue,
        });
        this.workflow.push(
          this.#poller({
            ...common,
            what: `${what} (sticky)`,
            polls: workflowPolls.sticky,
            poll: sticky,
            polled: metrics?.polled("sticky_workflow_task"),
          }),
        );
      }
    }
    if (this.#parts.activityTasks !== undefined) {
      const tasks = this.#parts.activityTasks;
      const perSecond = this.#settings.maxActivitiesPerSecond;
      this.activity.push(this.#poller({
        what: `activity tasks of queue "${taskQueue}"`,
        // Each waiting poll may bring a task at any moment, whatever the pace.
        polls: perSecond === undefined
          ? activityPolls
          : atMost(activityPolls, Math.ceil(perSecond / 100)),
        pace: perSecond === undefined ? undefined : new RateLimit(perSecond, this.#settings.timers),
        slots: new Slots(maxConcurrentActivities),
        poll: this.#activityPoll(),
        polled: metrics?.polled("activity_task"),
        handle: (task) => tasks.handle(task),
      }));
      this.#askEagerly(this.activity[0]!);
    }
    this.#startNexus();
    this.#report();
    for (const poller of this.all) poller.start();
  }

  /** Sends no further polls, from the request of a shutdown on. */
  stopRepeating(): void {
    this.#isStopping = true;
    for (const poller of this.all) poller.stopRepeating();
  }

  #startNexus(): void {
    const tasks = this.#parts.nexusTasks;
    if (tasks === undefined) return;
    const { taskQueue, maxConcurrentNexusTasks, nexusPolls, metrics } = this.#settings;
    this.nexus.push(this.#poller({
      what: `Nexus tasks of queue "${taskQueue}"`,
      polls: nexusPolls,
      slots: new Slots(maxConcurrentNexusTasks),
      poll: this.#nexusPoll(),
      polled: metrics?.polled("nexus_task"),
      handle: (task) => tasks.handle(task),
    }));
  }

  /** Not with rate limits, which eager activities would bypass. */
  #askEagerly(poller: Poller<Uint8Array>): void {
    const {
      taskQueue,
      maxActivitiesPerSecond,
      maxTaskQueueActivitiesPerSecond,
      maxEagerActivities,
    } = this.#settings;
    if (maxActivitiesPerSecond !== undefined || maxTaskQueueActivitiesPerSecond !== undefined) {
      return;
    }
    const work = (task: Uint8Array, release: () => void) => {
      this.#parts.activityTasks?.noteEager(task);
      poller.work(task, release);
    };
    this.#eager = new EagerActivities({
      taskQueue,
      slots: poller.slots,
      work,
      most: maxEagerActivities,
    });
    this.#parts.workflowTasks?.askFor(this.#eager);
  }

  /** Registers the gauges. */
  #report(): void {
    const { metrics } = this.#settings;
    if (metrics === undefined) return;
    metrics.started();
    const gauges = (
      pollers: readonly Pick<Poller<unknown>, "slots" | "waiting">[],
      worker: WorkerType,
      types: readonly PollerType[],
    ) => {
      pollers.forEach((poller, i) => metrics.pollers(types[i]!, () => poller.waiting));
      if (pollers.length === 0) return;
      metrics.slots(
        worker,
        pollers[0]!.slots,
        () => pollers.reduce((sum, poller) => sum + poller.waiting, 0),
      );
    };
    gauges(this.workflow, "WorkflowWorker", ["workflow_task", "sticky_workflow_task"]);
    gauges(this.activity, "ActivityWorker", ["activity_task"]);
    gauges(this.nexus, "NexusWorker", ["nexus_task"]);
    const tasks = this.#parts.workflowTasks;
    if (tasks === undefined) return;
    metrics.slots("LocalActivityWorker", this.#parts.local.slots, () => 0);
    metrics.cacheSize(() => tasks.realm.cachedRuns);
  }

  #poller<Task>(options: Omit<PollerOptions<Task>, "logger" | "timers" | "onFatal">): Poller<Task> {
    const { logger, timers } = this.#settings;
    return new Poller({
      ...options,
      quiet: this.quiet,
      logger,
      timers,
      onFatal: (error) => {
        // An error of one poller ends all.
        if (!this.#failing && !this.#isStopping) logger.error("the worker stops", { error });
        this.#failing = true;
        this.#parts.stop(error);
      },
    });
  }

  #workflowPoll(
    tasks: WorkflowTasks,
    queue: { name: string; kind: TaskQueueKind; normalName?: string },
  ) {
    const { namespace, identity, deployment } = this.#settings;
    const workerInstanceKey = this.#parts.instanceKey;
    return this.#poll(
      "pollWorkflowTaskQueue",
      pollRequest({
        namespace,
        identity,
        taskQueue: queue,
        workerInstanceKey,
        ...deployment?.poll,
      }),
      (response) => tasks.read(response),
    );
  }

  #activityPoll() {
    const { namespace, identity, taskQueue, deployment, maxTaskQueueActivitiesPerSecond } =
      this.#settings;
    return this.#poll(
      "pollActivityTaskQueue",
      pollRequest({
        namespace,
        identity,
        taskQueue: { name: taskQueue, kind: TaskQueueKind.NORMAL },
        workerInstanceKey: this.#parts.instanceKey,
        ...deployment?.poll,
        maxTasksPerSecond: maxTaskQueueActivitiesPerSecond,
      }),
      (response) => response,
      this.#settings.service.losesCancelledPolls ? LOSSY_POLL_MS : POLL_MS,
    );
  }

  #nexusPoll() {
    const { namespace, identity, taskQueue, deployment } = this.#settings;
    const queue = { name: taskQueue, kind: TaskQueueKind.NORMAL };
    const fields = {
      namespace,
      identity,
      taskQueue: queue,
      workerInstanceKey: this.#parts.instanceKey,
      ...deployment?.poll,
    };
    return this.#poll(
      "pollNexusTaskQueue",
      pollRequest(fields, PollNexusTaskQueueRequest),
      (response) => response,
    );
  }

  #poll<Task>(
    method: keyof typeof SCALING_FIELD,
    request: Uint8Array,
    read: (response: Uint8Array) => Task | undefined,
    timeoutMs = POLL_MS,
  ) {
    const { service } = this.#settings;
    return async (signal: AbortSignal): Promise<PollAnswer<Task> | undefined> => {
      const options: CallOptions = { signal, timeoutMs: this.pollsAreEnded ? POLL_MS : timeoutMs };
      try {
        const response = await service.call(method, request, options);
        const task = isEmptyTask(response) ? undefined : read(response);
        return { task, scaling: readScaling(response, SCALING_FIELD[method]) };
      } catch (error) {
        if (hasCode(error, Code.DEADLINE_EXCEEDED)) return undefined;
        throw error;
      }
    };
  }
}
