// `workflow cancel` and `terminate`.
import type { EndCall } from "../table/workflow.ts";
import { withTargets } from "./targets.ts";

export function cancelCommand(call: EndCall): Promise<number> {
  return withTargets(call, "cancel requested:", (handle) => handle.cancel(call.options.reason));
}

export function terminateCommand(call: EndCall): Promise<number> {
  return withTargets(call, "terminated", (handle) => handle.terminate(call.options.reason));
}
