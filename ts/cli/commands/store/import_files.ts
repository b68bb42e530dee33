// The runs of files for `store import`: histories in any form, JSON lines of exports, and stores.
import { closeSync, createReadStream, openSync, readSync } from "node:fs";
import { createInterface } from "node:readline";
import { HistoryFileError, readHistoryFile } from "../../../history_files/history_file.ts";
import { nestedTooDeep } from "../../../history_files/json_nesting.ts";
import {
  type ActivityProgress,
  closedRun,
  copiedRun,
  type HistoryToImport,
  ImportError,
  type MovedRun,
  movedRun,
  OpenRunError,
  type StoredRunState,
  StoreReader,
} from "../../../engine/maintenance/mod.ts";
import { CommandError } from "../../frame/errors.ts";
import type { ImportCall } from "./options.ts";

/** A run to write; the rest is for open runs. */
export type RunToWrite = Pick<MovedRun, "write"> & Partial<MovedRun>;

/** One run of the sources; `write` throws an ImportError if it cannot be imported. */
export interface FoundRun {
  /** "file:line", the file, or the workflow of a cluster. */
  readonly where: string;
  /** Undefined if only the history shows it. */
  readonly open: boolean | undefined;
  /** What the import loses or changes. */
  readonly notes: readonly string[];
  readonly inCluster?: boolean;
  write(): RunToWrite;
}

/** Returns what the store writes for a history; an open run needs --open. Throws an ImportError. */
export function runOfHistory(
  { options }: ImportCall,
  history: HistoryToImport,
  activities?: ReadonlyMap<string, ActivityProgress>,
): RunToWrite {
  try {
    return { write: closedRun(history) };
  } catch (e) {
    if (!(e instanceof OpenRunError) || !options.open) throw e;
    return movedRun({ ...history, nowMs: Date.now(), ...(activities && { activities }) });
  }
}

function head(path: string, bytes: number): Uint8Array {
  const buffer = new Uint8Array(bytes);
  const file = openSync(path, "r");
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}

/** Returns whether the file is an SQLite database. */
export const isSqlite = (path: string): boolean =>
  new TextDecoder().decode(head(path, 16)) === "SQLite format 3\0";
/** Returns whether the file starts with a JSON line of `store export`. */
const isExport = (path: string): boolean =>
  /^\s*\{"workflowId":/.test(new TextDecoder().decode(head(path, 64)));

/** The runs of one file, in order. */
export async function* runsOfFile(
  call: ImportCall,
  path: string,
): AsyncGenerator<FoundRun, void, void> {
  if (isSqlite(path)) yield* runsOfStore(call, path);
  else if (isExport(path)) yield* runsOfLines(call, path);
  else {
    const { io, options } = call;
    yield await readRun(call, path, await io.read(path), options.workflowId, options.runId);
  }
}

function* runsOfStore(
  { options }: ImportCall,
  path: string,
): Generator<FoundRun, void, void> {
  const reader = StoreReader.open(path);
  try {
    for (const run of reader.runs()) {
      const { row, record } = run;
      const open = row.closeTimeMs === 0;
      yield {
        where: path,
        open,
        notes: [],
        write() {
          if (open && !options.open) {
            throw new OpenRunError(
              `run ${row.runId} of workflow "${row.workflowId}" is open: import it with --open to continue it in this store, or leave ` +
                "out open runs with --closed-only",
            );
          }
          return { write: copiedRun(row, record.head, record.items, historyOf(run)) };
        },
      };
    }
  } finally {
    reader.close();
  }
}

function historyOf(run: StoredRunState): Uint8Array[] {
  try {
    return run.history();
  } catch (e) {
    const { runId, workflowId } = run.row;
    throw new ImportError(
      `run ${runId} of workflow "${workflowId}" cannot be read: ${(e as Error).message}`,
      { cause: e },
    );
  }
}

async function* runsOfLines(
  call: ImportCall,
  path: string,
): AsyncGenerator<FoundRun, void, void> {
  let number = 0;
  for await (
    const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })
  ) {
    number++;
    if (line.trim() === "") continue;
    const where = `${path}:${number}`;
    const deep = nestedTooDeep(line);
    if (deep !== undefined) throw new CommandError(`${where}: not a line of store export: ${deep}`);
    let said: { workflowId?: unknown; runId?: unknown };
    try {
      said = JSON.parse(line);
    } catch (e) {
      throw new CommandError(`${where}: not a JSON line: ${(e as Error).message}`);
    }
    const text = (value: unknown) => typeof value === "string" ? value : undefined;
    yield await readRun(
      call,
      where,
      new TextEncoder().encode(line),
      text(said.workflowId),
      text(said.runId),
    );
  }
}

async function readRun(
  call: ImportCall,
  where: string,
  bytes: Uint8Array,
  workflowId: string | undefined,
  runId: string | undefined,
): Promise<FoundRun> {
  try {
    const { bytes: history, notes } = await readHistoryFile(bytes);
    return {
      where,
      open: undefined,
      notes,
      write: () =>
        runOfHistory(call, {
          history,
          ...(workflowId !== undefined && { workflowId }),
          ...(runId !== undefined && { runId }),
        }),
    };
  } catch (e) {
    if (!(e instanceof HistoryFileError)) throw e;
    return {
      where,
      open: undefined,
      notes: [],
      write: () => {
        throw new ImportError(e.message);
      },
    };
  }
}
