// The routing of all worker deployments, as the core needs it: for each task queue of a version its
// versions, and where workflows go that are not pinned (docs/dev/semantics/engine.md#worker-deployments).
import {
  EngineRoutedQueue,
  EngineRouting,
  WorkerDeploymentVersion,
} from "../../messages/generated/fields.ts";
import { Message } from "../../messages/wire.ts";
import { TaskQueueType } from "../../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import { type DeploymentState, findVersion, type VersionQueue } from "./state.ts";

/** A version of a deployment. */
export interface VersionName {
  readonly deployment: string;
  readonly buildId: string;
}

/** A version that gets tasks, by a revision of its deployment's routing. */
export interface RoutingTarget extends VersionName {
  readonly revision: number;
}

/** Where the tasks of a queue go. */
export interface RoutedQueue {
  readonly queue: VersionQueue;
  readonly versions: readonly VersionName[];
  /** Undefined: unversioned workers. */
  readonly current: RoutingTarget | undefined;
  /** Undefined with a percentage: unversioned workers. */
  readonly ramping: RoutingTarget | undefined;
  readonly percentage: number;
  /** Time of the last change; 0: never. */
  readonly changedMs: number;
}

interface Candidate {
  readonly target: RoutingTarget | undefined;
  readonly changedMs: number;
  readonly percentage: number;
}

/** The latest one; one with a version before others, as on servers. */
function latest(candidates: readonly Candidate[]): Candidate | undefined {
  const versioned = candidates.filter(({ target }) => target !== undefined);
  return (versioned.length > 0 ? versioned : candidates)
    .reduce<Candidate | undefined>(
      (best, each) => best === undefined || each.changedMs > best.changedMs ? each : best,
      undefined,
    );
}

/**
 * Returns the queues that versions poll. A queue follows the deployment whose current version polls
 * it; of several the one that was set last.
 */
export function routedQueues(deployments: Iterable<DeploymentState>): RoutedQueue[] {
  const byQueue = new Map<string, { queue: VersionQueue; deployments: Set<DeploymentState> }>();
  for (const deployment of deployments) {
    for (const queue of deployment.versions.flatMap(({ queues }) => queues)) {
      const key = `${queue[1]} ${queue[0]}`;
      const found = byQueue.get(key) ?? { queue, deployments: new Set() };
      byQueue.set(key, found);
      found.deployments.add(deployment);
    }
  }
  return [...byQueue.values()].map(({ queue, deployments }) =>
    routedQueue(queue, [...deployments])
  );
}

function routedQueue(queue: VersionQueue, deployments: readonly DeploymentState[]): RoutedQueue {
  const polls = (deployment: DeploymentState, buildId: string) =>
    findVersion(deployment, buildId)?.queues.some(([name, type]) =>
      name === queue[0] && type === queue[1]
    ) ?? false;
  const candidates = (
    of: (
      deployment: DeploymentState,
    ) => readonly [buildId: string | null | undefined, changedMs: number],
  ) =>
    deployments.flatMap((deployment): Candidate[] => {
      const [buildId, changedMs] = of(deployment);
      const { percentage, revision } = deployment.routing;
      // Nothing was set, or a version that does not poll this queue.
      if (changedMs === 0 || buildId === undefined) return [];
      if (buildId === null) return [{ target: undefined, changedMs, percentage }];
      if (!polls(deployment, buildId)) return [];
      return [{
        target: { deployment: deployment.name, buildId, revision },
        changedMs,
        percentage,
      }];
    });
  const current = latest(
    candidates(({ routing }) => [routing.current, routing.currentChangedMs]),
  );
  const ramping = latest(
    candidates(({ routing }) => [routing.ramping, routing.percentageChangedMs]),
  );
  return {
    queue,
    versions: deployments.flatMap((deployment) =>
      deployment.versions.filter(({ buildId }) => polls(deployment, buildId))
        .map(({ buildId }) => ({ deployment: deployment.name, buildId }))
    ),
    current: current?.target,
    ramping: ramping?.target,
    percentage: ramping?.percentage ?? 0,
    changedMs: Math.max(current?.changedMs ?? 0, ramping?.changedMs ?? 0),
  };
}

/** The routing as the core reads it. */
export function encodeRouting(queues: readonly RoutedQueue[]): Uint8Array {
  const message = new Message();
  for (const { queue: [name, type], versions, current, ramping, percentage } of queues) {
    if (type !== TaskQueueType.WORKFLOW && type !== TaskQueueType.ACTIVITY) continue;
    message.message(EngineRouting.queues, (of) => {
      of.text(EngineRoutedQueue.name, name);
      of.int(EngineRoutedQueue.activities, type === TaskQueueType.ACTIVITY ? 1 : 0);
      for (const version of versions) addVersion(of, EngineRoutedQueue.versions, version);
      if (current !== undefined) {
        addVersion(of, EngineRoutedQueue.current, current);
        of.int(EngineRoutedQueue.currentRevision, current.revision);
      }
      if (ramping !== undefined) {
        addVersion(of, EngineRoutedQueue.ramping, ramping);
        of.int(EngineRoutedQueue.rampingRevision, ramping.revision);
      }
      of.double(EngineRoutedQueue.rampingPercentage, percentage);
    });
  }
  return message.finish();
}

function addVersion(message: Message, tag: number, { deployment, buildId }: VersionName): void {
  message.message(tag, (version) => {
    version.text(WorkerDeploymentVersion.buildId, buildId);
    version.text(WorkerDeploymentVersion.deploymentName, deployment);
  });
}
