// Help texts and buckets of the reported metrics, as Temporal's SDKs have them (sdk-core:
// telemetry/metrics). Other names are the application's own.

export interface Family {
  readonly help: string;
  /** Upper bounds in milliseconds; set for histograms only. */
  readonly buckets?: readonly number[];
}

const DEFAULT_BUCKETS: readonly number[] = [50, 100, 500, 1000, 2500, 10_000];
const TASK: readonly number[] = [1, 10, 20, 50, 100, 200, 500, 1000];
const ACTIVITY: readonly number[] = [50, 100, 500, 1000, 5000, 10_000, 60_000];
const SCHEDULE_TO_START: readonly number[] = [100, 500, 1000, 5000, 10_000, 100_000, 1_000_000];
const WORKFLOW: readonly number[] = [
  ...[100, 500, 1000, 1500, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000],
  ...[1_800_000, 3_600_000, 30_600_000, 86_400_000],
];

/** Families by name. */
export const FAMILIES: { readonly [name: string]: Family } = {
  temporal_request: { help: "Calls to the service, by operation" },
  temporal_request_failure: { help: "Failed calls to the service, by operation and gRPC status" },
  temporal_request_latency: { help: "Latency of calls to the service" },
  temporal_long_request: { help: "Long-poll calls to the service, by operation" },
  temporal_long_request_failure: { help: "Failed long-poll calls, by operation and gRPC status" },
  temporal_long_request_latency: { help: "Latency of long-poll calls" },
  temporal_worker_start: { help: "Started workers" },
  temporal_num_pollers: { help: "Polls in flight, by poller type" },
  temporal_worker_task_slots_available: { help: "Available task slots, by worker type" },
  temporal_worker_task_slots_used: { help: "Used task slots, by worker type" },
  temporal_workflow_task_queue_poll_empty: { help: "Workflow task polls without a task" },
  temporal_workflow_task_queue_poll_succeed: { help: "Workflow task polls that returned a task" },
  temporal_workflow_task_schedule_to_start_latency: {
    help: "Time from scheduling a workflow task to its start",
    buckets: SCHEDULE_TO_START,
  },
  temporal_workflow_task_execution_latency: {
    help: "Execution time of a workflow task, including replay",
    buckets: TASK,
  },
  temporal_workflow_task_replay_latency: {
    help: "Execution time of a workflow task that replayed its history",
    buckets: TASK,
  },
  temporal_workflow_task_execution_failed: { help: "Failed workflow tasks, by reason" },
  temporal_workflow_completed: { help: "Completed workflows" },
  temporal_workflow_canceled: { help: "Canceled workflows" },
  temporal_workflow_failed: { help: "Failed workflows" },
  temporal_workflow_continue_as_new: { help: "Runs that continued as new" },
  temporal_workflow_endtoend_latency: {
    help: "Time from the start of a run to its end",
    buckets: WORKFLOW,
  },
  temporal_sticky_cache_hit: { help: "Sticky cache hits" },
  temporal_sticky_cache_miss: {
    help: "Sticky cache misses (sticky workflow tasks whose run was evicted)",
  },
  temporal_sticky_cache_total_forced_eviction: {
    help: "Runs evicted from the sticky cache for other runs",
  },
  temporal_sticky_cache_size: { help: "Runs in the sticky cache" },
  temporal_activity_poll_no_task: { help: "Activity task polls without a task" },
  temporal_activity_task_received: {
    help: "Received activity attempts, by eager delivery",
  },
  temporal_activity_schedule_to_start_latency: {
    help: "Time from scheduling an activity attempt to its start",
    buckets: SCHEDULE_TO_START,
  },
  temporal_activity_execution_latency: {
    help: "Execution time of an activity attempt",
    buckets: ACTIVITY,
  },
  temporal_activity_succeed_endtoend_latency: {
    help: "Time from scheduling an activity to its completion",
  },
  temporal_activity_execution_failed: { help: "Failed activity attempts" },
};

/** Returns the default buckets of a histogram, in milliseconds. */
export function bucketsOf(name: string): readonly number[] {
  return Object.hasOwn(FAMILIES, name)
    ? FAMILIES[name]!.buckets ?? DEFAULT_BUCKETS
    : DEFAULT_BUCKETS;
}
