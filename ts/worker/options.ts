// Options of a worker, their defaults, and the checks before anything runs.
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
import type { ActivityThreads } from "./activities/activity_pool.ts";
import { type ActivityDialect, NATIVE_ACTIVITIES } from "./activities/activity_dialect.ts";
import type { Activities } from "./activities/activity_registry.ts";
import { BuildStamp, type BuildStampOptions } from "./build_stamp.ts";
import { TaskWaits } from "./workflow/crash_guard.ts";
import { Deployment, type SentVersion, type WorkerDeploymentOptions } from "./deployment.ts";
import { MAX_EAGER_ACTIVITIES } from "./workflow/eager_activities.ts";
import { DEFAULT_HEARTBEAT_THROTTLE, type HeartbeatThrottle } from "./activities/heartbeats.ts";
import {
  activityPolls,
  nexusPolls,
  type PollerBehavior,
  type PollRange,
  type WorkflowPollRanges,
  workflowPolls,
} from "./polls/poller_behavior.ts";
import type { WorkerEvents } from "./events.ts";
import type { NexusServices, NexusServicesOf } from "./nexus/nexus_call.ts";
import type { ActivityInterceptor } from "./interceptors.ts";
import type { LogSink } from "../realm/realm.ts";
import type { RealmSettings } from "./workflow/realms.ts";
import { WorkerMetrics } from "./metrics/worker_metrics.ts";
import { type WorkflowTracer, WorkflowTracing } from "./workflow/workflow_tracing.ts";
import { WorkflowTaskMetrics } from "./metrics/workflow_task_metrics.ts";

/** Options of `Worker.create`. */
export interface WorkerOptions extends RealmSettings, CodecOptions {
  /**
   * An EmbeddedEngine, a connection to a cluster, or a promise of one (`Connection.connect(...)`):
   * the workflows then load while the connection is made, and `create` rejects with the promise's
   * error.
   */
  service: RawService | Promise<RawService>;
  taskQueue: string;
  /** Default: "default". */
  namespace?: string;
  /** Identity of the worker in histories. Default: the process id and a random part. */
  identity?: string;
  /**
   * Activity functions by name, or several such objects. Without them the worker polls only for
   * workflow tasks.
   */
  activities?: Activities | readonly Activities[];
  /** Activities in separate threads, for computation: the functions that a module exports. */
  activityThreads?: ActivityThreads;
  /**
   * Nexus operations, on a cluster: `nexusServices([...])` of "temporalex/nexus" with the handlers
   * of `nexus.serviceHandler(...)` (nexus-rpc). Default: the worker takes no Nexus tasks.
   */
  nexusServices?: NexusServicesOf;
  /** Converts values to payloads; must match the clients and workflows. Default: JSON. */
  converter?: PayloadConverter;
  /** Maximum workflow tasks at a time; at least 2. Default: 100. */
  maxConcurrentWorkflowTasks?: number;
  /** Maximum activities at a time. Default: 100. */
  maxConcurrentActivities?: number;
  /** Maximum local activities at a time. Default: 100. */
  maxConcurrentLocalActivities?: number;
  /** Maximum Nexus tasks at a time. Default: 100. */
  maxConcurrentNexusTasks?: number;
  /** Maximum activities that this worker starts per second. Default: no limit. */
  maxActivitiesPerSecond?: number;
  /** Maximum activities per second of all workers of the queue. Ignored by the embedded engine. */
  maxTaskQueueActivitiesPerSecond?: number;
  /** Polls for workflow tasks in flight. Default: `{ type: "autoscaling" }`. */
  workflowTaskPollerBehavior?: PollerBehavior;
  /** Polls for activity tasks in flight. Default: `{ type: "autoscaling" }`. */
  activityTaskPollerBehavior?: PollerBehavior;
  /** Polls for Nexus tasks in flight. Default: `{ type: "autoscaling" }`. */
  nexusTaskPollerBehavior?: PollerBehavior;
  /**
   * Runs kept in memory, so that their next task needs no replay. 0 replays every task. Default:
   * 1000.
   */
  cachedWorkflows?: number;
  /**
   * How long a task of a cached run waits for this worker until any worker may take it. Default: 10
   * s.
   */
  stickyScheduleToStartTimeout?: Duration;
  /** Time that running activities get at shutdown until they are canceled, in ms. Default: 0. */
  shutdownGraceMs?: number;
  /**
   * Time after which a shutdown no longer waits for canceled activities, in ms. Default: no limit.
   */
  shutdownForceMs?: number;
  /** The deployment version of this worker, for routing. Ignored by the embedded engine. */
  workerDeploymentOptions?: WorkerDeploymentOptions;
  /**
   * @internal The build id of a worker without a deployment. `workerDeploymentOptions` overrides
   * it.
   */
  buildStamp?: BuildStampOptions;
  /** Limits of the interval between heartbeats. */
  heartbeatThrottle?: Partial<HeartbeatThrottle>;
  /** Payload sizes that are logged and rejected. */
  payloadLimits?: Partial<PayloadLimits>;
  /** Interceptors of each activity attempt, the first one outermost. */
  activityInterceptors?: readonly ActivityInterceptor[];
  /** Traces workflow runs, for example with `openTelemetry()` of `temporalex/otel`. */
  workflowTracer?: WorkflowTracer;
  /** Metrics of the worker and its calls, for example a `MetricsRegistry`. Default: no metrics. */
  metrics?: Metrics;
  /** Default: lines on standard error. */
  logger?: Logger;
  /**
   * A file, used only by this worker (Node, Deno), that records whose workflow tasks are running.
   * Workflow code that exhausts the memory ends the process; the next one then logs the suspected
   * runs. An engine with a store file does this by itself, and also holds such runs. Default: none.
   */
  crashNote?: string;
  /** Listeners for events, in addition to the log. */
  events?: WorkerEvents;
  /** @internal An activity of an unknown type fails permanently. */
  unknownActivityIsFinal?: boolean;
  /** @internal Activities run only as local ones. */
  localActivitiesOnly?: boolean;
  /** @internal Maximum eager activities of one workflow task. Default: 3. */
  maxEagerActivities?: number;
  /**
   * @internal Share of a fixed number of workflow task polls for the normal queue. Default: 0.2.
   */
  commonQueuePart?: number;
  /**
   * @internal How activities are called, and what their errors mean. Default: native activities.
   */
  activityDialect?: ActivityDialect;
  /** @internal Existing Nexus services. Default: `nexusServices`. */
  nexus?: NexusServices;
  /** @internal Receives log lines of workflow code and of its executor. Default: `logger`. */
  workflowLog?: LogSink;
  /** @internal Time, for tests. */
  timers?: Timers;
  /** @internal Time of activities, for tests: heartbeats, deadlines, sleeps. Default: `timers`. */
  activityTimers?: Timers;
}

