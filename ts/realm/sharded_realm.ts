// A realm of several workers: every run belongs to one of them, by its id, for as long as it lives, so its cache entry, its tasks and what
// the service says of them are always in one place. Each worker is a whole realm with a watch, a quarantine and a replacement of its own:
// what one of them is lost on is no business of the others.
import type { Problem } from "../modules/loader/errors.ts";
import type {
  Realm,
  RealmOutcome,
  ReplayOptions,
  ReplayVerdict,
  RunLocalActivities,
  VersioningBehavior,
  WorkflowTask,
} from "./realm.ts";

/** The shard of a run: FNV-1a over the id, so equal everywhere and for every id, not only for UUIDs. */
export function shardOf(runId: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < runId.length; i++) hash = Math.imul(hash ^ runId.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % shards;
}

/** Runs that each of several workers keeps: together at least as many as asked for, and none keeps none unless nothing is to be kept. */
export function shareOf(total: number, shards: number): number {
  return Math.ceil(total / shards);
}

export class ShardedRealm implements Realm {
  readonly warnings: readonly Problem[];
  readonly workflowTypes: readonly string[];
  readonly takesAnyType: boolean;
  readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
  readonly #shards: readonly Realm[];
  /** Replays in work, by shard. */
  readonly #replays: number[];

  constructor(shards: readonly Realm[], warnings: readonly Problem[]) {
    this.#shards = shards;
    this.#replays = shards.map(() => 0);
    this.workflowTypes = shards[0]!.workflowTypes;
    this.takesAnyType = shards[0]!.takesAnyType;
    this.versioningBehaviors = shards[0]!.versioningBehaviors;
    this.warnings = warnings;
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

  /** A replay belongs to no run: it goes where fewest are. */
  async replay(workflowId: string, history: Uint8Array, options?: ReplayOptions): Promise<ReplayVerdict> {
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
