// The methods that set the current and the ramping version.
import {
  SetWorkerDeploymentCurrentVersionRequestSchema,
  SetWorkerDeploymentCurrentVersionResponseSchema,
  SetWorkerDeploymentRampingVersionRequestSchema,
  SetWorkerDeploymentRampingVersionResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { decodeMessage, encodeMessage, invalid } from "../host_bytes.ts";
import {
  checkToken,
  type DeploymentMethodsContext,
  deploymentNotFound,
  failedPrecondition,
  noteChange,
  notFound,
  tokenOf,
  wrongManager,
} from "./context.ts";
import { oldVersionText, UNVERSIONED, versionMessage } from "./descriptions.ts";
import { checkDeploymentName, readOldVersion } from "./names.ts";
import {
  type DeploymentState,
  findVersion,
  setCurrent,
  setRamping,
  type VersionQueue,
} from "./state.ts";

/** Build id; null: unversioned workers; undefined: nothing. */
type Target = string | null | undefined;

/** Checks of both methods. */
class RoutingChecks {
  readonly #context: DeploymentMethodsContext;

  constructor(context: DeploymentMethodsContext) {
    this.#context = context;
  }

  /** Checks a change of the routing, and adds a version that does not exist yet. */
  prepare(
    name: string,
    buildId: Target,
    options: {
      readonly what: "current" | "ramping";
      readonly identity: string;
      readonly token: Uint8Array;
      readonly allowNoPollers: boolean;
      readonly ignoreMissing: boolean;
      isSame(state: DeploymentState): boolean;
    },
  ): { readonly state: DeploymentState; readonly isSame: boolean } {
    checkDeploymentName("WorkerDeploymentName", name);
    const { what, identity, allowNoPollers } = options;
    if (allowNoPollers && typeof buildId === "string") checkDeploymentName("BuildID", buildId);
    const found = this.#context.find(name);
    if (found === undefined && !allowNoPollers) throw deploymentNotFound(name);
    const state = found ?? this.#context.create(name);
    if (options.isSame(state) && state.identity === identity) return { state, isSame: true };
    checkToken(state, options.token);
    const { current } = state.routing;
    if (what === "ramping" && buildId !== undefined && buildId === current) {
      throw failedPrecondition(
        `requested ramping version ${oldVersionText(name, buildId)} is already current`,
      );
    }
    const isKnown = typeof buildId !== "string" || findVersion(state, buildId) !== undefined;
    if (!isKnown && !allowNoPollers) {
      throw notFound(`build ID '${buildId}' not found in Worker Deployment '${name}'`);
    }
    if (state.manager !== "" && state.manager !== identity) throw wrongManager(state, identity);
    if (!isKnown) this.#context.addVersion(state, buildId);
    if (!options.ignoreMissing && typeof buildId === "string") {
      this.#checkQueues(state, buildId, what);
    }
    return { state, isSame: false };
  }

  /** Queues in use of the current version must not lose their workers by the change. */
  #checkQueues(state: DeploymentState, buildId: string, what: "current" | "ramping"): void {
    const version = findVersion(state, buildId);
    const current = findVersion(state, state.routing.current);
    if (version === undefined || current === undefined || version === current) return;
    if (what === "ramping" && state.routing.ramping === buildId) return;
    const isPolled = (queue: VersionQueue) =>
      version.queues.some(([name, type]) => name === queue[0] && type === queue[1]);
    const isUsed = (queue: VersionQueue) =>
      this.#context.stats(state, current, queue)
        .some(({ tasks, addedPerSecond }) => tasks > 0 || addedPerSecond > 0);
    if (!current.queues.some((queue) => !isPolled(queue) && isUsed(queue))) return;
    throw failedPrecondition(
      `proposed ${what} version '${state.name}:${buildId}' is missing active task queues from the current version; these would become unversioned if it is set as the ${what} version`,
    );
  }
}

export function routingMethods(context: DeploymentMethodsContext) {
  const { ours, nowMs } = context;
  const checks = new RoutingChecks(context);
  return {
    setWorkerDeploymentCurrentVersion(bytes: Uint8Array) {
      const request = decodeMessage(SetWorkerDeploymentCurrentVersionRequestSchema, bytes);
      ours(request.namespace);
      const { deploymentName: name, identity } = request;
      if (name === "") throw invalid("deployment name cannot be empty");
      const buildId = targetOf(name, request.version, request.buildId || null);
      const { state, isSame } = checks.prepare(name, buildId, {
        what: "current",
        identity,
        token: request.conflictToken,
        allowNoPollers: request.allowNoPollers,
        ignoreMissing: request.ignoreMissingTaskQueues,
        isSame: (state) => state.routing.current === buildId,
      });
      const previous = isSame ? buildId : state.routing.current;
      if (!isSame) {
        setCurrent(state, buildId ?? null, nowMs());
        noteChange(context, state, identity);
      }
      const version = versionMessage(name, previous);
      return encodeMessage(SetWorkerDeploymentCurrentVersionResponseSchema, {
        conflictToken: tokenOf(state),
        previousVersion: oldVersionText(name, previous),
        ...(version !== undefined && { previousDeploymentVersion: version }),
      });
    },
    setWorkerDeploymentRampingVersion(bytes: Uint8Array) {
      const request = decodeMessage(SetWorkerDeploymentRampingVersionRequestSchema, bytes);
      ours(request.namespace);
      const { deploymentName: name, identity, percentage } = request;
      const given = request.buildId || (percentage > 0 ? null : undefined);
      let buildId = targetOf(name, request.version, given);
      // Clients unset a ramp with the name of unversioned workers, too.
      if (buildId === null && percentage === 0) buildId = undefined;
      if (!(percentage >= 0 && percentage <= 100)) {
        throw invalid("Percentage must be between 0 and 100 (inclusive)");
      }
      const { state, isSame } = checks.prepare(name, buildId, {
        what: "ramping",
        identity,
        token: request.conflictToken,
        allowNoPollers: request.allowNoPollers,
        ignoreMissing: request.ignoreMissingTaskQueues,
        isSame: ({ routing }) => routing.ramping === buildId && routing.percentage === percentage,
      });
      const { ramping, percentage: previousPercentage } = state.routing;
      if (!isSame) {
        setRamping(state, buildId, percentage, nowMs());
        noteChange(context, state, identity);
      }
      const version = versionMessage(name, ramping);
      return encodeMessage(SetWorkerDeploymentRampingVersionResponseSchema, {
        conflictToken: tokenOf(state),
        previousVersion: oldVersionText(name, ramping),
        previousPercentage,
        ...(version !== undefined && { previousDeploymentVersion: version }),
      });
    },
  };
}

/** The version that a request names; a deprecated text comes first. */
function targetOf(deployment: string, old: string, given: Target): Target {
  if (old === "") return given;
  if (old === UNVERSIONED) return null;
  const version = readOldVersion(old, "invalid version string: ");
  if (version.deploymentName !== deployment) {
    throw invalid(`invalid version string '${old}' does not match deployment name '${deployment}'`);
  }
  return version.buildId;
}
