// `workflow procedure`: lists pending procedures of workflows and completes them.
import { printableLine } from "../../frame/printable.ts";
import { ApplicationFailure } from "../../../converter/failures.ts";
import type { OpenProcedure } from "../../../client/procedures.ts";
import { UsageError } from "../../frame/errors.ts";
import { Exit } from "../../frame/exit.ts";
import type { Column } from "../../frame/printer.ts";
import { type Handle, withService } from "../../service/open_service.ts";
import { showTime } from "../../text/times.ts";
import { readInputs, showValue } from "../../text/values.ts";
import type { ProcedureCompleteCall, ProcedureFailCall, ProcedureListCall } from "./options.ts";

export async function procedureListCommand(call: ProcedureListCall): Promise<number> {
  const { workflowId, runId, timeFormat } = call.options;
  const { print } = call;
  const columns: Column<OpenProcedure>[] = [
    { title: "Procedure", cell: ({ name }) => name },
    { title: "Id", cell: ({ id }) => id },
    { title: "Arguments", cell: ({ args }) => args.map((arg) => showValue(arg)).join(", ") },
    { title: "Since", cell: ({ since }) => showTime(since, timeFormat) },
    {
      title: "Times out",
      cell: ({ expires }) => expires === undefined ? "" : showTime(expires, timeFormat),
    },
  ];
  return await withService(call, async ({ client, settings }) => {
    const open = await (client.getHandle(undefined, workflowId, runId) as Handle).with(settings)
      .procedures();
    if (print.json) { for (const one of open) print.item(one, () => ""); }
    else if (open.length > 0) call.io.out(print.table(open, columns));
    print.end();
    if (open.length === 0) print.note(`workflow ${workflowId} waits for no procedure`);
    return Exit.ok;
  });
}

async function answer(
  call: ProcedureCompleteCall | ProcedureFailCall,
  done: "completed" | "failed",
  give: (handle: Handle, which: string | { id: string }) => Promise<string>,
): Promise<number> {
  const { workflowId, runId, name, procedureId } = call.options;
  if ((name === undefined) === (procedureId === undefined)) {
    throw new UsageError(
      `--name or --procedure-id is required, and not both; see temporalex ${call.name} --help`,
    );
  }
  return await withService(call, async ({ client, settings }) => {
    const handle = (client.getHandle(undefined, workflowId, runId) as Handle).with(settings);
    const id = await give(handle, name ?? { id: procedureId! });
    const shown = name === undefined ? `procedure ${id}` : `procedure ${name} (id ${id})`;
    call.print.result(
      { workflowId, ...(name !== undefined && { name }), procedureId: id, done },
      () => `${done} ${printableLine(`${shown} of ${workflowId}`)}\n`,
    );
    return Exit.ok;
  });
}

export async function procedureCompleteCommand(call: ProcedureCompleteCall): Promise<number> {
  const values = await readInputs(call);
  if (values.length > 1) {
    throw new UsageError(
      "a procedure has one result; give --input once, an array or an object for more",
    );
  }
  return await answer(
    call,
    "completed",
    (handle, which) => handle.completeProcedure(which, values[0]),
  );
}

export async function procedureFailCommand(call: ProcedureFailCall): Promise<number> {
  const { reason, type } = call.options;
  const error = ApplicationFailure.nonRetryable(reason, { type: type ?? "ProcedureFailed" });
  return await answer(call, "failed", (handle, which) => handle.failProcedure(which, error));
}
