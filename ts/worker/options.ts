// Options of a worker, their defaults, and what is refused before anything runs.
import type { CodecOptions } from "../codec/codec.ts";
import { type Duration, toMs } from "../converter/duration.ts";
import { MessageCodec } from "../codec/message_codec.ts";
import { PROCEDURE_QUEUE } from "../converter/procedure_names.ts";
import { defaultPayloadConverter, type PayloadConverter } from "../converter/payload.ts";
import { consoleLogger, processIdentity } from "../platform/host.ts";
import { DEFAULT_PAYLOAD_LIMITS, type PayloadLimits } from "../service/limits.ts";
import { containedListeners, containedLogger, containedMetrics } from "../base/contained.ts";
import type { Logger } from "../base/logger.ts";
import { metered } from "../service/metered.ts";
import type { Metrics } from "../base/metrics.ts";
import type { RawService } from "../service/raw.ts";
import { realTimers, type Timers } from "../base/timers.ts";
import type { ActivityThreads } from "./activity_pool.ts";
import { type ActivityDialect, NATIVE_ACTIVITIES } from "./activity_dialect.ts";
import type { Activities } from "./activity_registry.ts";
import { BuildStamp, type BuildStampOptions } from "./build_stamp.ts";
import { TaskWaits } from "./crash_guard.ts";
import { Deployment, type SentVersion, type WorkerDeploymentOptions } from "./deployment.ts";
import { MAX_EAGER_ACTIVITIES } from "./eager_activities.ts";
import { DEFAULT_HEARTBEAT_THROTTLE, type HeartbeatThrottle } from "./heartbeats.ts";
import {
  activityPolls,
  nexusPolls,
  type PollerBehavior,
  type PollRange,
  type WorkflowPollRanges,
  workflowPolls,
} from "./poller_behavior.ts";
import type { WorkerEvents } from "./events.ts";
import type { NexusServices, NexusServicesOf } from "./nexus_call.ts";
import type { ActivityInterceptor } from "./interceptors.ts";
import type { LogSink } from "../realm/realm.ts";
import type { RealmSettings } from "./realms.ts";
import { WorkerMetrics } from "./worker_metrics.ts";
import { type WorkflowTracer, WorkflowTracing } from "./workflow_tracing.ts";
import { WorkflowTaskMetrics } from "./workflow_task_metrics.ts";

