// `temporalex store import`: imports runs from histories, exports, other stores and clusters, or
// copies a whole store to a new file. Two passes over the runs detect invalid ones before anything
// is written. Runs are written in batches, one transaction each: an interrupted import leaves whole
// runs, and --skip-existing continues it.
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { RunWrite } from "../../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import {
  ImportError,
  openRunConflict,
  OpenRunError,
  StoreReader,
} from "../../../engine/maintenance/mod.ts";
import type { SqliteStore } from "../../../engine/mod.ts";
import { openStore } from "../../../engine/short_lived_open.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { type Connection, storePath, withService } from "../../service/open_service.ts";
import type { ImportCall } from "./options.ts";
import { checked, damagedCopyText } from "./backup.ts";
import { problemLines } from "./findings.ts";
import { runsOfCluster, terminateInCluster } from "./import_cluster.ts";
import { type FoundRun, isSqlite, runsOfFile } from "./import_files.ts";
import { bytesText, counted } from "./sizes.ts";

const BATCH_RUNS = 100;
const BATCH_BYTES = 8 * 1024 * 1024;
const MAX_SHOWN = 10;
/** Maximum bytes of histories that are kept between the two passes. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** Where the runs come from. */
interface Sources {
  readonly files: readonly string[];
  readonly cluster: Connection | undefined;
}

export async function importCommand(call: ImportCall): Promise<number> {
  const { options, args, given } = call;
  if (options.open && options.closedOnly) {
    throw new UsageError("--open and --closed-only exclude each other");
  }
  if (options.terminateSource && !(options.open && options.fromCluster !== undefined)) {
    throw new UsageError("--terminate-source needs --from-cluster and --open");
  }
  if (options.fromCluster === undefined) {
    if (args.length === 0) throw new UsageError("name files to import, or use --from-cluster");
    return await importInto(call, { files: filesOf(call), cluster: undefined });
  }
  if (options.runId !== undefined || options.workflowId !== undefined) {
    throw new UsageError(
      "--workflow-id and --run-id are for a history file; select runs of a cluster with the query of --from-cluster",
    );
  }
  // Here --store is the target.
  const asked = {
    ...call,
    options: { ...options, store: undefined, codec: undefined },
    given: new Set([...given].filter((name) => name !== "store")),
  };
  const files = filesOf(call);
  return await withService(
    asked,
    (cluster) => importInto(call, { files, cluster }),
    { cluster: true },
  );
}

function filesOf({ options, args, io }: ImportCall): string[] {
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
  return files;
}

async function importInto(call: ImportCall, sources: Sources): Promise<number> {
  const { options, print } = call;
  const { files, cluster } = sources;
  const path = storePath(call);
  if (
    !existsSync(path) && files.length === 1 && cluster === undefined && isSqlite(files[0]!) &&
    !options.closedOnly
  ) {
    return await copyStore(call, files[0]!, path);
  }
  // Opened first: the store must not change between the passes. A dry run creates no store.
  const store = options.dryRun && !existsSync(path) ? undefined : await openStore(path);
  try {
    const plan = await firstPass(call, sources, store);
    const total = plan.wanted.size;
    let imported = 0;
    let terminated = 0;
    const { open, existing } = plan;
    const notes = [...plan.notes];
    if (!options.dryRun) {
      let batch: RunWrite[] = [];
      let bytes = 0;
      const terminate = async (runs: readonly RunAddress[]) => {
        if (!options.terminateSource) return;
        const ended = await terminateInCluster(cluster!, runs);
        terminated += ended.terminated;
        notes.push(...ended.notes);
      };
      await terminate(plan.leftOpen);
      const commit = async () => {
        store!.adopt(batch);
        imported += batch.length;
        await terminate(
          batch.flatMap(({ row }) => plan.sourceRuns.has(row!.runId) ? [row!] : []),
        );
        print.progress(`${imported} of ${counted(total, "run")} imported`);
        batch = [];
        bytes = 0;
      };
      for await (const write of plan.kept ?? writesOf(call, sources)) {
        call.signal.throwIfAborted();
        if (!plan.wanted.delete(write.row!.runId)) continue;
        batch.push(write);
        bytes += write.row!.historySizeBytes;
        if (batch.length >= BATCH_RUNS || bytes >= BATCH_BYTES) await commit();
      }
      if (batch.length > 0) await commit();
    }
    print.progress("");
    for (const note of notes.slice(0, MAX_SHOWN)) print.note(`note: ${note}`);
    if (notes.length > MAX_SHOWN) print.note(`note: and ${notes.length - MAX_SHOWN} more`);
    const wanted = options.dryRun ? plan.wanted.size : imported;
    const result = {
      store: path,
      ...(options.dryRun && { dryRun: true }),
      imported: wanted,
      ...(options.open && { importedOpen: plan.importedOpen }),
      skippedExisting: existing,
      skippedOpen: open,
      ...(options.terminateSource && { terminatedInCluster: terminated }),
      ...(notes.length > 0 && { notes }),
    };
    print.result(result, () => {
      const details = [
        ...(plan.importedOpen > 0 ? [`${plan.importedOpen} open`] : []),
        ...(existing > 0 ? [`${existing} were there already`] : []),
        ...(open > 0 ? [`${open} are open`] : []),
        ...(terminated > 0 ? [`${terminated} terminated in the cluster`] : []),
      ];
      return `${counted(wanted, "run")} ${options.dryRun ? "would be " : ""}imported${
        details.length > 0 ? ` (${details.join(", ")})` : ""
      }\n`;
    });
    return Exit.ok;
  } finally {
    store?.close();
  }
}

