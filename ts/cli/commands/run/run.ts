// `temporalex run`: runs one workflow to its end in an engine of this process.
import { printableLine } from "../../frame/printable.ts";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type App, open } from "../../../app/open.ts";
import type { CodecOptions } from "../../../codec/codec.ts";
// Registers the core that `open` needs.
import "../../../engine/mod.ts";
import "../../../worker/mod.ts";
import { StoreLockedError } from "../../../engine/store_errors.ts";
import { randomId } from "../../../platform/host.ts";
import { WorkflowLoadError } from "../../../realm/mod.ts";
import type { WorkerEvents } from "../../../worker/events.ts";
import { lineLogger } from "../../../base/logger.ts";
import { CommandError, exitCodeOf, UsageError } from "../../frame/errors.ts";
import { importCodec } from "../../service/codec.ts";
import type { Handle } from "../../service/open_service.ts";
import type { RunCall } from "./options.ts";
import { importActivities } from "../../modules/user_modules.ts";
import { CliConverter, readInputs } from "../../text/values.ts";
import { lastTaskFailure } from "../../service/blocked_reason.ts";
import { showResult } from "../workflow/start.ts";

/**
 * Failures after which a workflow task counts as stuck: its code diverges or throws, and retries
 * follow every 10 s.
 */
const MAX_TASK_FAILURES = 2;

export async function runCommand(call: RunCall): Promise<number> {
  const { options, io, print, signal } = call;
  const inputs = await readInputs(call);
  const activities = await importActivities(io.cwd, options.activities);
  const codec = await importCodec(io.cwd, options.codec);
  const id = options.workflowId ?? randomId();
  const store = options.store === undefined ? undefined : resolve(io.cwd, options.store);
  let giveUp: (reason: CommandError) => void = () => {};
  const stuck = new Promise<never>((_, reject) => (giveUp = reject));
  stuck.catch(() => {});
  const app = await openApp(call, store, activities, codec, {
    workflowTaskFailed({ workflowId, attempt, message }) {
      if (workflowId !== id) return;
      if (attempt < MAX_TASK_FAILURES) {
        return print.note(`workflow task failed (attempt ${attempt}): ${printableLine(message)}`);
      }
      giveUp(new CommandError(`the workflow cannot continue: ${message}`));
    },
    activityFailed({ activityType, attempt, message }) {
      const advice = activities.length === 0 && message.endsWith("it has no activities")
        ? "; name its module with --activities"
        : "";
      print.note(
        `activity ${activityType} failed (attempt ${attempt}): ${printableLine(message)}${advice}`,
      );
    },
  });
  try {
    const type = options.type ?? onlyType(app.worker.workflowTypes);
    if (!app.worker.takesAnyType && !app.worker.workflowTypes.includes(type)) {
      throw new UsageError(
        `unknown workflow "${type}"; these modules define: ${app.worker.workflowTypes.join(", ")}`,
      );
    }
    const handle = await app.client.start(type, {
      id,
      args: inputs,
      // Continues a run of an earlier call.
      idConflictPolicy: "USE_EXISTING",
      ...(options.executionTimeout !== undefined && { executionTimeout: options.executionTimeout }),
    });
    const place = store === undefined
      ? "in memory (with --store other commands can talk to it)"
      : `in ${store}`;
    print.note(`running ${type}, workflow id ${id}, ${place}`);
    const interrupted = new Promise<never>((_, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop);
    });
    interrupted.catch(() => {});
    const lost = app.done.then(() => new Promise<never>(() => {}));
    const noWayOn = stuck.catch(async (error: CommandError) => {
      const at = (await lastTaskFailure(handle as Handle))?.at ?? "";
      throw at === "" ? error : new CommandError(`${error.message}\n  at ${at}`);
    });
    return await Promise.race([
      showResult(call, handle as Handle, {}, true),
      noWayOn,
      interrupted,
      lost,
    ]);
  } catch (error) {
    if (error === signal.reason && signal.aborted) {
      print.note(
        store === undefined
          ? "interrupted; the run was in memory and is gone (--store keeps it)"
          : `interrupted; the run is kept: to continue, run the same command with --workflow-id ${id}`,
      );
      return exitCodeOf(error);
    }
    if (error instanceof CommandError && store !== undefined) {
      throw new CommandError(
        `${error.message}\nThe run is kept: fix the code, then run the same command with --workflow-id ${id}.`,
      );
    }
    throw error;
  } finally {
    await app.close();
  }
}

async function openApp(
  { options, io, args }: RunCall,
  store: string | undefined,
  activities: readonly object[],
  codec: CodecOptions,
  events: WorkerEvents,
): Promise<App> {
  const logger = lineLogger({
    minimum: options.verbose ? "debug" : "error",
    colors: io.errColors,
    // The command itself reports failed tasks.
    write: (line) =>
      options.verbose || !/workflow task|activity/.test(line) ? io.err(`${line}\n`) : undefined,
  });
  try {
    return await open({
      workflows: args.map((module) => pathToFileURL(resolve(io.cwd, module))),
      activities: [...activities],
      taskQueue: options.taskQueue,
      ...codec,
      logger,
      ...(store !== undefined && { path: store }),
      engine: { namespace: options.namespace },
      // A later process can open a store with more modules, but not a store in memory.
      worker: { events, unknownActivityIsFinal: store === undefined },
      client: { converter: new CliConverter() },
    });
  } catch (error) {
    if (
      error instanceof WorkflowLoadError || /exports? no workflow/.test((error as Error).message)
    ) {
      throw new UsageError((error as Error).message);
    }
    if (error instanceof StoreLockedError && store !== undefined) {
      throw new CommandError(
        `${store} is open in ${
          error.holder === undefined ? "another process" : `process ${error.holder.pid}`
        }; that one runs its workflows: ` +
          "start this one there with temporalex workflow execute, or choose another --store",
      );
    }
    throw error;
  }
}

function onlyType(types: readonly string[]): string {
  if (types.length === 1) return types[0]!;
  throw new UsageError(`name the workflow with --type; these modules define: ${types.join(", ")}`);
}