/** Options of `Worker.create`. */
export interface WorkerOptions extends RealmSettings, CodecOptions {
  /**
   * An EmbeddedEngine, or a connection to a cluster; or the promise of one (`Connection.connect(...)`): the workflows are then loaded while
   * the connection is made, and `create` rejects with the promise's error if it fails.
   */
  service: RawService | Promise<RawService>;
  /** The queue whose tasks this worker takes. */
  taskQueue: string;
  /** Default: "default". */
  namespace?: string;
  /** Identity of the worker in histories. Default: the process id and a random part. */
  identity?: string;
  /** Activity functions by name, or several such objects; without them the worker takes workflow tasks only. */
  activities?: Activities | readonly Activities[];
  /** Activities that run in threads of their own, for those that compute: the functions that a module exports. */
  activityThreads?: ActivityThreads;
  /**
   * Answers Nexus operations, on a cluster: `nexusServices([...])` of "temporalex/nexus", with what `nexus.serviceHandler(...)` of nexus-rpc
   * makes. Default: no Nexus tasks are taken.
   */
  nexusServices?: NexusServicesOf;
  /** How values become payloads; must be the clients' and the workflows' one. Default: JSON. */
  converter?: PayloadConverter;
  /** Maximum workflow tasks at a time; at least 2. Default: 100. */
  maxConcurrentWorkflowTasks?: number;
  /** Activities running at once. Default: 100. */
  maxConcurrentActivities?: number;
  /** Local activities running at once. Default: 100. */
  maxConcurrentLocalActivities?: number;
  /** Nexus tasks in work at once. Default: 100. */
  maxConcurrentNexusTasks?: number;
  /** Activities that this worker starts per second. Default: no limit. */
  maxActivitiesPerSecond?: number;
  /** Activities started per second by all workers of the queue together. A cluster keeps to it; the embedded engine does not know it. */
  maxTaskQueueActivitiesPerSecond?: number;
  /** Polls for workflow tasks in flight. Default: `{ type: "autoscaling" }`. */
  workflowTaskPollerBehavior?: PollerBehavior;
  /** Polls for activity tasks in flight. Default: `{ type: "autoscaling" }`. */
  activityTaskPollerBehavior?: PollerBehavior;
  /** Polls for Nexus tasks in flight. Default: `{ type: "autoscaling" }`. */
  nexusTaskPollerBehavior?: PollerBehavior;
  /** Runs kept in memory, so that their next task need not replay them. 0 replays every task. Default: 1000. */
  cachedWorkflows?: number;
  /** How long a task of a cached run waits for this worker before any worker may take it. Default: 10 s. */
  stickyScheduleToStartTimeout?: Duration;
  /** Time that running activities are given at a shutdown before they are told to stop. Default: 0. */
  shutdownGraceMs?: number;
  /** Time after which a shutdown no longer waits for activities that ignore being told. Default: no limit. */
  shutdownForceMs?: number;
  /** Which version of which deployment this worker is. A cluster routes by it; the embedded engine does not know it. */
  workerDeploymentOptions?: WorkerDeploymentOptions;
  /** @internal The build id of a worker without a deployment. `workerDeploymentOptions` takes its place. */
  buildStamp?: BuildStampOptions;
  /** How often heartbeats reach the service at most. */
  heartbeatThrottle?: Partial<HeartbeatThrottle>;
  /** Sizes of payloads that are warned of and refused. */
  payloadLimits?: Partial<PayloadLimits>;
  /** Code around each attempt of an activity, the first one outermost. */
  activityInterceptors?: readonly ActivityInterceptor[];
  /** Makes traces of workflow runs: `openTelemetry()` of `temporalex/otel` has one. */
  workflowTracer?: WorkflowTracer;
  /** Where the worker, and its calls to the service, report what they do: a `MetricsRegistry`. Default: nothing is measured. */
  metrics?: Metrics;
  /** Where its records go. Default: lines on standard error. */
  logger?: Logger;
  /**
   * A file of this worker's own (Node, Deno) in which it notes whose workflow tasks are running: workflow code that asks for more memory
   * than there can be ends the whole process, and the next one logs then which runs that may have been. An engine on a store file does
   * this by itself, and more. Default: none.
   */
  crashNote?: string;
  /** What it tells you beside the log. */
  events?: WorkerEvents;
  /** @internal An activity that no one registered fails for good. */
  unknownActivityIsFinal?: boolean;
  /** @internal Its activities run only as local ones. */
  localActivitiesOnly?: boolean;
  /** @internal Activities that one workflow task may get back at once. Default: 3. */
  maxEagerActivities?: number;
  /** @internal Part of a fixed number of polls for workflow tasks that ask the common queue. Default: 0.2. */
  commonQueuePart?: number;
  /** @internal How activities are called, and what their errors mean. Default: as activities of this package. */
  activityDialect?: ActivityDialect;
  /** @internal What answers Nexus operations, ready made. Default: `nexusServices`. */
  nexus?: NexusServices;
  /** @internal Where lines of workflow code go, and of the executor about it. Default: `logger`. */
  workflowLog?: LogSink;
  /** @internal Time, for tests. */
  timers?: Timers;
  /** @internal Time of activities, for tests: their heartbeats, deadlines and sleeps. Default: `timers`. */
  activityTimers?: Timers;
}

/** Options with their defaults. */
export interface WorkerSettings {
  service: RawService;
  taskQueue: string;
  namespace: string;
  identity: string;
  converter: PayloadConverter;
  codec: MessageCodec | undefined;
  maxConcurrentWorkflowTasks: number;
  maxConcurrentActivities: number;
  maxConcurrentLocalActivities: number;
  maxConcurrentNexusTasks: number;
  maxActivitiesPerSecond: number | undefined;
  maxTaskQueueActivitiesPerSecond: number | undefined;
  workflowPolls: WorkflowPollRanges;
  activityPolls: PollRange;
  nexusPolls: PollRange;
  nexus: NexusServices | undefined;
  cachedWorkflows: number;
  stickyScheduleToStartTimeoutMs: number;
  shutdownGraceMs: number;
  shutdownForceMs: number;
  deployment: SentVersion | undefined;
  throttle: HeartbeatThrottle;
  limits: PayloadLimits;
  logger: Logger;
  events: WorkerEvents;
  crashNote: string | undefined;
  taskWaits: TaskWaits;
  activityInterceptors: readonly ActivityInterceptor[];
  metrics: WorkerMetrics | undefined;
  /** Where workflow code's own metrics go. */
  measured: Metrics | undefined;
  /** Follows workflow tasks, where somebody wants to know of them. */
  taskMetrics: WorkflowTaskMetrics | undefined;
  tracing: WorkflowTracing | undefined;
  unknownActivityIsFinal: boolean;
  localActivitiesOnly: boolean;
  maxEagerActivities: number;
  dialect: ActivityDialect;
  workflowLog: LogSink | undefined;
  timers: Timers;
  activityTimers: Timers;
}

function whole(name: string, value: number, minimum: number): number {
  if (!Number.isInteger(value) || value < minimum) {
    throw new RangeError(`the worker's ${name} must be a whole number of at least ${minimum}, not ${value}`);
  }
  return value;
}

function milliseconds(name: string, value: number): number {
  if (!(value >= 0)) throw new RangeError(`the worker's ${name} must be a number of milliseconds, not ${value}`);
  return value;
}

function rate(name: string, value: number | undefined): number | undefined {
  if (value !== undefined && !(value > 0)) throw new RangeError(`the worker's ${name} must be above 0, not ${value}`);
  return value;
}

