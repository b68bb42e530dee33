// What a worker does from `run` until its last task has ended: it polls, learns what the service
// offers, and drains.
import { WorkflowService } from "../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { namespaceRequest, readNamespaceOffer } from "../api/server_info.ts";
import { takeActivityRejections } from "./activities/activity_rejections.ts";
import type { WorkerOptions } from "./options.ts";
import { type DrainedParts, drainWorker } from "./polls/draining.ts";
import { evictClosedRuns } from "./workflow/closed_runs.ts";
import { noteTasks } from "./workflow/left_behind.ts";

/** Time limit of the request for the namespace's capabilities. */
const CAPABILITIES_MS = 10_000;
/** Descriptors of activities are built this long after the first polls. */
const BUILD_AFTER_MS = 100;

interface LifeParts extends DrainedParts {
  readonly options: WorkerOptions;
}

/** The running time of one worker. */
export class WorkerLife {
  /** Resolves at `stop`, to the failure that ended the worker or undefined. */
  readonly stopped: Promise<Error | undefined>;
  /** Ends the worker; later calls have no effect. */
  readonly stop: (failure?: Error) => void;
  readonly #parts: LifeParts;

  constructor(parts: LifeParts) {
    this.#parts = parts;
    let stop!: (failure?: Error) => void;
    this.stopped = new Promise((resolve) => (stop = resolve));
    this.stop = stop;
  }

  /** Starts the polls. The returned function ends them and waits for the tasks. */
  start(): (before: () => Promise<void>) => Promise<void> {
    const { settings, pollers, workflowTasks, activityTasks } = this.#parts;
    // Without lost polls the capabilities are not needed.
    const asking = settings.service.losesCancelledPolls === true
      ? this.#askForCapabilities()
      : undefined;
    const noted = workflowTasks && noteTasks(settings);
    if (noted !== undefined) workflowTasks!.noteRunningTasks(noted.running);
    const endEvictions = workflowTasks && evictClosedRuns(settings, workflowTasks);
    pollers.start();
    const building = this.#buildLater();
    const untake = activityTasks && takeActivityRejections(settings.codec);
    return async (before) => {
      clearTimeout(building);
      asking?.abort();
      endEvictions?.();
      try {
        await before();
        await drainWorker(this.#parts);
      } finally {
        untake?.();
        if (noted?.own === true) noted.running.close();
      }
    };
  }

  /**
   * Builds descriptors that activities need after the first polls are sent, so that no task waits
   * for it.
   */
  #buildLater(): ReturnType<typeof setTimeout> | undefined {
    if (this.#parts.activityTasks === undefined) return undefined;
    const timer = setTimeout(() => void WorkflowService.method, BUILD_AFTER_MS);
    (timer as { unref?(): void }).unref?.();
    return timer;
  }

  /** Requests the namespace's capabilities in the background; an error means none. */
  #askForCapabilities(): AbortController {
    const { settings, pollers, options } = this.#parts;
    const { service, namespace, logger } = settings;
    const giveUp = new AbortController();
    const call = { signal: giveUp.signal, timeoutMs: CAPABILITIES_MS };
    service.call("describeNamespace", namespaceRequest(namespace), call).then(readNamespaceOffer)
      .then(
        ({ endsPolls, largestPayload }) => {
          pollers.pollsAreEnded = endsPolls;
          // The namespace's own limit, unless the options set one.
          if (largestPayload > 0 && options.payloadLimits?.errorBytes === undefined) {
            settings.limits.errorBytes = largestPayload;
          }
        },
        // The polls report errors of the namespace or the connection.
        (error) => logger.debug("the service did not report its capabilities", { error }),
      );
    return giveUp;
  }
}
