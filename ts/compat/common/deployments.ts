// Versions of worker deployments as programs name them.

/** A version of a deployment. */
export interface WorkerDeploymentVersion {
  /** The build. */
  readonly buildId: string;
  /** The deployment. */
  readonly deploymentName: string;
}

/** Deployment and build in one text. */
export function toCanonicalString({ deploymentName, buildId }: WorkerDeploymentVersion): string {
  return `${deploymentName}.${buildId}`;
}

/** A run stays on this version. */
export interface PinnedVersioningOverride {
  /** The version. */
  pinnedTo: WorkerDeploymentVersion;
}
/** A run takes the current version. */
export type AutoUpgradeVersioningOverride = "AUTO_UPGRADE";
/** What a run does in place of what its workflow says. */
export type VersioningOverride = PinnedVersioningOverride | AutoUpgradeVersioningOverride;

/** Which builds take on what a workflow starts (deprecated: versions of deployments say it). */
export type VersioningIntent = "COMPATIBLE" | "DEFAULT";

/** The version of what the wire has; undefined where it names no build. */
export function convertDeploymentVersion(
  version: { buildId?: string | null; deploymentName?: string | null } | null | undefined,
): WorkerDeploymentVersion | undefined {
  return version?.buildId ? { buildId: version.buildId, deploymentName: version.deploymentName ?? "" } : undefined;
}
