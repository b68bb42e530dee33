// Fires a manual timer in the engine of a command's options: in the process that holds a store, or
// in a `temporalex dev`.
import { askToFire, fireInStore } from "../../app/fire_timer.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import type { Call } from "../frame/command.ts";
import { CommandError, UsageError } from "../frame/errors.ts";
import { meansCluster, openCluster } from "./cluster.ts";
import { storePath } from "./open_service.ts";
import type { SERVICE_OPTIONS } from "./options.ts";

type FireCall = Call<Omit<typeof SERVICE_OPTIONS, "codec" | "identity" | "timeout">>;

/**
 * Rejects with a ServiceError, and with a CommandError for a Temporal cluster, which has no manual
 * timers.
 */
export async function fireTimerById(
  call: FireCall,
  timer: { readonly workflowId: string; readonly name: string; readonly runId?: string },
): Promise<void> {
  const { options, given, signal } = call;
  if (!meansCluster(options)) {
    return await fireInStore(storePath(call), { namespace: "", ...timer }, signal);
  }
  if (given.has("store")) {
    throw new UsageError("--store and --address cannot be used together: name one of them");
  }
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
}
