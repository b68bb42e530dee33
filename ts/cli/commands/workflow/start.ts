// `workflow start`, `execute`, `update-with-start` and `result`.
import { WorkflowContinuedAsNewError, WorkflowFailedError } from "../../../client/errors.ts";
import type { WorkflowOptions } from "../../../client/options.ts";
import { randomId } from "../../../platform/host.ts";
import type { Call } from "../../frame/command.ts";
import { Exit } from "../../frame/exit.ts";
import { errorDocument, formatError } from "../../frame/errors.ts";
import { type Connection, type Handle, withService } from "../../service/open_service.ts";
import type { ResultCall, StartCall, UpdateWithStartCall } from "./options.ts";
import { type Encoded, encodeInput, jsonPairs, readInputs, showValue } from "../../text/values.ts";

const upper = <T extends string>(text: string): T =>
  text.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase() as T;

/** Converts options of a start for the client. */
export function startOptions(
  { options }: {
    readonly options: Omit<StartCall["options"], "startDelay" | "cron"> & {
      readonly startDelay?: number | undefined;
      readonly cron?: string | undefined;
    };
  },
  args: Encoded[],
): WorkflowOptions & { args: Encoded[] } {
  const { idConflictPolicy, idReusePolicy, executionTimeout, runTimeout, taskTimeout, startDelay } =
    options;
  const { cron, staticSummary, staticDetails, entity, correlation, timers } = options;
  const memo = jsonPairs("--memo", options.memo);
  const searchAttributes = jsonPairs(
    "--search-attribute",
    options.searchAttribute,
  ) as WorkflowOptions["searchAttributes"];
  return {
    id: options.workflowId ?? randomId(),
    taskQueue: options.taskQueue,
    args,
    ...(idConflictPolicy !== undefined && { idConflictPolicy: upper(idConflictPolicy) }),
    ...(idReusePolicy !== undefined && { idReusePolicy: upper(idReusePolicy) }),
    ...(executionTimeout !== undefined && { executionTimeout }),
    ...(runTimeout !== undefined && { runTimeout }),
    ...(taskTimeout !== undefined && { taskTimeout }),
    ...(startDelay !== undefined && { startDelay }),
    ...(cron !== undefined && { cronSchedule: cron }),
    ...(memo !== undefined && { memo }),
    ...(searchAttributes !== undefined && { searchAttributes }),
    ...(entity !== undefined && { entityId: entity }),
    ...(correlation !== undefined && { correlationId: correlation }),
    ...(timers === "manual" && { timers: "manual" as const }),
    ...(staticSummary !== undefined && { summary: staticSummary }),
    ...(staticDetails !== undefined && { details: staticDetails }),
  };
}

function startDocument(call: StartCall, handle: Handle) {
  const { type, taskQueue, namespace } = call.options;
  return { workflowId: handle.workflowId, runId: handle.runId, type, taskQueue, namespace };
}

export async function startCommand(call: StartCall): Promise<number> {
  const options = startOptions(call, await readInputs(call));
  return await withService(call, async ({ client, settings, held, where, store }) => {
    const handle = await client.start(call.options.type, { ...options, ...settings });
    const { print } = call;
    const document = startDocument(call, handle);
    print.result(document, () =>
      print.fields([
        ["WorkflowId", document.workflowId],
        ["RunId", document.runId],
        ["Type", document.type],
        ["TaskQueue", document.taskQueue],
        ["Where", where],
      ]));
    if (store !== undefined && !held()) {
      print.note(
        "No process has the store open: the workflow begins when a worker opens it (temporalex worker).",
      );
    }
    return Exit.ok;
  });
}

export async function executeCommand(call: StartCall): Promise<number> {
  const options = startOptions(call, await readInputs(call));
  return await withService(call, async ({ client, settings, where }) => {
    const began = performance.now();
    const handle = await client.start(call.options.type, { ...options, ...settings });
    call.print.note(`started workflow ${handle.workflowId} (run ${handle.runId}) in ${where}`);
    const left = settings.timeout === undefined
      ? {}
      : { timeout: Math.max(1, settings.timeout - (performance.now() - began)) };
    return await showResult(call, handle, left, true);
  });
}

export async function updateWithStartCommand(call: UpdateWithStartCall): Promise<number> {
  const { options, print } = call;
  const { type, updateName, updateId = randomId(), waitForStage } = options;
  const started = startOptions(call, await readInputs(call));
  const updateArgs = options.updateInput.map((text) => encodeInput("--update-input", text));
  return await withService(call, async ({ client, settings }) => {
    const { workflow, update } = await client.startUpdateWithStart(type, {
      ...started,
      ...settings,
      update: updateName,
      updateArgs,
      updateId,
      waitFor: waitForStage,
    });
    const document = {
      workflowId: workflow.workflowId,
      runId: workflow.runId,
      updateId,
      name: updateName,
    };
    if (waitForStage === "accepted") {
      print.result({ ...document, stage: "ACCEPTED" }, () =>
        print.fields([
          ["WorkflowId", document.workflowId],
          ["RunId", document.runId],
          ["UpdateId", updateId],
          ["Stage", "accepted"],
        ]));
      return Exit.ok;
    }
    const result = await update.result(settings);
    print.result(
      { ...document, result: result ?? null },
      () => result === undefined ? "" : `${showValue(result, 2)}\n`,
    );
    print.note(`workflow ${document.workflowId}, run ${document.runId}`);
    return Exit.ok;
  });
}

export async function resultCommand(call: ResultCall): Promise<number> {
  const { workflowId, runId, followRuns } = call.options;
  return await withService(
    call,
    ({ client, settings }) =>
      showResult(
        call,
        client.getHandle(undefined, workflowId, runId) as Handle,
        settings,
        followRuns === "true",
      ),
  );
}

const STATUS: { readonly [name: string]: string } = {
  CancelledFailure: "CANCELED",
  TerminatedFailure: "TERMINATED",
  TimeoutFailure: "TIMED_OUT",
};

/**
 * Waits for the end of a workflow and shows it. A failed workflow has exit code 1, and its document
 * is a result as well.
 */
export async function showResult(
  { print, io }: Pick<Call, "print" | "io">,
  handle: Handle,
  settings: Connection["settings"],
  followRuns: boolean,
): Promise<number> {
  try {
    const result = await handle.result({ ...settings, followRuns });
    const document = {
      workflowId: handle.workflowId,
      runId: handle.runId,
      status: "COMPLETED",
      result: result ?? null,
    };
    print.result(document, () => result === undefined ? "" : `${showValue(result, 2)}\n`);
    if (result === undefined) print.note("the workflow completed without a result");
    return Exit.ok;
  } catch (error) {
    if (error instanceof WorkflowContinuedAsNewError) {
      const document = {
        workflowId: handle.workflowId,
        runId: handle.runId,
        status: "CONTINUED_AS_NEW",
        newRunId: error.newExecutionRunId,
      };
      print.result(document, () => `continued as new in run ${error.newExecutionRunId}\n`);
      return Exit.ok;
    }
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    const failure = errorDocument(cause).error;
    const document = {
      workflowId: error.workflowId,
      runId: error.runId,
      status: STATUS[cause.name] ?? "FAILED",
      failure,
    };
    if (print.json) print.result(document, () => "");
    else if (print.format === "text") io.err(formatError(error, false));
    return Exit.failed;
  }
}
