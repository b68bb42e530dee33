// `workflow signal`, `update` and `query`.
import { randomId } from "../../../platform/host.ts";
import { Exit } from "../../frame/exit.ts";
import { type Connection, type Handle, withService } from "../../service/open_service.ts";
import type {
  QueryCall,
  SignalCall,
  UpdateCall,
  UpdateResultCall,
  UpdateStartCall,
} from "./options.ts";
import { readInputs, showValue } from "../../text/values.ts";
import { withTargets } from "./targets.ts";

export async function signalCommand(call: SignalCall): Promise<number> {
  const args = await readInputs(call);
  return await withTargets(
    call,
    "signalled",
    (handle) => handle.signal(call.options.name, ...args),
  );
}

const handleOf = (
  { client, settings }: Connection,
  { workflowId, runId }: { workflowId: string; runId: string | undefined },
) => (client.getHandle(undefined, workflowId, runId) as Handle).with(settings);

function showAnswer(
  { print }: Pick<UpdateCall, "print">,
  fields: { [name: string]: unknown },
  result: unknown,
): number {
  print.result(
    { ...fields, result: result ?? null },
    () => result === undefined ? "" : `${showValue(result, 2)}\n`,
  );
  if (result === undefined) {
    print.note(`${String(fields["name"] ?? "the update")} returned no value`);
  }
  return Exit.ok;
}

export async function updateCommand(call: UpdateCall): Promise<number> {
  const { workflowId, name, updateId = randomId() } = call.options;
  const args = await readInputs(call);
  return await withService(call, async (connection) => {
    const result = await handleOf(connection, call.options).executeUpdate(name, { args, updateId });
    return showAnswer(call, { workflowId, updateId, name }, result);
  });
}

export async function updateStartCommand(call: UpdateStartCall): Promise<number> {
  const { name, updateId = randomId() } = call.options;
  const args = await readInputs(call);
  return await withService(call, async (connection) => {
    const update = await handleOf(connection, call.options).startUpdate(name, {
      args,
      updateId,
      waitFor: "accepted",
    });
    const { workflowId, runId } = update;
    call.print.result(
      { workflowId, runId, updateId, name, stage: "ACCEPTED" },
      () =>
        call.print.fields([["UpdateId", updateId], ["WorkflowId", workflowId], ["RunId", runId], [
          "Stage",
          "accepted",
        ]]),
    );
    return Exit.ok;
  });
}

export async function updateResultCommand(call: UpdateResultCall): Promise<number> {
  const { workflowId, updateId } = call.options;
  return await withService(call, async (connection) => {
    const result = await handleOf(connection, call.options).getUpdateHandle(updateId).result(
      connection.settings,
    );
    return showAnswer(call, { workflowId, updateId }, result);
  });
}

/** Returns a handle for queries with the reject condition of the options. */
export function asking(
  connection: Connection,
  options: Pick<QueryCall["options"], "workflowId" | "runId" | "rejectCondition">,
): Handle {
  const handle = handleOf(connection, options);
  if (options.rejectCondition === undefined) return handle;
  return handle.with({
    queryRejectCondition: options.rejectCondition === "not_open"
      ? "NOT_OPEN"
      : "NOT_COMPLETED_CLEANLY",
  });
}

export async function queryCommand(call: QueryCall): Promise<number> {
  const { workflowId, name } = call.options;
  const args = await readInputs(call);
  return await withService(call, async (connection) => {
    return showAnswer(
      call,
      { workflowId, name },
      await asking(connection, call.options).query(name, ...args),
    );
  });
}
