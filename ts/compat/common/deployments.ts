// Versions of worker deployments.

/** A version of a deployment. */
export interface WorkerDeploymentVersion {
  readonly buildId: string;
  readonly deploymentName: string;
}

/** Returns deployment and build id in one text. */
export function toCanonicalString({ deploymentName, buildId }: WorkerDeploymentVersion): string {
  return `${deploymentName}.${buildId}`;
}

/** Pins a run to a version. */
export interface PinnedVersioningOverride {
  pinnedTo: WorkerDeploymentVersion;
}
/** Moves a run to the current version. */
export type AutoUpgradeVersioningOverride = "AUTO_UPGRADE";
/** Overrides the versioning behavior of a workflow. */
export type VersioningOverride = PinnedVersioningOverride | AutoUpgradeVersioningOverride;

/** Builds for started workflows and activities. Deprecated: use deployment versions. */
export type VersioningIntent = "COMPATIBLE" | "DEFAULT";

/** Converts a version from a message; undefined without a build id. */
export function convertDeploymentVersion(
  version: { buildId?: string | null; deploymentName?: string | null } | null | undefined,
): WorkerDeploymentVersion | undefined {
  return version?.buildId
    ? { buildId: version.buildId, deploymentName: version.deploymentName ?? "" }
    : undefined;
}
