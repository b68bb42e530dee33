// Worker versioning: which version of which deployment a worker is, as the service must hear it with every poll and report. The core writes
// completions and knows nothing of deployments; what it wrote is amended by appending fields.
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { VersioningBehavior } from "../executor/program/definition.ts";
import { WorkerDeploymentOptionsSchema } from "../api/generated/temporal/api/deployment/v1/message_pb.ts";
import {
  RespondWorkflowTaskCompletedRequest as Completed,
  RespondWorkflowTaskFailedRequest as Failed,
} from "../api/generated/fields.ts";
import { Message } from "../api/wire.ts";
import { WorkerVersioningMode } from "../api/generated/temporal/api/enums/v1/deployment_pb.ts";

/** Names a version of a deployment. */
export interface WorkerDeploymentVersion {
  /** The application; every version of it has the same name. Not empty, without "." and ":". */
  readonly deploymentName: string;
  /** The build: a commit, an image's tag. Not empty. */
  readonly buildId: string;
}

/** Which version of a deployment a worker is. Named as in Temporal's SDK. */
export interface WorkerDeploymentOptions {
  /**
   * True: the service routes runs by version; the worker gets no task before its version is made current (or ramping), for instance with
   * `temporal worker deployment set-current-version`. False: the version only shows in histories.
   */
  readonly useWorkerVersioning: boolean;
  /** The version that this worker is. */
  readonly version: WorkerDeploymentVersion;
  /** For workflows that name no `versioningBehavior` of their own. Without it each of them must. */
  readonly defaultVersioningBehavior?: VersioningBehavior | undefined;
}

const BEHAVIORS: { readonly [name in VersioningBehavior]: number } = { PINNED: 1, AUTO_UPGRADE: 2 };
export class Deployment {
  /** For the requests that the worker itself makes. */
  readonly options: MessageInitShape<typeof WorkerDeploymentOptionsSchema>;
  /** The version alone. */
  readonly version: WorkerDeploymentVersion;
  /** The options, encoded. */
  readonly encoded: Uint8Array;
  /** Appended to failures of workflow tasks. */
  readonly failedTail: Uint8Array;
  /** The service routes runs by version. */
  readonly isVersioned: boolean;
  readonly #default: VersioningBehavior | undefined;

  /** Throws a TypeError for options that make no sense. */
  constructor({ useWorkerVersioning, version, defaultVersioningBehavior }: WorkerDeploymentOptions) {
    if (typeof useWorkerVersioning !== "boolean") {
      throw new TypeError("workerDeploymentOptions.useWorkerVersioning must be true or false");
    }
    const { deploymentName, buildId } = version ?? {};
    if (typeof deploymentName !== "string" || deploymentName === "" || /[.:]/.test(deploymentName)) {
      throw new TypeError(
        `workerDeploymentOptions.version.deploymentName must be a name without "." and ":", not ${
          JSON.stringify(deploymentName)
        }`,
      );
    }
    if (typeof buildId !== "string" || buildId === "") {
      throw new TypeError(
        `workerDeploymentOptions.version.buildId must be a text that is not empty, not ${JSON.stringify(buildId)}`,
      );
    }
    if (defaultVersioningBehavior !== undefined && !Object.hasOwn(BEHAVIORS, defaultVersioningBehavior)) {
      throw new TypeError(
        `workerDeploymentOptions.defaultVersioningBehavior must be "PINNED" or "AUTO_UPGRADE", not ${
          JSON.stringify(defaultVersioningBehavior)
        }`,
      );
    }
    const workerVersioningMode = useWorkerVersioning ? WorkerVersioningMode.VERSIONED : WorkerVersioningMode.UNVERSIONED;
    this.options = { deploymentName, buildId, workerVersioningMode };
    this.version = { deploymentName, buildId };
    this.isVersioned = useWorkerVersioning;
    this.#default = defaultVersioningBehavior;
    this.encoded = toBinary(WorkerDeploymentOptionsSchema, create(WorkerDeploymentOptionsSchema, this.options));
    this.failedTail = new Message().bytes(Failed.deploymentOptions, this.encoded).finish();
  }

  /** Every workflow of a versioned worker must have a behavior; throws a TypeError that names those without. */
  check(realm: { workflowTypes?: readonly string[]; versioningBehaviors?: ReadonlyMap<string, VersioningBehavior> }): void {
    if (!this.isVersioned || this.#default !== undefined) return;
    const without = (realm.workflowTypes ?? ["of this realm"]).filter((type) => !realm.versioningBehaviors?.has(type));
    if (without.length === 0) return;
    throw new TypeError(
      `with useWorkerVersioning each workflow is "PINNED" or "AUTO_UPGRADE": give ${without.join(", ")} a versioningBehavior, ` +
        "or the worker a workerDeploymentOptions.defaultVersioningBehavior",
    );
  }

  /** Appended to completions of workflow tasks. */
  completedTail(own: VersioningBehavior | undefined): Uint8Array {
    const behavior = this.isVersioned ? own ?? this.#default : undefined;
    const tail = new Message();
    if (behavior !== undefined) tail.int(Completed.versioningBehavior, BEHAVIORS[behavior]);
    return tail.bytes(Completed.deploymentOptions, this.encoded).finish();
  }
}
