// Types of build id sets by task queue, the deprecated form of versioning.
import { decodeTaskReachability, type ReachabilityType } from "./enums.ts";
import type { PlainMessage } from "../common/plain_proto.ts";

/** Adds a build id in a new set. */
export interface AddNewIdInNewDefaultSet {
  /** Discriminator. */
  operation: "addNewIdInNewDefaultSet";
  buildId: string;
}
/** Adds a build id to a set. */
export interface AddNewCompatibleVersion {
  /** Discriminator. */
  operation: "addNewCompatibleVersion";
  buildId: string;
  /** A build id of the set. */
  existingCompatibleBuildId: string;
  /** Whether the set becomes the default. */
  promoteSet?: boolean;
}
/** Makes a set the default. */
export interface PromoteSetByBuildId {
  /** Discriminator. */
  operation: "promoteSetByBuildId";
  buildId: string;
}
/** Makes a build id the default of its set. */
export interface PromoteBuildIdWithinSet {
  /** Discriminator. */
  operation: "promoteBuildIdWithinSet";
  buildId: string;
}
/** Merges two sets. */
export interface MergeSets {
  /** Discriminator. */
  operation: "mergeSets";
  /** A build id of the remaining set. */
  primaryBuildId: string;
  /** A build id of the other set. */
  secondaryBuildId: string;
}
/** A change of sets. */
export type BuildIdOperation =
  | AddNewIdInNewDefaultSet
  | AddNewCompatibleVersion
  | PromoteSetByBuildId
  | PromoteBuildIdWithinSet
  | MergeSets;
/** A set of build ids. */
export interface BuildIdVersionSet {
  readonly buildIds: string[];
  readonly default: string;
}
/** All sets of a queue. */
export interface WorkerBuildIdVersionSets {
  readonly versionSets: BuildIdVersionSet[];
  defaultSet: BuildIdVersionSet;
  defaultBuildId: string;
}

/** Represents workers without a build id. */
export const UnversionedBuildId: unique symbol = Symbol.for("__temporal_unversionedBuildId");
/** Represents workers without a build id. */
export type UnversionedBuildIdType = typeof UnversionedBuildId;
/** Options of a reachability request. */
export interface BaseReachabilityOptions {
  buildIds: (string | UnversionedBuildIdType)[];
  /** Queues. Default: all. */
  taskQueues?: string[];
  /** Kind of workflows. */
  reachability?: ReachabilityType;
}
/** Options of a reachability request. */
export type ReachabilityOptions = BaseReachabilityOptions;
/** Workflows for which a build may be needed. */
export type ReachabilityTypeResponse = ReachabilityType | "NOT_FETCHED";
/** Reachability of a build id by queue. */
export interface BuildIdReachability {
  taskQueueReachability: Record<string, ReachabilityTypeResponse[]>;
}
/** Reachability of build ids. */
export interface ReachabilityResponse {
  buildIdReachability: Record<string | UnversionedBuildIdType, BuildIdReachability>;
}

/** Converts a reachability response. */
export function reachabilityResponseFromProto(response: PlainMessage): ReachabilityResponse {
  const byBuild = (response.buildIdReachability ?? []).map((build: PlainMessage) => [
    build.buildId || UnversionedBuildId,
    {
      taskQueueReachability: Object.fromEntries(
        (build.taskQueueReachability ?? []).map((queue: PlainMessage) => [
          queue.taskQueue,
          (queue.reachability ?? []).map((kind: number) =>
            decodeTaskReachability(kind) ?? "NOT_FETCHED"
          ),
        ]),
      ),
    },
  ]);
  return {
    buildIdReachability: Object.fromEntries(byBuild) as ReachabilityResponse["buildIdReachability"],
  };
}
