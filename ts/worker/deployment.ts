// Worker versioning: which version of which deployment a worker is, as the service must hear it with every poll and report. The core writes
// completions and knows nothing of deployments; what it wrote is amended by appending fields.
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { VersioningBehavior } from "../executor/program/definition.ts";
import { WorkerDeploymentOptionsSchema } from "../api/generated/temporal/api/deployment/v1/message_pb.ts";
import {
  RespondWorkflowTaskCompletedRequest as Completed,
  RespondWorkflowTaskFailedRequest as Failed,
} from "../api/generated/fields.ts";
import type { WorkerVersionStampSchema } from "../api/generated/temporal/api/common/v1/message_pb.ts";
import { Message } from "../api/wire.ts";
import type { PollFields } from "./poll_requests.ts";
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

/** How a worker says which version it is, with its polls and reports. */
export interface SentVersion {
  /** The version. Its `deploymentName` is empty for a build id alone. */
  readonly version: WorkerDeploymentVersion;
  /** Histories have the version of each task, where the service writes any. */
  readonly isRecorded: boolean;
  /** Of polls. */
  readonly poll: Pick<PollFields, "deploymentOptions" | "versionCapabilities">;
  /** Of the reports that the worker itself makes. */
  readonly report: {
    readonly deploymentOptions?: MessageInitShape<typeof WorkerDeploymentOptionsSchema>;
    readonly workerVersion?: MessageInitShape<typeof WorkerVersionStampSchema>;
  };
  /** Appended to failures of workflow tasks. */
  readonly failedTail: Uint8Array;
  /** Appended to completions of workflow tasks. `own`: what the workflow says. */
  completedTail(own: VersioningBehavior | undefined): Uint8Array;
  /** Throws a TypeError for workflows that a worker of this kind cannot have. */
  check(realm: RealmBehaviors): void;
}

interface RealmBehaviors {
  workflowTypes?: readonly string[];
  versioningBehaviors?: ReadonlyMap<string, VersioningBehavior>;
}

export class Deployment implements SentVersion {
  readonly version: WorkerDeploymentVersion;
  readonly poll: { readonly deploymentOptions: Uint8Array };
  readonly report: { readonly deploymentOptions: MessageInitShape<typeof WorkerDeploymentOptionsSchema> };
  readonly failedTail: Uint8Array;
  /** The service routes runs by version. */
  readonly isRecorded: boolean;
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
        `workerDeploymentOptions.version.buildId must be a non-empty string, not ${JSON.stringify(buildId)}`,
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
    const options = { deploymentName, buildId, workerVersioningMode };
    const encoded = toBinary(WorkerDeploymentOptionsSchema, create(WorkerDeploymentOptionsSchema, options));
    this.version = { deploymentName, buildId };
    this.isRecorded = useWorkerVersioning;
    this.poll = { deploymentOptions: encoded };
    this.report = { deploymentOptions: options };
    this.#default = defaultVersioningBehavior;
    this.failedTail = new Message().bytes(Failed.deploymentOptions, encoded).finish();
  }

  /** Every workflow of a versioned worker must have a behavior; throws a TypeError that names those without. */
  check(realm: RealmBehaviors): void {
    if (!this.isRecorded || this.#default !== undefined) return;
    const without = (realm.workflowTypes ?? ["of this realm"]).filter((type) => !realm.versioningBehaviors?.has(type));
    if (without.length === 0) return;
    throw new TypeError(
      `with useWorkerVersioning each workflow is "PINNED" or "AUTO_UPGRADE": set the versioningBehavior of ${
        without.join(", ")
      }, ` +
        "or the worker a workerDeploymentOptions.defaultVersioningBehavior",
    );
  }

  completedTail(own: VersioningBehavior | undefined): Uint8Array {
    const behavior = this.isRecorded ? own ?? this.#default : undefined;
    const tail = new Message();
    if (behavior !== undefined) tail.int(Completed.versioningBehavior, BEHAVIORS[behavior]);
    return tail.bytes(Completed.deploymentOptions, this.poll.deploymentOptions).finish();
  }
}
