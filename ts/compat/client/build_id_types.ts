// Sets of builds by task queue, the older way of versions, as types.
import { decodeTaskReachability, type ReachabilityType } from "./enums.ts";
import type { PlainMessage } from "../common/plain_proto.ts";

/** Adds a build in a new set. */
export interface AddNewIdInNewDefaultSet {
  /** Says which it is. */
  operation: "addNewIdInNewDefaultSet";
  /** The build. */
  buildId: string;
}
/** Adds a build to a set. */
export interface AddNewCompatibleVersion {
  /** Says which it is. */
  operation: "addNewCompatibleVersion";
  /** The build. */
  buildId: string;
  /** A build of the set. */
  existingCompatibleBuildId: string;
  /** Makes the set the default one. */
  promoteSet?: boolean;
}
/** Makes a set the default one. */
export interface PromoteSetByBuildId {
  /** Says which it is. */
  operation: "promoteSetByBuildId";
  /** A build of the set. */
  buildId: string;
}
/** Makes a build the default one of its set. */
export interface PromoteBuildIdWithinSet {
  /** Says which it is. */
  operation: "promoteBuildIdWithinSet";
  /** The build. */
  buildId: string;
}
/** Makes one set of two. */
export interface MergeSets {
  /** Says which it is. */
  operation: "mergeSets";
  /** A build of the set that stays. */
  primaryBuildId: string;
  /** A build of the other one. */
  secondaryBuildId: string;
}
/** A change of sets. */
export type BuildIdOperation =
  | AddNewIdInNewDefaultSet
  | AddNewCompatibleVersion
  | PromoteSetByBuildId
  | PromoteBuildIdWithinSet
  | MergeSets;
/** A set of builds. */
export interface BuildIdVersionSet {
  /** The builds. */
  readonly buildIds: string[];
  /** The default one. */
  readonly default: string;
}
/** Sets of builds. */
export interface WorkerBuildIdVersionSets {
  /** The sets. */
  readonly versionSets: BuildIdVersionSet[];
  /** The default one. */
  defaultSet: BuildIdVersionSet;
  /** Its default build. */
  defaultBuildId: string;
}

/** Stands for workers without a build. */
export const UnversionedBuildId: unique symbol = Symbol.for("__temporal_unversionedBuildId");
/** Stands for workers without a build. */
export type UnversionedBuildIdType = typeof UnversionedBuildId;
/** What is asked of builds. */
export interface BaseReachabilityOptions {
  /** The builds. */
  buildIds: (string | UnversionedBuildIdType)[];
  /** Queues. Default: all. */
  taskQueues?: string[];
  /** What workflows. */
  reachability?: ReachabilityType;
}
/** What is asked of builds. */
export type ReachabilityOptions = BaseReachabilityOptions;
/** What workflows a build may be needed for. */
export type ReachabilityTypeResponse = ReachabilityType | "NOT_FETCHED";
/** What a build may be needed for, by queue. */
export interface BuildIdReachability {
  /** By queue. */
  taskQueueReachability: Record<string, ReachabilityTypeResponse[]>;
}
/** What builds may be needed for. */
export interface ReachabilityResponse {
  /** By build. */
  buildIdReachability: Record<string | UnversionedBuildIdType, BuildIdReachability>;
}

/** What builds may be needed for, of the message. */
export function reachabilityResponseFromProto(response: PlainMessage): ReachabilityResponse {
  const byBuild = (response.buildIdReachability ?? []).map((build: PlainMessage) => [
    build.buildId || UnversionedBuildId,
    {
      taskQueueReachability: Object.fromEntries(
        (build.taskQueueReachability ?? []).map((queue: PlainMessage) => [
          queue.taskQueue,
          (queue.reachability ?? []).map((kind: number) => decodeTaskReachability(kind) ?? "NOT_FETCHED"),
        ]),
      ),
    },
  ]);
  return { buildIdReachability: Object.fromEntries(byBuild) as ReachabilityResponse["buildIdReachability"] };
}
