// What the methods of worker deployments need, and their common checks. Codes and texts of errors are
// those of Temporal's servers.
import { Code, ServiceError } from "../../service/raw.ts";
import type { PriorityStats } from "../backlog.ts";
import { readOldVersion } from "./names.ts";
import {
  type DeploymentState,
  findVersion,
  type VersionQueue,
  type VersionState,
} from "./state.ts";

const utf8 = new TextEncoder();
const text = new TextDecoder();

export interface DeploymentMethodsContext {
  /** Throws for a namespace that the engine does not serve. */
  ours(name: string): void;
  nowMs(): number;
  /** Throws a ServiceError if the row cannot be read. */
  find(name: string): DeploymentState | undefined;
  /** In order of their names. */
  all(): readonly DeploymentState[];
  /** Adds a deployment without versions. */
  create(name: string): DeploymentState;
  /** Adds a version that no worker polls yet. */
  addVersion(state: DeploymentState, buildId: string): VersionState;
  /** The state has changed. */
  changed(state: DeploymentState): void;
  remove(state: DeploymentState): void;
  /** The next poll registers the version again. */
  removeVersion(state: DeploymentState, version: VersionState): void;
  /** Finds out whether a version has drained. */
  refresh(state: DeploymentState): void;
  /** Whether workers of the version have polled lately. */
  hasPollers(state: DeploymentState, version: VersionState): boolean;
  /** What waits for workers of the version in a task queue. */
  stats(state: DeploymentState, version: VersionState, queue: VersionQueue): PriorityStats[];
}

export function failedPrecondition(message: string): ServiceError {
  return new ServiceError(Code.FAILED_PRECONDITION, message, "FailedPrecondition");
}

export function notFound(message: string): ServiceError {
  return new ServiceError(Code.NOT_FOUND, message, "NotFound");
}

/** The conflict token of a state. */
export const tokenOf = ({ createMs, changes }: DeploymentState) =>
  utf8.encode(`${createMs}.${changes}`);

export function deploymentNotFound(name: string): ServiceError {
  return notFound(
    `no Worker Deployment found with name '${name}'; does your Worker Deployment have pollers?`,
  );
}

export function wrongManager({ manager }: DeploymentState, identity: string): ServiceError {
  return failedPrecondition(
    `ManagerIdentity '${manager}' is set and does not match user identity '${identity}'; to proceed, set your own identity as the ManagerIdentity, remove the ManagerIdentity, or wait for the other client to do so`,
  );
}

export function checkToken(state: DeploymentState, token: Uint8Array): void {
  if (token.length > 0 && text.decode(token) !== text.decode(tokenOf(state))) {
    throw failedPrecondition("conflict token mismatch");
  }
}

/** A client has changed the deployment. */
export function noteChange(
  context: DeploymentMethodsContext,
  state: DeploymentState,
  identity: string,
): void {
  state.changes++;
  state.identity = identity;
  context.changed(state);
}

/** A version by its name, and its deployment. `old` is a deprecated text. */
export function findNamed(
  context: DeploymentMethodsContext,
  given: { readonly deploymentName: string; readonly buildId: string } | undefined,
  old: string,
) {
  const { deploymentName, buildId } = given ?? readOldVersion(old);
  const state = context.find(deploymentName);
  if (state !== undefined) context.refresh(state);
  return { deploymentName, buildId, state, version: state && findVersion(state, buildId) };
}
