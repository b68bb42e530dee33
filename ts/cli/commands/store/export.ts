// `temporalex store export`: exports the selected runs with their histories.
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join, resolve } from "node:path";
import type { Client, WorkflowSummary } from "../../../client/mod.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { withService } from "../../service/open_service.ts";
import type { ExportCall } from "./options.ts";
import { counted } from "./sizes.ts";

export function exportCommand(call: ExportCall): Promise<number> {
  const { options, io, print } = call;
  if (options.workflowId !== undefined && options.query !== undefined) {
    throw new UsageError("--workflow-id and --query cannot be used together");
  }
  if (options.runId !== undefined && options.workflowId === undefined) {
    throw new UsageError("--run-id needs a --workflow-id");
  }
  return withService(call, async ({ client, settings }) => {
    const target = openTarget(call);
    try {
      let runs = 0;
      const one = options.workflowId;
      const found = one === undefined
        ? client.list(options.query ?? "", { pageSize: 200, ...settings })
        : [await client.getHandle(undefined as string | undefined, one, options.runId).describe()];
      for await (const run of found) {
        await target.write(run, await historyOf(client, run));
        runs++;
        // Its lines are the terminal output.
        if (target.form !== "") print.progress(`${counted(runs, "run")} written`);
      }
      print.progress("");
      target.finish();
      const { to } = options;
      if (to !== undefined && target.form !== "") {
        print.result(
          { to: resolve(io.cwd, to), runs },
          () => `${counted(runs, "run")} written to ${to}${target.form}\n`,
        );
      }
      return Exit.ok;
    } catch (e) {
      target.discard();
      throw e;
    }
  });
}

async function historyOf(client: Client, { workflowId, runId }: WorkflowSummary): Promise<string> {
  return client.getHandle(undefined as string | undefined, workflowId, runId).historyJson();
}

interface Target {
  /** Description of the target; "" for standard output. */
  readonly form: string;
  write(run: WorkflowSummary, history: string): Promise<void>;
  finish(): void;
  discard(): void;
}

function openTarget({ options, io }: ExportCall): Target {
  const { to } = options;
  if (to === undefined || to === "-") {
    return {
      form: "",
      write: async (run, history) => io.out(line(run, history)),
      finish() {},
      discard() {},
    };
  }
  const path = resolve(io.cwd, to);
  const isFolder = /[\\/]$/.test(to) ||
    statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? folder(path) : linesFile(path);
}

/** One file for each run, renamed to its final name once complete. */
function folder(path: string): Target {
  mkdirSync(path, { recursive: true });
  return {
    form: ", a file for each",
    write: async ({ workflowId, runId }, history) => {
      const file = join(path, `${fileName(workflowId)}.${fileName(runId)}.json`);
      const partial = partialOf(file);
      try {
        put(partial, `${history}\n`);
        renameSync(partial, file);
      } finally {
        rmSync(partial, { force: true });
      }
    },
    finish() {},
    discard() {},
  };
}

/** Unique name of an incomplete file. */
const partialOf = (path: string): string => `${path}.${crypto.randomUUID()}.partial`;

/** Workflow ids can contain any characters; file names cannot. */
function fileName(id: string): string {
  return encodeURIComponent(id).replace(
    /[*.~'()!]/g,
    (c) => c === "." ? c : `%${c.charCodeAt(0).toString(16)}`,
  ).replace(
    /^\./,
    "%2e",
  ).slice(0, 100);
}

function put(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

function linesFile(path: string): Target {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) {
    throw new CommandError(
      `${path} exists already; name another file, or a folder (with / at its end) for a file for each run`,
    );
  }
  const partial = partialOf(path);
  let file: number;
  try {
    file = openSync(partial, "wx", 0o600);
  } catch (e) {
    throw new CommandError(`${partial} cannot be written: ${(e as Error).message}`, { cause: e });
  }
  return {
    form: ", a line of JSON for each",
    write: async (run, history) => void writeSync(file, line(run, history)),
    finish() {
      fsyncSync(file);
      closeSync(file);
      renameSync(partial, path);
    },
    discard() {
      closeSync(file);
      rmSync(partial, { force: true });
    },
  };
}

function line(run: WorkflowSummary, history: string): string {
  const {
    workflowId,
    runId,
    type,
    status,
    taskQueue,
    startTime,
    closeTime,
    firstRunId,
    historyLength,
  } = run;
  const head = {
    workflowId,
    runId,
    workflowType: type,
    status,
    taskQueue,
    startTime,
    closeTime,
    firstRunId,
    historyLength,
  };
  return `${JSON.stringify({ ...head, history: JSON.parse(history) })}\n`;
}
