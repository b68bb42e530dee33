// Converts options of the command to options of the worker.
import { resolve } from "node:path";
import type { Logger } from "../../../base/logger.ts";
import type { VersioningBehavior } from "../../../realm/mod.ts";
import type { WorkerOptions } from "../../../worker/mod.ts";
import { UsageError } from "../../frame/errors.ts";
import { stateFolder } from "../../frame/state_folder.ts";
import { crashNoteIn, type Work } from "./crash_notes.ts";
import type { WorkerCall } from "./options.ts";

/** From --crash-notes: the file of this process. The default fails silently, with a debug log. */
export function crashNoteOf(
  { options: { crashNotes }, io }: WorkerCall,
  work: Work,
  logger: Logger,
): string | undefined {
  if (crashNotes === "none") return undefined;
  const folder = crashNotes === undefined ? stateFolder(io.env) : resolve(io.cwd, crashNotes);
  try {
    return folder && crashNoteIn(folder, work);
  } catch (error) {
    const { message } = error as Error;
    if (crashNotes !== undefined) {
      throw new UsageError(`--crash-notes ${crashNotes} cannot be used: ${message}`);
    }
    logger.debug("running workflow tasks are not recorded for the next start", {
      folder,
      error: message,
    });
    return undefined;
  }
}

/** From --deployment and --versioning-behavior. */
export function deploymentOf(
  { options: { deployment, versioningBehavior } }: WorkerCall,
): Pick<WorkerOptions, "workerDeploymentOptions"> {
  if (deployment === undefined) {
    if (versioningBehavior !== undefined) {
      throw new UsageError("--versioning-behavior says nothing without --deployment");
    }
    return {};
  }
  const at = deployment.indexOf(".");
  if (at <= 0 || at === deployment.length - 1) {
    throw new UsageError(
      `--deployment ${deployment}: give a deployment's name and a build, with a dot between them: shop.v7`,
    );
  }
  const version = { deploymentName: deployment.slice(0, at), buildId: deployment.slice(at + 1) };
  const defaultVersioningBehavior = versioningBehavior as VersioningBehavior | undefined;
  return {
    workerDeploymentOptions: { useWorkerVersioning: true, version, defaultVersioningBehavior },
  };
}

/** Replaces the worker's option names in messages by those of the command. */
export const withOptions = (message: string): string =>
  message.replace("with useWorkerVersioning", "with --deployment")
    .replace("a workerDeploymentOptions.defaultVersioningBehavior", "--versioning-behavior");
