// `temporalex store import`: imports closed runs from histories, exports and other stores, or
// copies a whole store to a new file. Two passes over the files detect invalid ones before anything
// is written. Runs are written in batches, one transaction each: an interrupted import leaves whole
// runs, and
// --skip-existing continues it.
import { closeSync, createReadStream, existsSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { RunWrite } from "../../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { HistoryFileError, readHistoryFile } from "../../../history_files/history_file.ts";
import { nestedTooDeep } from "../../../history_files/json_nesting.ts";
import {
  closedRun,
  copiedRun,
  ImportError,
  OpenRunError,
  type StoredRunState,
  StoreReader,
} from "../../../engine/maintenance/mod.ts";
import type { SqliteStore } from "../../../engine/mod.ts";
import { openStore } from "../../../engine/short_lived_open.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { storePath } from "../../service/open_service.ts";
import type { ImportCall } from "./options.ts";
import { checked, damagedCopyText } from "./backup.ts";
import { problemLines } from "./findings.ts";
import { bytesText, counted } from "./sizes.ts";

const BATCH_RUNS = 100;
const BATCH_BYTES = 8 * 1024 * 1024;
const MAX_SHOWN = 10;
/** Maximum bytes of histories that are kept between the two passes. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** One run of a file; `write` throws an ImportError if it cannot be imported. */
interface Found {
  /** "file:line", or the file. */
  readonly where: string;
  /** Undefined if only the history shows it. */
  readonly open: boolean | undefined;
  /** What the import loses or changes. */
  readonly notes: readonly string[];
  write(): RunWrite;
}

export async function importCommand(call: ImportCall): Promise<number> {
  const { options, args, io, print } = call;
  const path = storePath(call);
  const files = args.map((file) => {
    const source = resolve(io.cwd, file);
    if (!existsSync(source)) throw new CommandError(`file not found: ${file}`);
    if (!statSync(source).isFile()) throw new CommandError(`${file} is not a file`);
    return source;
  });
  if (options.runId !== undefined && files.length > 1) {
    throw new UsageError(
      "--run-id names one run, and there are several files: import that history by itself",
    );
  }
  if (!existsSync(path) && files.length === 1 && isSqlite(files[0]!) && !options.closedOnly) {
    return await copyStore(call, files[0]!, path);
  }
  // Opened first: the store must not change between the passes. A dry run creates no store.
  const store = options.dryRun && !existsSync(path) ? undefined : await openStore(path);
  try {
    const plan = await firstPass(call, files, store);
    const total = plan.wanted.size;
    let imported = 0;
    if (!options.dryRun) {
      let batch: RunWrite[] = [];
      let bytes = 0;
      const commit = () => {
        store!.adopt(batch);
        imported += batch.length;
        print.progress(`${imported} of ${counted(total, "run")} imported`);
        batch = [];
        bytes = 0;
      };
      for await (const write of plan.kept ?? writesOf(call, files)) {
        call.signal.throwIfAborted();
        if (!plan.wanted.delete(write.row!.runId)) continue;
        batch.push(write);
        bytes += write.row!.historySizeBytes;
        if (batch.length >= BATCH_RUNS || bytes >= BATCH_BYTES) commit();
      }
      if (batch.length > 0) commit();
    }
    print.progress("");
    const { open, existing, notes } = plan;
    for (const note of notes.slice(0, MAX_SHOWN)) print.note(`note: ${note}`);
    if (notes.length > MAX_SHOWN) print.note(`note: and ${notes.length - MAX_SHOWN} more`);
    const wanted = options.dryRun ? plan.wanted.size : imported;
    const result = {
      store: path,
      ...(options.dryRun && { dryRun: true }),
      imported: wanted,
      skippedExisting: existing,
      skippedOpen: open,
      ...(notes.length > 0 && { notes }),
    };
    print.result(result, () => {
      const skipped = [
        ...(existing > 0 ? [`${existing} were there already`] : []),
        ...(open > 0 ? [`${open} are open`] : []),
      ];
      return `${counted(wanted, "run")} ${options.dryRun ? "would be " : ""}imported${
        skipped.length > 0 ? ` (${skipped.join(", ")})` : ""
      }\n`;
    });
    return Exit.ok;
  } finally {
    store?.close();
  }
}

interface ImportSelection {
  /** Run ids to import. */
  readonly wanted: Set<string>;
  /** Runs to write, if they fit in memory; otherwise the files are read again. */
  readonly kept: readonly RunWrite[] | undefined;
  readonly open: number;
  readonly existing: number;
  readonly notes: readonly string[];
}

async function firstPass(
  call: ImportCall,
  files: readonly string[],
  store: SqliteStore | undefined,
): Promise<ImportSelection> {
  const { options, print, signal } = call;
  const wanted = new Set<string>();
  const problems: string[] = [];
  const notes: string[] = [];
  let kept: RunWrite[] | undefined = [];
  let [open, existing, seen, bytes] = [0, 0, 0, 0];
  for await (const found of runsOf(call, files)) {
    signal.throwIfAborted();
    print.progress(`looking at the files: ${counted(++seen, "run")}`);
    if (found.open === true && options.closedOnly) {
      open++;
      continue;
    }
    try {
      const write = found.write();
      const { runId, workflowId, historySizeBytes } = write.row!;
      if (wanted.has(runId)) {
        throw new ImportError(
          `run ${runId} of workflow "${workflowId}" is in the files twice; remove one of them`,
        );
      }
      if (store?.has(runId) === true) {
        if (!options.skipExisting) {
          throw new ImportError(
            `run ${runId} of workflow "${workflowId}" is already in the store; leave out such runs with --skip-existing`,
          );
        }
        existing++;
      } else {
        wanted.add(runId);
        notes.push(...found.notes.map((note) => `${found.where}: ${note}`));
        bytes += historySizeBytes;
        if (bytes > KEPT_BYTES) kept = undefined;
        kept?.push(write);
      }
    } catch (e) {
      if (!(e instanceof ImportError)) throw e;
      if (options.closedOnly && e instanceof OpenRunError) open++;
      else problems.push(`${found.where}: ${e.message}`);
    }
  }
  print.progress("");
  if (problems.length > 0) {
    const shown = problems.slice(0, MAX_SHOWN).map((problem) => `  ${problem}`);
    if (problems.length > shown.length) shown.push(`  and ${problems.length - shown.length} more`);
    throw new CommandError(`nothing was imported:\n${shown.join("\n")}`);
  }
  if (seen === 0) {
    throw new CommandError(
      "the files contain no runs; expected histories, JSON lines of store export, or store files",
    );
  }
  return { wanted, kept, open, existing, notes };
}

async function* writesOf(
  call: ImportCall,
  files: readonly string[],
): AsyncGenerator<RunWrite, void, void> {
  for await (const found of runsOf(call, files)) {
    const write = found.open === true ? undefined : attempt(found);
    if (write !== undefined) yield write;
  }
}

function attempt(found: Found): RunWrite | undefined {
  try {
    return found.write();
  } catch (e) {
    // Counted in the first pass.
    if (e instanceof ImportError) return undefined;
    throw e;
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

const isSqlite = (path: string): boolean =>
  new TextDecoder().decode(head(path, 16)) === "SQLite format 3\0";
/** Returns whether the file starts with a JSON line of `store export`. */
const isExport = (path: string): boolean =>
  /^\s*\{"workflowId":/.test(new TextDecoder().decode(head(path, 64)));

async function* runsOf(
  call: ImportCall,
  files: readonly string[],
): AsyncGenerator<Found, void, void> {
  for (const path of files) {
    if (isSqlite(path)) yield* runsOfStore(path);
    else if (isExport(path)) yield* runsOfLines(path);
    else yield await runOfFile(call, path);
  }
}

function* runsOfStore(path: string): Generator<Found, void, void> {
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
          if (open) {
            throw new OpenRunError(
              `run ${row.runId} of workflow "${row.workflowId}" is open (leave such out with --closed-only); open runs move only with their ` +
                "whole store: import it where no store is yet",
            );
          }
          return copiedRun(row, record.head, record.items, historyOf(run));
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

async function* runsOfLines(path: string): AsyncGenerator<Found, void, void> {
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
      where,
      new TextEncoder().encode(line),
      text(said.workflowId),
      text(said.runId),
    );
  }
}

async function runOfFile({ io, options }: ImportCall, path: string): Promise<Found> {
  return await readRun(path, await io.read(path), options.workflowId, options.runId);
}

async function readRun(
  where: string,
  bytes: Uint8Array,
  workflowId: string | undefined,
  runId: string | undefined,
): Promise<Found> {
  try {
    const { bytes: history, notes } = await readHistoryFile(bytes);
    return {
      where,
      open: undefined,
      notes,
      write: () =>
        closedRun({
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

/** Copies a whole store to a new path, and checks the copy. */
async function copyStore(
  { options, print }: ImportCall,
  from: string,
  to: string,
): Promise<number> {
  const reader = StoreReader.open(from);
  try {
    if (options.dryRun) {
      const runs = reader.count();
      print.result(
        { store: to, dryRun: true, imported: runs },
        () => `${counted(runs, "run")} would be imported\n`,
      );
      return Exit.ok;
    }
    print.progress(`copying ${from} (${bytesText(reader.bytes)}) ...`);
    reader.backup(to);
  } finally {
    reader.close();
  }
  const found = await checked(
    to,
    (done, total) => print.progress(`checking: ${done} of ${total} runs`),
  );
  print.progress("");
  const { runs, openRuns, problems, notes } = found;
  print.result(
    { store: to, ok: problems.length === 0, imported: runs, openRuns, problems, notes },
    () =>
      `${problemLines(print, from, problems)}${
        counted(runs, "run")
      } (${openRuns} open) imported into the new store ${to}${
        problems.length === 0 ? "\n" : `, ${damagedCopyText(problems.length)}`
      }`,
  );
  return problems.length === 0 ? Exit.ok : Exit.failed;
}
