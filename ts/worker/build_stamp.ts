// The build id of a worker without a deployment (`buildId`, `useVersioning` of
// `@temporalio/worker`). Histories show it; with `useVersioning` a service routes tasks by the
// queue's rules.
import {
  RespondWorkflowTaskCompletedRequest as Completed,
  RespondWorkflowTaskFailedRequest as Failed,
  WorkerVersionCapabilities as Capabilities,
  WorkerVersionStamp as Stamp,
} from "../messages/generated/fields.ts";
import { Message } from "../messages/wire.ts";
import type { SentVersion, WorkerDeploymentVersion } from "./deployment.ts";

/** A build id, and whether the service routes tasks by it. */
export interface BuildStampOptions {
  /** Not empty. */
  readonly buildId: string;
  /** The worker gets only tasks that the queue's rules assign to this build id. */
  readonly useVersioning: boolean;
}

export class BuildStamp implements SentVersion {
  readonly version: WorkerDeploymentVersion;
  readonly isRecorded = true;
  readonly poll: { readonly versionCapabilities: Uint8Array };
  readonly report: { readonly workerVersion: BuildStampOptions };
  readonly failedTail: Uint8Array;
  readonly #completedTail: Uint8Array;

  /** Throws a TypeError for an invalid build id. */
  constructor({ buildId, useVersioning }: BuildStampOptions) {
    if (typeof buildId !== "string" || buildId === "") {
      throw new TypeError(
        `a worker's buildId must be a non-empty string, not ${JSON.stringify(buildId)}`,
      );
    }
    const encoded = (fields: { readonly buildId: number; readonly useVersioning: number }) => {
      const message = new Message().text(fields.buildId, buildId);
      return (useVersioning ? message.int(fields.useVersioning, 1) : message).finish();
    };
    const stamp = encoded(Stamp);
    this.version = { deploymentName: "", buildId };
    this.poll = { versionCapabilities: encoded(Capabilities) };
    this.report = { workerVersion: { buildId, useVersioning } };
    this.failedTail = new Message().bytes(Failed.workerVersion, stamp).finish();
    this.#completedTail = new Message().bytes(Completed.workerVersionStamp, stamp).finish();
  }

  completedTail(): Uint8Array {
    return this.#completedTail;
  }

  /** Accepts every workflow. */
  check(): void {}
}
