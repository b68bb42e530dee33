// A realm of several workers. Every run belongs to one worker by its id, so its cache entry, its
// tasks and its reports are always in one place. Each worker is a complete realm with its own
// watchdog, quarantine and replacement, so losing one does not affect the others.
import type { ModuleGraph } from "../modules/loader/module_graph.ts";
import type {
  Realm,
  RealmOutcome,
  ReplayOptions,
  ReplayVerdict,
  RunLocalActivities,
  VersioningBehavior,
  WorkflowTask,
} from "./realm.ts";

/**
 * Returns the shard of a run: FNV-1a over its id, the same everywhere and for any id, not only
 * UUIDs.
 */
export function shardOf(runId: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < runId.length; i++) hash = Math.imul(hash ^ runId.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % shards;
}

/**
 * Returns the cache size of each worker: together at least the total, and at least 1 unless the
 * total is 0.
 */
export function shareOf(total: number, shards: number): number {
  return Math.ceil(total / shards);
}

export class ShardedRealm implements Realm {
  readonly warnings: ModuleGraph["warnings"];
  readonly needsTemporal: boolean;
  readonly followsScopes: boolean;
  readonly workflowTypes: readonly string[];
  readonly takesAnyType: boolean;
  readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
  readonly #shards: readonly Realm[];
  /** Number of open replays, by shard. */
  readonly #replays: number[];

  constructor(
    shards: readonly Realm[],
    loaded: Pick<ModuleGraph, "warnings" | "needsTemporal" | "followsScopes">,
  ) {
    this.#shards = shards;
    this.#replays = shards.map(() => 0);
    this.workflowTypes = shards[0]!.workflowTypes;
    this.takesAnyType = shards[0]!.takesAnyType;
    this.versioningBehaviors = shards[0]!.versioningBehaviors;
    this.warnings = loaded.warnings;
    this.needsTemporal = loaded.needsTemporal;
    this.followsScopes = loaded.followsScopes;
  }

  #of(runId: string): Realm {
    return this.#shards[shardOf(runId, this.#shards.length)]!;
  }

  get cachedRuns(): number {
    return this.#shards.reduce((sum, shard) => sum + shard.cachedRuns, 0);
  }

  runTask(task: WorkflowTask, runLocally?: RunLocalActivities): Promise<RealmOutcome> {
    return this.#of(task.head.runId).runTask(task, runLocally);
  }

  /** A replay belongs to no run: the worker with the fewest replays gets it. */
  async replay(
    workflowId: string,
    history: Uint8Array,
    options?: ReplayOptions,
  ): Promise<ReplayVerdict> {
    const at = this.#replays.indexOf(Math.min(...this.#replays));
    this.#replays[at]!++;
    try {
      return await this.#shards[at]!.replay(workflowId, history, options);
    } finally {
      this.#replays[at]!--;
    }
  }

  taskReported(runId: string, response: Uint8Array): void {
    this.#of(runId).taskReported(runId, response);
  }

  evict(runId: string): void {
    this.#of(runId).evict(runId);
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#shards.map((shard) => shard.dispose()));
  }
}
