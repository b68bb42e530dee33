// `workflow fire-timer`: fires a timer of a workflow with manual timers.
import { printableLine } from "../../frame/printable.ts";
import { ServiceError } from "../../../service/raw.ts";
import { CommandError } from "../../frame/errors.ts";
import { Exit } from "../../frame/exit.ts";
import { fireTimerById } from "../../service/fire_timer.ts";
import type { FireTimerCall } from "./options.ts";

export async function fireTimerCommand(call: FireTimerCall): Promise<number> {
  const { workflowId, runId, name } = call.options;
  const timer = { workflowId, name, ...(runId !== undefined && { runId }) };
  try {
    await fireTimerById(call, timer);
  } catch (error) {
    if (error instanceof ServiceError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
  call.print.result(
    { ...timer, fired: true },
    () => `timer ${printableLine(`${name} of ${workflowId}`)} fired\n`,
  );
  return Exit.ok;
}
