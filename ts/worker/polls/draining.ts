// Shutdown of a worker: polls end first, then running tasks finish. Activities and Nexus handlers
// are canceled after the grace period. The service is notified last, or first if it ends the polls
// itself.
import { withFields } from "../../base/logger.ts";
import { sleepOn } from "../../base/timers.ts";
import { hop } from "../../platform/hop.ts";
import { typedService } from "../../service/typed.ts";
import { TaskQueueType } from "../../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type { ActivityTasks } from "../activities/activity_tasks.ts";
import type { LocalActivities } from "../activities/local_activities.ts";
import type { NexusTasks } from "../nexus/nexus_tasks.ts";
import type { WorkerSettings } from "../options.ts";
import type { Poller } from "./poller.ts";
import { LOSSY_POLL_MS, type WorkerPollers } from "./worker_pollers.ts";
import type { WorkflowTasks } from "../workflow/workflow_tasks.ts";

const SHUTDOWN_CALL_MS = 3000;
/** Turns of the event loop in which responses that have arrived are read. */
const READ_HOPS = 3;
/** Interval of the checks of a busy worker before its polls are canceled, in ms. */
const BUSY_CHECK_MS = 20;

export interface DrainedParts {
  readonly settings: WorkerSettings;
  readonly pollers: WorkerPollers;
  readonly workflowTasks: WorkflowTasks | undefined;
  readonly activityTasks: ActivityTasks | undefined;
  readonly nexusTasks: NexusTasks | undefined;
  readonly local: LocalActivities;
  /** "": no sticky queue. */
  readonly stickyQueue: string;
  readonly instanceKey: string;
}

type Stopped = Pick<Poller<unknown>, "stop" | "idle">;

/** Resolves when nothing is running, or shutdownForceMs after cancellation was requested. */
export async function drainWorker(parts: DrainedParts): Promise<void> {
  const { settings, pollers, workflowTasks, activityTasks, nexusTasks, local } = parts;
  const { service, timers, logger, shutdownGraceMs, shutdownForceMs } = settings;
  workflowTasks?.stopping();
  const lossy = service.losesCancelledPolls === true;
  const stop = async (pollers: readonly Stopped[], drainMs: number) => {
    await Promise.all(pollers.map((poller) => poller.stop(drainMs)));
    await Promise.all(pollers.map((poller) => poller.idle()));
  };
  // Polls that cancelQuietPolls did not cancel: a lost workflow or Nexus task is sent again after
  // its timeout; a lost activity task costs an attempt, so its poll ends by its own deadline.
  const ended = lossy && pollers.pollsAreEnded;
  const workflows = stop(pollers.workflow, lossy ? LOSSY_POLL_MS : 0);
  const nexus = stop(pollers.nexus, lossy ? LOSSY_POLL_MS : 0);
  const idle = stop(pollers.activity, ended ? LOSSY_POLL_MS : lossy ? Infinity : 0).then(
    async () => {
      // The last reports may still bring activities.
      await pollers.eagerIdle();
      await Promise.all(pollers.activity.map((poller) => poller.idle()));
      // A workflow task may call several local activities in sequence.
      await workflows;
      await local.whenIdle();
      await nexus;
      return true;
    },
  );
  // No more polls are sent; the service ends the current ones.
  if (ended) void sayGoodbye(parts);
  const drained = new AbortController();
  const quiet = lossy && !ended ? cancelQuietPolls(parts, drained.signal) : undefined;
  const cancelTimer = new AbortController();
  const within = async (ms: number) => {
    if (ms === Infinity) return idle;
    return Promise.race([
      idle,
      sleepOn(timers, ms, cancelTimer.signal).then(() => false, () => false),
    ]);
  };
  if (!(await within(shutdownGraceMs))) {
    activityTasks?.cancelAll("WORKER_SHUTDOWN");
    nexusTasks?.cancelAll("WORKER_SHUTDOWN");
    local.stop();
    if (!(await within(shutdownForceMs))) {
      // The remaining wait may be for a poll without a response.
      const running = (activityTasks?.running ?? 0) + local.running;
      if (running > 0) {
        logger.warn("the worker stops while canceled activities are still running", { running });
      }
      const handlers = nexusTasks?.running ?? 0;
      if (handlers > 0) {
        logger.warn("the worker stops while canceled Nexus handlers are still running", {
          handlers,
        });
      }
      await Promise.all([...pollers.activity, ...pollers.nexus].map((poller) => poller.stop()));
    }
  }
  cancelTimer.abort();
  await workflows;
  drained.abort();
  await quiet;
  await sayGoodbye(parts);
}

/**
 * For services that may lose a task with a canceled poll: cancels the polls once no task is
 * expected, because their deadlines would keep an idle worker for seconds. Running tasks may cause
 * new tasks, so they end first.
 */
async function cancelQuietPolls(
  { settings, pollers }: DrainedParts,
  drained: AbortSignal,
): Promise<void> {
  while (!drained.aborted && pollers.all.some((poller) => poller.waiting > 0)) {
    const left = pollers.tasks > 0 ? BUSY_CHECK_MS : pollers.quiet.leftMs;
    if (left > 0) {
      await sleepOn(settings.timers, left, drained).catch(() => {});
      continue;
    }
    // Responses that have arrived are read first.
    for (let i = 0; i < READ_HOPS; i++) await hop();
    if (pollers.tasks === 0 && pollers.quiet.leftMs === 0) break;
  }
  await Promise.all(pollers.all.map((poller) => poller.stop()));
}

/** Lets the service end this worker's polls and release its sticky queue. Errors are ignored. */
async function sayGoodbye(
  { settings, stickyQueue, instanceKey, ...parts }: DrainedParts,
): Promise<void> {
  const { workflowTasks, activityTasks, nexusTasks } = parts;
  const { service, namespace, identity, taskQueue, logger } = settings;
  // For a server that does not end polls, a call on the same connection confirms the cancellations.
  if (service.losesCancelledPolls !== true && (workflowTasks === undefined || stickyQueue === "")) {
    return;
  }
  const request = {
    namespace,
    identity,
    taskQueue,
    stickyTaskQueue: stickyQueue,
    workerInstanceKey: instanceKey,
    reason: "graceful shutdown",
    taskQueueTypes: [
      ...(workflowTasks === undefined ? [] : [TaskQueueType.WORKFLOW]),
      ...(activityTasks === undefined ? [] : [TaskQueueType.ACTIVITY]),
      ...(nexusTasks === undefined ? [] : [TaskQueueType.NEXUS]),
    ],
  };
  try {
    await typedService(service).shutdownWorker(request, { timeoutMs: SHUTDOWN_CALL_MS });
  } catch (error) {
    withFields(logger, { taskQueue }).debug("the service could not be notified of the shutdown", {
      error,
    });
  }
}
