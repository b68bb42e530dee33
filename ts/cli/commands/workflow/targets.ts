// Commands for one workflow by id, or for all open ones that a query selects.
import { printableLine } from "../../frame/printable.ts";
import { queryOf } from "../../../client/belonging.ts";
import type { Client } from "../../../client/client.ts";
import { WorkflowNotFoundError } from "../../../client/errors.ts";
import { Exit } from "../../frame/exit.ts";
import { UsageError } from "../../frame/errors.ts";
import { type Connection, type Handle, withService } from "../../service/open_service.ts";
import type { DeleteCall, EndCall, SignalCall } from "./options.ts";

type SomeCall = DeleteCall | EndCall | SignalCall;

/** Returns the query of --query, --entity and --correlation; undefined without them. */
export function queryOfOptions(
  { query, entity, correlation }: {
    readonly [name in "query" | "entity" | "correlation"]: string | undefined;
  },
): string | undefined {
  if (entity === undefined && correlation === undefined) return query;
  const selection = {
    ...(entity !== undefined && { entityId: entity }),
    ...(correlation !== undefined && { correlationId: correlation }),
  };
  const belonging = queryOf(selection);
  const [, where = "", groups = ""] = /^(.*?)(\bgroup\s+by\b.*)?$/is.exec(query ?? "") ?? [];
  return `${belonging}${where.trim() === "" ? "" : ` AND (${where.trim()})`}${
    groups === "" ? "" : ` ${groups}`
  }`;
}

/** Removes the colon: "cancel requested" of "cancel requested:". */
const word = (done: string): string => done.replace(/:$/, "");

/** Maximum concurrent calls. */
const AT_ONCE = 20;

/**
 * Calls `act` for the workflow of the options, or for each selected one (open, or any). Returns the
 * exit code. `done` describes the completed action.
 */
export async function withTargets(
  call: SomeCall,
  done: string,
  act: (handle: Handle, settings: Connection["settings"]) => Promise<void>,
  which: "open" | "all" = "open",
): Promise<number> {
  const { workflowId, runId, yes } = call.options;
  const query = queryOfOptions(call.options);
  if ((workflowId === undefined) === (query === undefined)) {
    throw new UsageError(
      `--workflow-id or --query is required (or --entity, --correlation), and not both; see temporalex ${call.name} --help`,
    );
  }
  if (query !== undefined && runId !== undefined) {
    throw new UsageError("--run-id goes with --workflow-id, not with --query");
  }
  return await withService(call, async ({ client, settings }) => {
    const { print } = call;
    if (workflowId !== undefined) {
      await act(
        (client.getHandle(undefined, workflowId, runId) as Handle).with(settings),
        settings,
      );
      print.result(
        { workflowId, ...(runId !== undefined && { runId }), done: word(done) },
        () => `${done} ${printableLine(workflowId)}\n`,
      );
      return Exit.ok;
    }
    const selected = which === "all" ? query! : `(${query!}) AND ExecutionStatus = "Running"`;
    if (!yes) {
      const count = await client.count(selected, settings);
      const kind = which === "all" ? "" : "open ";
      throw new UsageError(
        `${count} ${kind}workflow${count === 1 ? " matches" : "s match"}; add --yes to continue`,
      );
    }
    return await withEach(
      call,
      client,
      selected,
      (handle) => act(handle.with(settings), settings),
      done,
    );
  });
}

async function withEach(
  { print, signal }: SomeCall,
  client: Client,
  query: string,
  act: (handle: Handle) => Promise<void>,
  done: string,
): Promise<number> {
  // Listed completely first, because the action changes the list.
  const handles: Handle[] = [];
  for await (const { workflowId, runId } of client.list(query)) {
    handles.push(client.getHandle(undefined, workflowId, runId) as Handle);
  }
  let failed = 0, gone = 0, at = 0, ended = 0;
  const work = async () => {
    for (let handle = handles[at++]; handle !== undefined; handle = handles[at++]) {
      signal.throwIfAborted();
      const { workflowId, runId } = handle;
      try {
        await act(handle);
        print.item(
          { workflowId, runId, done: word(done) },
          () => `${done} ${printableLine(workflowId)}\n`,
        );
      } catch (error) {
        // Closed meanwhile.
        if (error instanceof WorkflowNotFoundError) gone++;
        else {
          failed++;
          print.warn(printableLine(`${workflowId}: ${(error as Error).message}`));
        }
      }
      print.progress(`${++ended} of ${handles.length}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  print.progress("");
  print.end();
  const many = handles.length - failed - gone;
  print.note(
    `${
      done.endsWith(":") ? `${done} ${many} workflow${many === 1 ? "" : "s"}` : `${many} ${done}`
    }${gone > 0 ? `, ${gone} had ended` : ""}${failed > 0 ? `, ${failed} failed` : ""}`,
  );
  return failed > 0 ? Exit.failed : Exit.ok;
}