/** Options with their defaults applied. */
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
  /** Receives custom metrics of workflow code. */
  measured: Metrics | undefined;
  /** Measures workflow tasks; undefined without metrics. */
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
    throw new RangeError(
      `the worker's ${name} must be a whole number of at least ${minimum}, not ${value}`,
    );
  }
  return value;
}

function milliseconds(name: string, value: number): number {
  if (!(value >= 0)) {
    throw new RangeError(`the worker's ${name} must be a number of milliseconds, not ${value}`);
  }
  return value;
}

function rate(name: string, value: number | undefined): number | undefined {
  if (value !== undefined && !(value > 0)) {
    throw new RangeError(`the worker's ${name} must be above 0, not ${value}`);
  }
  return value;
}

/** Returns the service; calls wait for a promised one. */
function serviceOf({ service }: WorkerOptions): RawService {
  if (!(service instanceof Promise)) return checkedService(service);
  return {
    call: async (method, request, options) => (await service).call(method, request, options),
  };
}

/** Throws a TypeError for a value that is not a service; its calls would be retried forever. */
export function checkedService(service: RawService): RawService {
  if (typeof (service as Partial<RawService> | undefined)?.call === "function") return service;
  throw new TypeError(
    "a worker's service must be an EmbeddedEngine or a connection to a cluster, or the promise of one",
  );
}

export function workerSettings(options: WorkerOptions): WorkerSettings {
  const { taskQueue } = options;
  if (typeof taskQueue !== "string" || taskQueue === "") {
    throw new TypeError("a worker needs a taskQueue");
  }
  if (taskQueue === PROCEDURE_QUEUE) {
    throw new TypeError(
      `no worker polls task queue "${taskQueue}": it is reserved for procedures, which clients complete; use another name`,
    );
  }
  const cachedWorkflows = whole("cachedWorkflows", options.cachedWorkflows ?? 1000, 0);
  // Each queue's poller holds a slot while it waits: with one slot the sticky queue would starve.
  const maxConcurrentWorkflowTasks = whole(
    "maxConcurrentWorkflowTasks",
    options.maxConcurrentWorkflowTasks ?? 100,
    cachedWorkflows > 0 ? 2 : 1,
  );
  const maxConcurrentActivities = whole(
    "maxConcurrentActivities",
    options.maxConcurrentActivities ?? 100,
    1,
  );
  const maxConcurrentLocalActivities = whole(
    "maxConcurrentLocalActivities",
    options.maxConcurrentLocalActivities ?? 100,
    1,
  );
  const maxConcurrentNexusTasks = whole(
    "maxConcurrentNexusTasks",
    options.maxConcurrentNexusTasks ?? 100,
    1,
  );
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
    maxTaskQueueActivitiesPerSecond: rate(
      "maxTaskQueueActivitiesPerSecond",
      options.maxTaskQueueActivitiesPerSecond,
    ),
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