/** The service as a worker calls it; one that is on its way is called when it is there. */
function serviceOf({ service }: WorkerOptions): RawService {
  if (!(service instanceof Promise)) return checkedService(service);
  return { call: async (method, request, options) => (await service).call(method, request, options) };
}

/** Throws a TypeError for what is no service: its calls would fail, and be tried again, for ever. */
export function checkedService(service: RawService): RawService {
  if (typeof (service as Partial<RawService> | undefined)?.call === "function") return service;
  throw new TypeError("a worker's service must be an EmbeddedEngine or a connection to a cluster, or the promise of one");
}

export function workerSettings(options: WorkerOptions): WorkerSettings {
  const { taskQueue } = options;
  if (typeof taskQueue !== "string" || taskQueue === "") throw new TypeError("a worker needs a taskQueue");
  if (taskQueue === PROCEDURE_QUEUE) {
    throw new TypeError(
      `no worker polls task queue "${taskQueue}": it is reserved for procedures, which clients complete; use another name`,
    );
  }
  const cachedWorkflows = whole("cachedWorkflows", options.cachedWorkflows ?? 1000, 0);
  // Each queue's poller holds a slot while it waits: with one slot the cached runs' own queue would starve.
  const maxConcurrentWorkflowTasks = whole(
    "maxConcurrentWorkflowTasks",
    options.maxConcurrentWorkflowTasks ?? 100,
    cachedWorkflows > 0 ? 2 : 1,
  );
  const maxConcurrentActivities = whole("maxConcurrentActivities", options.maxConcurrentActivities ?? 100, 1);
  const maxConcurrentLocalActivities = whole("maxConcurrentLocalActivities", options.maxConcurrentLocalActivities ?? 100, 1);
  const maxConcurrentNexusTasks = whole("maxConcurrentNexusTasks", options.maxConcurrentNexusTasks ?? 100, 1);
  const namespace = options.namespace ?? "default";
  const measured = options.metrics && containedMetrics(options.metrics);
  const metrics = measured && new WorkerMetrics(measured, namespace, taskQueue);
  const logger = containedLogger(options.logger ?? consoleLogger());
  return {
    service: metered(serviceOf(options), measured, { namespace, taskQueue }),
    taskQueue,
    namespace,
    identity: options.identity ?? processIdentity(),
    converter: options.converter ?? defaultPayloadConverter,
    codec: MessageCodec.of(options),
    maxConcurrentWorkflowTasks,
    maxConcurrentActivities,
    maxConcurrentLocalActivities,
    maxConcurrentNexusTasks,
    maxActivitiesPerSecond: rate("maxActivitiesPerSecond", options.maxActivitiesPerSecond),
    maxTaskQueueActivitiesPerSecond: rate("maxTaskQueueActivitiesPerSecond", options.maxTaskQueueActivitiesPerSecond),
    workflowPolls: workflowPolls(
      options.workflowTaskPollerBehavior,
      maxConcurrentWorkflowTasks,
      cachedWorkflows > 0,
      options.commonQueuePart,
    ),
    activityPolls: activityPolls(options.activityTaskPollerBehavior, maxConcurrentActivities),
    nexusPolls: nexusPolls(options.nexusTaskPollerBehavior, maxConcurrentNexusTasks),
    nexus: options.nexus,
    cachedWorkflows,
    stickyScheduleToStartTimeoutMs: toMs(options.stickyScheduleToStartTimeout ?? "10s"),
    shutdownGraceMs: milliseconds("shutdownGraceMs", options.shutdownGraceMs ?? 0),
    shutdownForceMs: milliseconds("shutdownForceMs", options.shutdownForceMs ?? Infinity),
    deployment: options.workerDeploymentOptions !== undefined
      ? new Deployment(options.workerDeploymentOptions)
      : options.buildStamp && new BuildStamp(options.buildStamp),
    throttle: { ...DEFAULT_HEARTBEAT_THROTTLE, ...options.heartbeatThrottle },
    limits: { ...DEFAULT_PAYLOAD_LIMITS, ...options.payloadLimits },
    logger,
    unknownActivityIsFinal: options.unknownActivityIsFinal ?? false,
    localActivitiesOnly: options.localActivitiesOnly ?? false,
    maxEagerActivities: options.maxEagerActivities ?? MAX_EAGER_ACTIVITIES,
    dialect: options.activityDialect ?? NATIVE_ACTIVITIES,
    workflowLog: options.workflowLog,
    events: containedListeners(options.events ?? {}, "a listener of the worker's events"),
    crashNote: options.crashNote,
    taskWaits: new TaskWaits(),
    activityInterceptors: [...options.activityInterceptors ?? []],
    metrics,
    measured,
    tracing: options.workflowTracer && new WorkflowTracing(options.workflowTracer, logger),
    taskMetrics: metrics && new WorkflowTaskMetrics(metrics),
    timers: options.timers ?? realTimers,
    activityTimers: options.activityTimers ?? options.timers ?? realTimers,
  };
}
