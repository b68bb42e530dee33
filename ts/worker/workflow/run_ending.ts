// How a workflow task ends its run, read from its completion.
import { Command, RespondWorkflowTaskCompletedRequest } from "../../messages/generated/fields.ts";
import { CommandType } from "../../messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { Fields } from "../../messages/wire.ts";

/** How a run ends, by its closing command. */
export type RunEnding = "completed" | "failed" | "canceled" | "continue_as_new";

const ENDINGS: ReadonlyMap<number, RunEnding> = new Map([
  [CommandType.COMPLETE_WORKFLOW_EXECUTION, "completed"],
  [CommandType.FAIL_WORKFLOW_EXECUTION, "failed"],
  [CommandType.CANCEL_WORKFLOW_EXECUTION, "canceled"],
  [CommandType.CONTINUE_AS_NEW_WORKFLOW_EXECUTION, "continue_as_new"],
]);

/**
 * Returns how the commands of a RespondWorkflowTaskCompletedRequest end the run; undefined if they
 * do not.
 */
export function readEnding(request: Uint8Array): RunEnding | undefined {
  let ending: RunEnding | undefined;
  for (const at = new Fields(request); at.next();) {
    if (at.tag !== RespondWorkflowTaskCompletedRequest.commands) continue;
    for (const of = at.inner(); of.next();) {
      if (of.tag === Command.commandType) ending ??= ENDINGS.get(of.int());
    }
  }
  return ending;
}
