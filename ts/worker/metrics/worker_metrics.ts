// Metrics of a worker, with names and labels as in Temporal's SDKs. Series are created on first
// use, so recording is a lookup and an addition; without `metrics` it is disabled.
import { type Counter, type Histogram, type Metrics, SeriesBy } from "../../base/metrics.ts";
import type { RunEnding } from "../workflow/run_ending.ts";

/** Kinds of pollers, as label values. */
export type PollerType = "workflow_task" | "sticky_workflow_task" | "activity_task" | "nexus_task";
/** Kinds of slots, as label values. */
export type WorkerType =
  | "WorkflowWorker"
  | "ActivityWorker"
  | "LocalActivityWorker"
  | "NexusWorker";
/** Why a workflow task failed, as label values. */
export type TaskFailureReason =
  | "NonDeterminismError"
  | "WorkflowError"
  | "GrpcMessageTooLarge"
  | "PayloadsTooLarge";

/** Series of one workflow type. */
export class WorkflowSeries {
  readonly execution: Histogram;
  readonly replay: Histogram;
  readonly endToEnd: Histogram;
  readonly cacheHit: Counter;
  readonly failed: SeriesBy<Counter>;
  readonly ended: SeriesBy<Counter>;

  constructor(metrics: Metrics, labels: { readonly [name: string]: string }) {
    this.execution = metrics.histogram("temporal_workflow_task_execution_latency", labels);
    this.replay = metrics.histogram("temporal_workflow_task_replay_latency", labels);
    this.endToEnd = metrics.histogram("temporal_workflow_endtoend_latency", labels);
    this.cacheHit = metrics.counter("temporal_sticky_cache_hit", labels);
    this.failed = new SeriesBy((failure_reason) =>
      metrics.counter("temporal_workflow_task_execution_failed", { ...labels, failure_reason })
    );
    this.ended = new SeriesBy((ending) =>
      metrics.counter(`temporal_workflow_${ending as RunEnding}`, labels)
    );
  }
}

/** Series of one activity type, called by one workflow type. */
export interface ActivitySeries {
  readonly received: Counter;
  /** Tasks that came with the report that scheduled them. */
  readonly receivedEagerly: Counter;
  readonly execution: Histogram;
  readonly endToEnd: Histogram;
  readonly failed: Counter;
}

/** The same for local activities. */
export interface LocalActivitySeries {
  readonly total: Counter;
  readonly execution: Histogram;
  readonly endToEnd: Histogram;
  readonly failed: Counter;
  readonly cancelled: Counter;
}

/** Series of Nexus tasks. */
export interface NexusSeries {
  readonly scheduleToStart: Histogram;
  readonly execution: Histogram;
  readonly endToEnd: Histogram;
  /** By reason. */
  readonly failed: SeriesBy<Counter>;
}

export class WorkerMetrics {
  readonly cacheMiss: Counter;
  /** Runs that were evicted to make room. */
  readonly forcedEviction: Counter;
  readonly workflowScheduleToStart: Histogram;
  readonly activityScheduleToStart: Histogram;
  readonly #metrics: Metrics;
  readonly #labels: { readonly namespace: string; readonly task_queue: string };
  readonly #workflows: SeriesBy<WorkflowSeries>;
  readonly #activities: SeriesBy<SeriesBy<ActivitySeries>>;
  readonly #localActivities: SeriesBy<SeriesBy<LocalActivitySeries>>;
  #nexus: NexusSeries | undefined;
  readonly #gauges: (() => void)[] = [];

