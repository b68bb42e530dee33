// Worker deployments and their versions in messages of the API.
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { PayloadSchema } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import type {
  RoutingConfigSchema,
  VersionDrainageInfoSchema,
  VersionMetadataSchema,
  WorkerDeploymentInfo_WorkerDeploymentVersionSummarySchema,
  WorkerDeploymentInfoSchema,
  WorkerDeploymentVersionInfoSchema,
  WorkerDeploymentVersionSchema,
} from "../../messages/generated/temporal/api/deployment/v1/message_pb.ts";
import {
  VersionDrainageStatus,
  WorkerDeploymentVersionStatus,
} from "../../messages/generated/temporal/api/enums/v1/deployment_pb.ts";
import { RoutingConfigUpdateState } from "../../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type { TaskQueueVersioningInfoSchema } from "../../messages/generated/temporal/api/taskqueue/v1/message_pb.ts";
import type { RoutedQueue, RoutingTarget } from "./routing.ts";
import { timestampOfMs } from "../schedules/durations.ts";
import {
  type DeploymentState,
  findVersion,
  type VersionState,
  type VersionStatus,
} from "./state.ts";

/** The name of unversioned workers in deprecated fields. */
export const UNVERSIONED = "__unversioned__";

const STATUSES: { readonly [status in VersionStatus]: WorkerDeploymentVersionStatus } = {
  created: WorkerDeploymentVersionStatus.CREATED,
  inactive: WorkerDeploymentVersionStatus.INACTIVE,
  current: WorkerDeploymentVersionStatus.CURRENT,
  ramping: WorkerDeploymentVersionStatus.RAMPING,
  draining: WorkerDeploymentVersionStatus.DRAINING,
  drained: WorkerDeploymentVersionStatus.DRAINED,
};

const timeIfSet = (ms: number) => ms === 0 ? undefined : timestampOfMs(ms);

/** A version; undefined: unversioned workers. */
export function versionMessage(
  deploymentName: string,
  buildId: string | null | undefined,
): MessageInitShape<typeof WorkerDeploymentVersionSchema> | undefined {
  return buildId === null || buildId === undefined ? undefined : { deploymentName, buildId };
}

/** A version as deprecated fields have it. */
export function oldVersionText(deployment: string, buildId: string | null | undefined): string {
  if (buildId === undefined) return "";
  return buildId === null ? UNVERSIONED : `${deployment}.${buildId}`;
}

function routingConfig(
  { name, routing }: DeploymentState,
): MessageInitShape<typeof RoutingConfigSchema> {
  const current = versionMessage(name, routing.current);
  const ramping = versionMessage(name, routing.ramping);
  return {
    currentVersion: oldVersionText(name, routing.current),
    rampingVersion: oldVersionText(name, routing.ramping),
    rampingVersionPercentage: routing.percentage,
    revisionNumber: BigInt(routing.revision),
    ...(current !== undefined && { currentDeploymentVersion: current }),
    ...(ramping !== undefined && { rampingDeploymentVersion: ramping }),
    ...timesOf({
      currentVersionChangedTime: routing.currentChangedMs,
      rampingVersionChangedTime: routing.rampingChangedMs,
      rampingVersionPercentageChangedTime: routing.percentageChangedMs,
    }),
  };
}

/** The times that are set. */
function timesOf<K extends string>(ms: { readonly [key in K]: number }) {
  const times = Object.entries<number>(ms).map(([key, value]) => [key, timeIfSet(value)] as const);
  return Object.fromEntries(times.filter(([, time]) => time !== undefined)) as {
    [key in K]?: ReturnType<typeof timestampOfMs>;
  };
}

function drainageInfo(
  { status, drainageChangedMs, drainageCheckedMs }: VersionState,
): MessageInitShape<typeof VersionDrainageInfoSchema> | undefined {
  if (status !== "draining" && status !== "drained") return undefined;
  return {
    status: status === "draining" ? VersionDrainageStatus.DRAINING : VersionDrainageStatus.DRAINED,
    ...timesOf({ lastChangedTime: drainageChangedMs, lastCheckedTime: drainageCheckedMs }),
  };
}

