// What is reported under which name: help texts and buckets, as Temporal's SDKs have them (sdk-core: telemetry/metrics). A name that is not
// here is the application's own.

export interface Family {
  readonly help: string;
  /** Upper bounds in milliseconds, of histograms. */
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
  temporal_request_failure: { help: "Calls to the service that failed, by operation and gRPC status" },
  temporal_request_latency: { help: "Time that calls to the service took" },
  temporal_long_request: { help: "Calls to the service that wait for something, by operation" },
  temporal_long_request_failure: { help: "Calls that wait for something and failed, by operation and gRPC status" },
  temporal_long_request_latency: { help: "Time that calls which wait for something took" },
  temporal_worker_start: { help: "Workers that were started" },
  temporal_num_pollers: { help: "Polls in flight, by kind of poller" },
  temporal_worker_task_slots_available: { help: "Slots for tasks that are free, by kind of worker" },
  temporal_worker_task_slots_used: { help: "Slots for tasks in work, by kind of worker" },
  temporal_workflow_task_queue_poll_empty: { help: "Polls for workflow tasks that ended without one" },
  temporal_workflow_task_queue_poll_succeed: { help: "Polls for workflow tasks that brought one" },
  temporal_workflow_task_schedule_to_start_latency: {
    help: "Time from the scheduling of a workflow task to its start",
    buckets: SCHEDULE_TO_START,
  },
  temporal_workflow_task_execution_latency: { help: "Time that a workflow task took here, replay included", buckets: TASK },
  temporal_workflow_task_replay_latency: {
    help: "Time that a workflow task took here whose run was replayed from its history",
    buckets: TASK,
  },
  temporal_workflow_task_execution_failed: { help: "Workflow tasks that failed, by reason" },
  temporal_workflow_completed: { help: "Workflows that completed" },
  temporal_workflow_canceled: { help: "Workflows that ended cancelled" },
  temporal_workflow_failed: { help: "Workflows that failed" },
  temporal_workflow_continue_as_new: { help: "Runs that continued as new" },
  temporal_workflow_endtoend_latency: { help: "Time from the start of a run to its end", buckets: WORKFLOW },
  temporal_sticky_cache_hit: { help: "Workflow tasks whose run was in memory" },
  temporal_sticky_cache_miss: { help: "Workflow tasks of this worker's own queue whose run was not in memory any more" },
  temporal_sticky_cache_total_forced_eviction: { help: "Runs that left the memory for others" },
  temporal_sticky_cache_size: { help: "Runs in memory" },
  temporal_activity_poll_no_task: { help: "Polls for activity tasks that ended without one" },
  temporal_activity_task_received: {
    help: "Attempts of activities that came, by whether they came with the report that scheduled them",
  },
  temporal_activity_schedule_to_start_latency: {
    help: "Time from the scheduling of an activity's attempt to its start",
    buckets: SCHEDULE_TO_START,
  },
  temporal_activity_execution_latency: { help: "Time that an attempt of an activity took here", buckets: ACTIVITY },
  temporal_activity_succeed_endtoend_latency: { help: "Time from the scheduling of an activity to its success" },
  temporal_activity_execution_failed: { help: "Attempts of activities that failed" },
};

/** Buckets of a histogram in milliseconds, where nobody asked for others. */
export function bucketsOf(name: string): readonly number[] {
  return Object.hasOwn(FAMILIES, name) ? FAMILIES[name]!.buckets ?? DEFAULT_BUCKETS : DEFAULT_BUCKETS;
}
