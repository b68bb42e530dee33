// The state of a worker deployment, as JSON in a row of the store: its routing and its versions with
// their task queues. The rules are those of Temporal's servers.
import type { TaskQueueType } from "../../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type { DeploymentWrite, StoredDeployment } from "../store.ts";

/** Status of a version that is neither current nor ramping and has no workers in use. */
export type VersionStatus = "created" | "inactive" | "current" | "ramping" | "draining" | "drained";

/** A task queue that workers of a version poll. */
export type VersionQueue = readonly [name: string, type: TaskQueueType];

/** A version of a deployment. Times are milliseconds since the epoch; 0: never. */
export interface VersionState {
  readonly buildId: string;
  readonly createMs: number;
  status: VersionStatus;
  routingChangedMs: number;
  currentSinceMs: number;
  rampingSinceMs: number;
  firstActivationMs: number;
  lastCurrentMs: number;
  lastDeactivationMs: number;
  drainageChangedMs: number;
  drainageCheckedMs: number;
  readonly queues: VersionQueue[];
  /** Keys with encoded payloads in base64; null: never set. */
  metadata: (readonly [key: string, payload: string])[] | null;
  /** Identity of the client that changed the metadata. */
  identity: string;
}

/** Where new and auto-upgrade workflows go. */
export interface RoutingState {
  /** Build id; null: unversioned workers. */
  current: string | null;
  /** Build id; null: unversioned workers; absent: nothing ramps. */
  ramping?: string | null;
  percentage: number;
  currentChangedMs: number;
  rampingChangedMs: number;
  percentageChangedMs: number;
  /** Increases with each change. */
  revision: number;
}

export interface DeploymentState {
  readonly name: string;
  readonly createMs: number;
  /** Increases with each change by a client; part of the conflict token. */
  changes: number;
  /** Identity of the client that changed it last. */
  identity: string;
  /** The only identity that may change it; empty: any. */
  manager: string;
  readonly routing: RoutingState;
  /** In order of creation. */
  readonly versions: VersionState[];
}

export function newDeployment(name: string, nowMs: number): DeploymentState {
  return {
    name,
    createMs: nowMs,
    changes: 0,
    identity: "",
    manager: "",
    routing: {
      current: null,
      percentage: 0,
      currentChangedMs: 0,
      rampingChangedMs: 0,
      percentageChangedMs: 0,
      revision: 0,
    },
    versions: [],
  };
}

/** `status`: "created" by a client before workers poll, otherwise "inactive". */
export function newVersion(
  buildId: string,
  nowMs: number,
  status: "created" | "inactive",
): VersionState {
  return {
    buildId,
    createMs: nowMs,
    status,
    routingChangedMs: 0,
    currentSinceMs: 0,
    rampingSinceMs: 0,
    firstActivationMs: 0,
    lastCurrentMs: 0,
    lastDeactivationMs: 0,
    drainageChangedMs: 0,
    drainageCheckedMs: 0,
    queues: [],
    metadata: null,
    identity: "",
  };
}

export function findVersion(
  { versions }: DeploymentState,
  buildId: string | null | undefined,
): VersionState | undefined {
  return versions.find((version) => version.buildId === buildId);
}

/** Makes a version (null: unversioned workers) the current one. */
export function setCurrent(state: DeploymentState, buildId: string | null, nowMs: number): void {
  const { routing } = state;
  if (routing.current === buildId) return;
  const previous = findVersion(state, routing.current);
  routing.current = buildId;
  routing.currentChangedMs = nowMs;
  routing.revision++;
  if (routing.ramping === buildId) {
    delete routing.ramping;
    routing.percentage = 0;
    routing.rampingChangedMs = nowMs;
    routing.percentageChangedMs = nowMs;
  }
  const version = findVersion(state, buildId);
  if (version !== undefined) {
    activate(version, "current", nowMs);
    version.currentSinceMs = nowMs;
    version.lastCurrentMs = nowMs;
    version.rampingSinceMs = 0;
  }
  if (previous !== undefined) deactivate(previous, nowMs);
}

/** Ramps a version (null: unversioned workers; undefined: none) to a share of the workflows. */
export function setRamping(
  state: DeploymentState,
  buildId: string | null | undefined,
  percentage: number,
  nowMs: number,
): void {
  const { routing } = state;
  if (routing.ramping === buildId && routing.percentage === percentage) return;
  const previous = findVersion(state, routing.ramping);
  const isNew = routing.ramping !== buildId;
  if (buildId === undefined) delete routing.ramping;
  else routing.ramping = buildId;
  routing.percentage = percentage;
  if (isNew) routing.rampingChangedMs = nowMs;
  routing.percentageChangedMs = nowMs;
  routing.revision++;
  const version = findVersion(state, buildId);
  if (version !== undefined) {
    activate(version, "ramping", nowMs);
    if (isNew) version.rampingSinceMs = nowMs;
  }
  if (isNew && previous !== undefined) deactivate(previous, nowMs);
}

function activate(version: VersionState, status: "current" | "ramping", nowMs: number): void {
  version.status = status;
  version.routingChangedMs = nowMs;
  version.firstActivationMs ||= nowMs;
  version.drainageChangedMs = 0;
  version.drainageCheckedMs = 0;
}

function deactivate(version: VersionState, nowMs: number): void {
  version.status = "draining";
  version.routingChangedMs = nowMs;
  version.currentSinceMs = 0;
  version.rampingSinceMs = 0;
  version.lastDeactivationMs = nowMs;
  version.drainageChangedMs = nowMs;
  version.drainageCheckedMs = nowMs;
}

/** A write that stores the state. */
export function encodeDeployment(state: DeploymentState): DeploymentWrite {
  return { name: state.name, state: JSON.stringify(state) };
}

const STATUSES: { readonly [status in VersionStatus]: true } = {
  created: true,
  inactive: true,
  current: true,
  ramping: true,
  draining: true,
  drained: true,
};

/** Throws an Error for a damaged row. */
export function decodeDeployment({ name, state }: StoredDeployment): DeploymentState {
  const decoded = JSON.parse(state) as DeploymentState | null;
  const { routing, versions } = decoded ?? {};
  const isSound = decoded !== null && decoded.name === name && isTime(decoded.createMs) &&
    isTime(decoded.changes) && typeof decoded.identity === "string" &&
    typeof decoded.manager === "string" && isTime(routing?.percentage) &&
    isTime(routing?.revision) && Array.isArray(versions) && versions.every(isVersion);
  if (!isSound) throw new Error("invalid state in the row of table temporalex_deployments");
  return decoded;
}

function isTime(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) >= 0;
}

function isVersion(version: VersionState | null): boolean {
  return typeof version?.buildId === "string" && Object.hasOwn(STATUSES, version.status ?? "") &&
    isTime(version.createMs) && Array.isArray(version.queues) &&
    version.queues.every((queue) => typeof queue?.[0] === "string" && Number.isInteger(queue[1]));
}
