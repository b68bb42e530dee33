// `workflow cancel`, `terminate`, `delete` and `reset`.
import type { ReapplyExclude, ResetOptions } from "../../../client/reset_options.ts";
import { Exit } from "../../frame/exit.ts";
import { UsageError } from "../../frame/errors.ts";
import { type Handle, withService } from "../../service/open_service.ts";
import type { DeleteCall, EndCall, ResetCall } from "./options.ts";
import { withTargets } from "./targets.ts";

export function cancelCommand(call: EndCall): Promise<number> {
  return withTargets(call, "cancel requested:", (handle) => handle.cancel(call.options.reason));
}

export function terminateCommand(call: EndCall): Promise<number> {
  return withTargets(call, "terminated", (handle) => handle.terminate(call.options.reason));
}

export function deleteCommand(call: DeleteCall): Promise<number> {
  return withTargets(call, "deleted", (handle) => handle.delete(), "all");
}

/** Converts "LastWorkflowTask" to the client's "LAST_WORKFLOW_TASK". */
const upper = (text: string): string => text.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();

export async function resetCommand(call: ResetCall): Promise<number> {
  const { workflowId, runId, eventId, type, buildId, reason, reapplyExclude } = call.options;
  const named = [eventId, type, buildId].filter((point) => point !== undefined).length;
  if (named !== 1) {
    throw new UsageError("--event-id, --type or --build-id is required, and one of them only");
  }
  if (eventId !== undefined && (!Number.isInteger(eventId) || eventId < 1)) {
    throw new UsageError(`--event-id must be a whole number of at least 1, not ${eventId}`);
  }
  const exclude = reapplyExclude.map(upper);
  const point = {
    ...(eventId !== undefined && { eventId }),
    ...(type !== undefined && { type: upper(type) }),
    ...(buildId !== undefined && { buildId }),
  };
  return await withService(call, async ({ client, settings }) => {
    const { print } = call;
    const handle = (client.getHandle(undefined, workflowId, runId) as Handle).with(settings);
    const options = {
      ...point,
      reason,
      reapplyExclude: exclude.includes("ALL") ? "ALL" : exclude as ReapplyExclude[],
    } as ResetOptions;
    const next = await handle.reset(options);
    print.result(
      { workflowId, runId: next.runId },
      () => print.fields([["WorkflowId", workflowId], ["New run", next.runId]]),
    );
    return Exit.ok;
  });
}
