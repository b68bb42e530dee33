// Worker versioning: the deployment version that a worker sends with every poll and report. The
// core encodes completions without deployments; the fields are appended to its bytes.
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { VersioningBehavior } from "../executor/program/definition.ts";
import { WorkerDeploymentOptionsSchema } from "../messages/generated/temporal/api/deployment/v1/message_pb.ts";
import {
  RespondWorkflowTaskCompletedRequest as Completed,
  RespondWorkflowTaskFailedRequest as Failed,
} from "../messages/generated/fields.ts";
import type { WorkerVersionStampSchema } from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import { Message } from "../messages/wire.ts";
import type { PollFields } from "./polls/poll_requests.ts";
import { WorkerVersioningMode } from "../messages/generated/temporal/api/enums/v1/deployment_pb.ts";

/** Identifies a version of a deployment. */
export interface WorkerDeploymentVersion {
  /** The application; all its versions have the same name. Not empty, without "." and ":". */
  readonly deploymentName: string;
  /** The build, for example a commit or an image tag. Not empty. */
  readonly buildId: string;
}

/** The deployment version of a worker. Named as in Temporal's SDK. */
export interface WorkerDeploymentOptions {
  /**
   * True: the service routes runs by version; the worker gets no task until its version is current
   * (or ramping), for example by `temporal worker deployment set-current-version`. False: the
   * version only appears in histories.
   */
  readonly useWorkerVersioning: boolean;
  readonly version: WorkerDeploymentVersion;
  /** For workflows without `versioningBehavior`. If not set, each workflow needs one. */
  readonly defaultVersioningBehavior?: VersioningBehavior | undefined;
}

const BEHAVIORS: { readonly [name in VersioningBehavior]: number } = { PINNED: 1, AUTO_UPGRADE: 2 };

/** How a worker sends its version, with polls and reports. */
export interface SentVersion {
  /** The version. `deploymentName` is empty for a build id alone. */
  readonly version: WorkerDeploymentVersion;
  /** Histories contain the version of each task, if the service writes it. */
  readonly isRecorded: boolean;
  readonly poll: Pick<PollFields, "deploymentOptions" | "versionCapabilities">;
  /** Fields of reports that the worker creates. */
  readonly report: {
    readonly deploymentOptions?: MessageInitShape<typeof WorkerDeploymentOptionsSchema>;
    readonly workerVersion?: MessageInitShape<typeof WorkerVersionStampSchema>;
  };
  /** Appended to failures of workflow tasks. */
  readonly failedTail: Uint8Array;
  /** Returns what is appended to a completion. `own`: the workflow's versioning behavior. */
  completedTail(own: VersioningBehavior | undefined): Uint8Array;
  /** Throws a TypeError for workflows that this kind of worker does not support. */
  check(realm: RealmBehaviors): void;
}

interface RealmBehaviors {
  workflowTypes?: readonly string[];
  versioningBehaviors?: ReadonlyMap<string, VersioningBehavior>;
}

export class Deployment implements SentVersion {
  readonly version: WorkerDeploymentVersion;
  readonly poll: { readonly deploymentOptions: Uint8Array };
  readonly report: {
    readonly deploymentOptions: MessageInitShape<typeof WorkerDeploymentOptionsSchema>;
  };
  readonly failedTail: Uint8Array;
  /** The service routes runs by version. */
  readonly isRecorded: boolean;
  readonly #default: VersioningBehavior | undefined;

  /** Throws a TypeError for invalid options. */
  constructor(
    { useWorkerVersioning, version, defaultVersioningBehavior }: WorkerDeploymentOptions,
  ) {
    if (typeof useWorkerVersioning !== "boolean") {
      throw new TypeError("workerDeploymentOptions.useWorkerVersioning must be true or false");
    }
    const { deploymentName, buildId } = version ?? {};
    if (
      typeof deploymentName !== "string" || deploymentName === "" || /[.:]/.test(deploymentName)
    ) {
      throw new TypeError(
        `workerDeploymentOptions.version.deploymentName must be a name without "." and ":", not ${
          JSON.stringify(deploymentName)
        }`,
      );
    }
    if (typeof buildId !== "string" || buildId === "") {
      throw new TypeError(
        `workerDeploymentOptions.version.buildId must be a non-empty string, not ${
          JSON.stringify(buildId)
        }`,
      );
    }
    if (
      defaultVersioningBehavior !== undefined &&
      !Object.hasOwn(BEHAVIORS, defaultVersioningBehavior)
    ) {
      throw new TypeError(
        `workerDeploymentOptions.defaultVersioningBehavior must be "PINNED" or "AUTO_UPGRADE", not ${
          JSON.stringify(defaultVersioningBehavior)
        }`,
      );
    }
    const workerVersioningMode = useWorkerVersioning
      ? WorkerVersioningMode.VERSIONED
      : WorkerVersioningMode.UNVERSIONED;
    const options = { deploymentName, buildId, workerVersioningMode };
    const encoded = toBinary(
      WorkerDeploymentOptionsSchema,
      create(WorkerDeploymentOptionsSchema, options),
    );
    this.version = { deploymentName, buildId };
    this.isRecorded = useWorkerVersioning;
    this.poll = { deploymentOptions: encoded };
    this.report = { deploymentOptions: options };
    this.#default = defaultVersioningBehavior;
    this.failedTail = new Message().bytes(Failed.deploymentOptions, encoded).finish();
  }

  /** Throws a TypeError if a workflow of a versioned worker has no behavior. */
  check(realm: RealmBehaviors): void {
    if (!this.isRecorded || this.#default !== undefined) return;
    const without = (realm.workflowTypes ?? ["of this realm"]).filter((type) =>
      !realm.versioningBehaviors?.has(type)
    );
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