interface RunAddress {
  readonly workflowId: string;
  readonly runId: string;
}

interface ImportSelection {
  /** Run ids to import. */
  readonly wanted: Set<string>;
  /** Runs to write, if they fit in memory; otherwise the files are read again. */
  readonly kept: readonly RunWrite[] | undefined;
  /** Open runs that are skipped. */
  readonly open: number;
  readonly importedOpen: number;
  /** Ids of open runs of the cluster to import. */
  readonly sourceRuns: ReadonlySet<string>;
  /** Runs that an earlier import has moved, and that are still open in the cluster. */
  readonly leftOpen: readonly RunAddress[];
  readonly existing: number;
  readonly notes: readonly string[];
}

async function firstPass(
  call: ImportCall,
  sources: Sources,
  store: SqliteStore | undefined,
): Promise<ImportSelection> {
  const { options, print, signal } = call;
  const wanted = new Set<string>();
  const problems: string[] = [];
  const notes: string[] = [];
  const relatives = new Relatives();
  const openIds = new Map<string, string>();
  const sourceRuns = new Set<string>();
  const leftOpen: RunAddress[] = [];
  let kept: RunWrite[] | undefined = [];
  let [open, existing, seen, bytes] = [0, 0, 0, 0];
  for await (const found of runsOf(call, sources)) {
    signal.throwIfAborted();
    print.progress(`looking at ${counted(++seen, "run")}`);
    if (found.open === true && options.closedOnly) {
      open++;
      continue;
    }
    try {
      const { write, notes: more = [], children = [], parent = "" } = found.write();
      const { runId, workflowId, historySizeBytes, closeTimeMs, startTimeMs } = write.row!;
      if (wanted.has(runId)) {
        throw new ImportError(
          `run ${runId} of workflow "${workflowId}" is in the sources twice; remove one of them`,
        );
      }
      if (store?.has(runId) === true) {
        if (!options.skipExisting) {
          throw new ImportError(
            `run ${runId} of workflow "${workflowId}" is already in the store; leave out such runs with --skip-existing`,
          );
        }
        existing++;
        if (found.inCluster === true && closeTimeMs === 0) leftOpen.push({ workflowId, runId });
      } else {
        if (closeTimeMs === 0) {
          const other = openIds.get(workflowId);
          const conflict = other === undefined
            ? openRunConflict(store?.load(workflowId)?.row, startTimeMs)
            : `run ${other} of workflow "${workflowId}" in the sources is open, too`;
          if (conflict !== undefined) {
            throw new ImportError(
              `run ${runId} of workflow "${workflowId}" cannot be imported: ${conflict}`,
            );
          }
          openIds.set(workflowId, runId);
          if (found.inCluster === true) sourceRuns.add(runId);
          relatives.add(found.where, runId, children, parent);
        }
        wanted.add(runId);
        notes.push(...[...found.notes, ...more].map((note) => `${found.where}: ${note}`));
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
      sources.cluster === undefined
        ? "the files contain no runs; expected histories, JSON lines of store export, or store files"
        : "no run of the cluster matches the query of --from-cluster, and the files contain none",
    );
  }
  notes.push(...relatives.missing((id) => wanted.has(id) || store?.has(id) === true));
  return { wanted, kept, open, importedOpen: openIds.size, sourceRuns, leftOpen, existing, notes };
}

/** Parents and children of imported open runs. */
class Relatives {
  readonly #of: {
    readonly where: string;
    readonly runId: string;
    readonly children: readonly string[];
    readonly parent: string;
  }[] = [];

  add(where: string, runId: string, children: readonly string[], parent: string): void {
    if (children.length > 0 || parent !== "") this.#of.push({ where, runId, children, parent });
  }

  /** Notes on relatives that are not in the store. */
  missing(isHere: (runId: string) => boolean): string[] {
    return this.#of.flatMap(({ where, runId, children, parent }) => [
      ...children.filter((child) => !isHere(child)).map((child) =>
        `${where}: run ${runId} waits for its child, run ${child}, which is not in this store and cannot report its end`
      ),
      ...(parent === "" || isHere(parent) ? [] : [
        `${where}: the parent of run ${runId}, run ${parent}, is not in this store and does not get its result`,
      ]),
    ]);
  }
}

async function* writesOf(
  call: ImportCall,
  sources: Sources,
): AsyncGenerator<RunWrite, void, void> {
  for await (const found of runsOf(call, sources)) {
    if (found.open === true && !call.options.open) continue;
    const write = attempt(found);
    if (write !== undefined) yield write;
  }
}

function attempt(found: FoundRun): RunWrite | undefined {
  try {
    return found.write().write;
  } catch (e) {
    // Counted in the first pass.
    if (e instanceof ImportError) return undefined;
    throw e;
  }
}

async function* runsOf(
  call: ImportCall,
  { files, cluster }: Sources,
): AsyncGenerator<FoundRun, void, void> {
  for (const path of files) yield* runsOfFile(call, path);
  if (cluster !== undefined) yield* runsOfCluster(call, cluster);
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