/** A version in a description or list of its deployment. */
export function versionSummary(
  deployment: string,
  version: VersionState,
): MessageInitShape<typeof WorkerDeploymentInfo_WorkerDeploymentVersionSummarySchema> {
  const drainage = drainageInfo(version);
  return {
    version: oldVersionText(deployment, version.buildId),
    deploymentVersion: { deploymentName: deployment, buildId: version.buildId },
    status: STATUSES[version.status],
    ...(drainage !== undefined && {
      drainageInfo: drainage,
      drainageStatus: drainage.status!,
    }),
    ...timesOf({
      createTime: version.createMs,
      currentSinceTime: version.currentSinceMs,
      rampingSinceTime: version.rampingSinceMs,
      routingUpdateTime: version.routingChangedMs,
      firstActivationTime: version.firstActivationMs,
      lastCurrentTime: version.lastCurrentMs,
      lastDeactivationTime: version.lastDeactivationMs,
    }),
  };
}

/** The description of a deployment, its latest version first. */
export function deploymentInfo(
  state: DeploymentState,
): MessageInitShape<typeof WorkerDeploymentInfoSchema> {
  return {
    name: state.name,
    createTime: timestampOfMs(state.createMs),
    routingConfig: routingConfig(state),
    versionSummaries: state.versions.toReversed().map((each) => versionSummary(state.name, each)),
    lastModifierIdentity: state.identity,
    managerIdentity: state.manager,
    routingConfigUpdateState: RoutingConfigUpdateState.COMPLETED,
  };
}

/** A deployment in a list. */
export function listedDeployment(state: DeploymentState) {
  const summary = (version: VersionState | undefined) =>
    version === undefined ? undefined : versionSummary(state.name, version);
  const latest = summary(state.versions.at(-1));
  const current = summary(findVersion(state, state.routing.current));
  const ramping = summary(findVersion(state, state.routing.ramping));
  return {
    name: state.name,
    createTime: timestampOfMs(state.createMs),
    routingConfig: routingConfig(state),
    ...(latest !== undefined && { latestVersionSummary: latest }),
    ...(current !== undefined && { currentVersionSummary: current }),
    ...(ramping !== undefined && { rampingVersionSummary: ramping }),
  };
}

/** The description of a version. */
export function versionInfo(
  state: DeploymentState,
  version: VersionState,
): MessageInitShape<typeof WorkerDeploymentVersionInfoSchema> {
  const drainage = drainageInfo(version);
  return {
    version: oldVersionText(state.name, version.buildId),
    status: STATUSES[version.status],
    deploymentVersion: { deploymentName: state.name, buildId: version.buildId },
    rampPercentage: version.status === "ramping" ? state.routing.percentage : 0,
    taskQueueInfos: version.queues.map(([name, type]) => ({ name, type })),
    lastModifierIdentity: version.identity,
    ...(drainage !== undefined && { drainageInfo: drainage }),
    ...(version.metadata !== null && { metadata: metadataMessage(version.metadata) }),
    ...timesOf({
      createTime: version.createMs,
      routingChangedTime: version.routingChangedMs,
      currentSinceTime: version.currentSinceMs,
      rampingSinceTime: version.rampingSinceMs,
      firstActivationTime: version.firstActivationMs,
      lastCurrentTime: version.lastCurrentMs,
      lastDeactivationTime: version.lastDeactivationMs,
    }),
  };
}

/** The versions of a task queue in its description. */
export function queueVersioning(
  queue: RoutedQueue | undefined,
): MessageInitShape<typeof TaskQueueVersioningInfoSchema> {
  const { current, ramping, percentage = 0, changedMs = 0 } = queue ?? {};
  const nameOf = (target: RoutingTarget | undefined) =>
    target === undefined ? UNVERSIONED : oldVersionText(target.deployment, target.buildId);
  const of = (target: RoutingTarget) => versionMessage(target.deployment, target.buildId)!;
  return {
    currentVersion: nameOf(current),
    ...(current !== undefined && { currentDeploymentVersion: of(current) }),
    ...((ramping !== undefined || percentage > 0) && {
      rampingVersion: nameOf(ramping),
      rampingVersionPercentage: percentage,
    }),
    ...(ramping !== undefined && { rampingDeploymentVersion: of(ramping) }),
    ...timesOf({ updateTime: changedMs }),
  };
}

/** The metadata of a version, whose payloads are encoded. */
export function metadataMessage(
  metadata: NonNullable<VersionState["metadata"]>,
): MessageInitShape<typeof VersionMetadataSchema> {
  const payload = (encoded: string) => fromBinary(PayloadSchema, base64Decode(encoded));
  return { entries: Object.fromEntries(metadata.map(([key, each]) => [key, payload(each)])) };
}