  constructor(metrics: Metrics, namespace: string, taskQueue: string) {
    const labels = { namespace, task_queue: taskQueue };
    this.#metrics = metrics;
    this.#labels = labels;
    this.cacheMiss = metrics.counter("temporal_sticky_cache_miss", labels);
    this.forcedEviction = metrics.counter("temporal_sticky_cache_total_forced_eviction", labels);
    this.workflowScheduleToStart = metrics.histogram(
      "temporal_workflow_task_schedule_to_start_latency",
      labels,
    );
    this.activityScheduleToStart = metrics.histogram(
      "temporal_activity_schedule_to_start_latency",
      labels,
    );
    this.#workflows = new SeriesBy((workflow_type) =>
      new WorkflowSeries(metrics, { ...labels, workflow_type })
    );
    this.#activities = new SeriesBy((workflow_type) =>
      new SeriesBy((activity_type) => {
        const all = { ...labels, workflow_type, activity_type };
        return {
          received: metrics.counter("temporal_activity_task_received", { ...all, eager: "false" }),
          receivedEagerly: metrics.counter("temporal_activity_task_received", {
            ...all,
            eager: "true",
          }),
          execution: metrics.histogram("temporal_activity_execution_latency", all),
          endToEnd: metrics.histogram("temporal_activity_succeed_endtoend_latency", all),
          failed: metrics.counter("temporal_activity_execution_failed", {
            ...all,
            failure_reason: "ActivityError",
          }),
        };
      })
    );
    this.#localActivities = new SeriesBy((workflow_type) =>
      new SeriesBy((activity_type) => {
        const all = { ...labels, workflow_type, activity_type };
        return {
          total: metrics.counter("temporal_local_activity_total", all),
          execution: metrics.histogram("temporal_local_activity_execution_latency", all),
          endToEnd: metrics.histogram("temporal_local_activity_succeed_endtoend_latency", all),
          failed: metrics.counter("temporal_local_activity_execution_failed", all),
          cancelled: metrics.counter("temporal_local_activity_execution_cancelled", all),
        };
      })
    );
  }

  /** Created on the first task, since most workers take none. */
  get nexus(): NexusSeries {
    const metrics = this.#metrics, labels = this.#labels;
    return this.#nexus ??= {
      scheduleToStart: metrics.histogram("temporal_nexus_task_schedule_to_start_latency", labels),
      execution: metrics.histogram("temporal_nexus_task_execution_latency", labels),
      endToEnd: metrics.histogram("temporal_nexus_task_endtoend_latency", labels),
      failed: new SeriesBy((failure_reason) =>
        metrics.counter("temporal_nexus_task_execution_failed", { ...labels, failure_reason })
      ),
    };
  }

  localActivity(workflowType: string, activityType: string): LocalActivitySeries {
    return this.#localActivities.of(workflowType).of(activityType);
  }

  workflow(type: string): WorkflowSeries {
    return this.#workflows.of(type);
  }

  activity(workflowType: string, activityType: string): ActivitySeries {
    return this.#activities.of(workflowType).of(activityType);
  }

  /** Counts the start of the worker. */
  started(): void {
    this.#metrics.counter("temporal_worker_start", this.#labels).add();
  }

  /**
   * Returns a function that counts responses to polls. Activities are counted by type when they
   * start.
   */
  polled(type: PollerType): (found: boolean) => void {
    if (type === "activity_task" || type === "nexus_task") {
      const kind = type === "activity_task" ? "activity" : "nexus";
      const nothing = this.#metrics.counter(`temporal_${kind}_poll_no_task`, this.#labels);
      return (found) => found ? undefined : nothing.add();
    }
    const succeeded = this.#metrics.counter(
      "temporal_workflow_task_queue_poll_succeed",
      this.#labels,
    );
    const empty = this.#metrics.counter("temporal_workflow_task_queue_poll_empty", this.#labels);
    return (found) => (found ? succeeded : empty).add();
  }

  pollers(poller_type: PollerType, read: () => number): void {
    this.#gauges.push(
      this.#metrics.gauge("temporal_num_pollers", { ...this.#labels, poller_type }, read),
    );
  }

  slots(
    worker_type: WorkerType,
    slots: { readonly size: number; readonly used: number },
    waiting: () => number,
  ): void {
    const labels = { ...this.#labels, worker_type };
    // A waiting poll holds a slot, but for the load this slot is free.
    const used = () => Math.max(0, slots.used - waiting());
    this.#gauges.push(
      this.#metrics.gauge("temporal_worker_task_slots_used", labels, used),
      this.#metrics.gauge(
        "temporal_worker_task_slots_available",
        labels,
        () => slots.size - used(),
      ),
    );
  }

  cacheSize(read: () => number): void {
    this.#gauges.push(this.#metrics.gauge("temporal_sticky_cache_size", this.#labels, read));
  }

  /** Removes the gauges of pollers, slots and cache. */
  stopped(): void {
    for (const end of this.#gauges.splice(0)) end();
  }
}
