// `workflow fire-timer`: a timer of a workflow fires now, whose timers fire by hand.
import { askToFire, fireInStore } from "../../../app/fire_timer.ts";
import { Code, ServiceError } from "../../../service/raw.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { Exit } from "../../frame/exit.ts";
import { meansCluster, openCluster } from "../../service/cluster.ts";
import { storePath } from "../../service/open_service.ts";
import type { FireTimerCall } from "./options.ts";

export async function fireTimerCommand(call: FireTimerCall): Promise<number> {
  const { workflowId, runId, name } = call.options;
  const timer = { workflowId, name, ...(runId !== undefined && { runId }) };
  await fire(call, timer);
  call.print.result({ ...timer, fired: true }, () => `timer ${name} of ${workflowId} fired\n`);
  return Exit.ok;
}

async function fire(call: FireTimerCall, timer: { workflowId: string; name: string; runId?: string }): Promise<void> {
  const { options, given, signal } = call;
  try {
    if (!meansCluster(options)) return await fireInStore(storePath(call), { namespace: "", ...timer }, signal);
    if (given.has("store")) throw new UsageError("--store and --address contradict each other: name one of them");
    const { service, namespace, where, close } = await openCluster(call);
    try {
      return await askToFire(service, { namespace, ...timer }, signal);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== Code.UNIMPLEMENTED) throw error;
      throw new CommandError(
        `timers of ${where} are the server's own: they fire by hand on the embedded engine and temporalex dev alone`,
      );
    } finally {
      await close();
    }
  } catch (error) {
    if (error instanceof ServiceError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}
