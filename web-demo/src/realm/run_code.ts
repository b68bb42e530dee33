// The code of open runs: put beside a run, edited, stopped. What is put there is replayed as soon as it may run.
import { type Signal, signal } from "@preact/signals";
import { notify } from "../app/notices.ts";
import { currentRun, type OpenRun, openRuns } from "../app/state.ts";
import { type CodeFile, type CodeOrigin, type CodeSet, codeSet } from "./code_set.ts";
import { type Dropped, ownFiles, readFiles } from "./dropped.ts";
import type { FileSource } from "./file_source.ts";
import { findEntry } from "./find_entry.ts";
import { mayRun } from "./permission.ts";
import { replayOnChange } from "./replaying.ts";

const watched = new WeakSet<OpenRun>();

/** Several files have the workflow: which one is it? Undefined: nothing is asked. */
export const entryQuestion: Signal<
  { readonly run: OpenRun; readonly candidates: readonly string[]; choose(path: string): void } | undefined
> = signal(undefined);

/** Puts code beside a run. It is replayed as soon as it may run. */
export function putCode(run: OpenRun, code: CodeSet): void {
  run.code.value = code;
  if (watched.has(run)) return;
  watched.add(run);
  const end = replayOnChange(run, async (_, current) => {
    const { replayCode } = await import("./replay_code.ts");
    return await replayCode(run, current);
  });
  const unwatch = openRuns.subscribe((runs) => {
    if (runs.includes(run)) return;
    end();
    void import("./replay_code.ts").then(({ closeCode }) => closeCode(run));
    queueMicrotask(() => unwatch());
  });
}

/** Ends the run's code at once, also where it computes without end. */
export async function stopRunning(run: OpenRun): Promise<void> {
  const { stopCode } = await import("./replay_code.ts");
  stopCode(run);
}

/** Takes the files and folders of a drop as the code of the current run. */
export async function takeCode({ files, folders }: Dropped): Promise<void> {
  const run = currentRun.peek();
  const name = [...folders, ...files].map((each) => each.name).join(", ");
  if (run === undefined) {
    return notify({
      title: `${name} is code`,
      text: "without a history.",
      advice: "Open the history of a run first, then drop the code beside it.",
    });
  }
  try {
    const [folder] = folders;
    const loose = await readFiles(files);
    const own = folder === undefined ? [] : await ownFiles(folder.source);
    // One file alone goes into the code that is there, where it belongs to it: an import that was missing.
    const before = run.code.peek();
    if (folder === undefined && before !== undefined && before.source === undefined && before.origin === "files") {
      const all = [...before.files.filter(({ path }) => !loose.some((file) => file.path === path)), ...loose];
      return choose(run, all, "files", undefined, name);
    }
    choose(run, [...loose, ...own], folder === undefined ? "files" : "folder", folder?.source, name);
  } catch (error) {
    notify({ title: `${name} cannot be read:`, text: `${(error as Error).message}.` });
  }
}

/** Takes pasted text as the code of the current run. Returns false for what is not code. */
export function takePaste(text: string): boolean {
  const run = currentRun.peek();
  if (run === undefined || !/^\s*(?:import|export|\/\/|\/\*|const|async|function)\b|^\s*\/[/*]/.test(text)) return false;
  choose(run, [{ path: "pasted.ts", text }], "paste", undefined, "the pasted text");
  return true;
}

function choose(
  run: OpenRun,
  files: readonly CodeFile[],
  origin: CodeOrigin,
  source: FileSource | undefined,
  name: string,
): void {
  const { type } = run.model.facts;
  const { candidates, known } = findEntry(files, type);
  const take = (entry: string) => {
    const first = files.find(({ path }) => path === entry)!;
    const needed = source === undefined ? files : [first];
    void load(run, codeSet({ entry, files: needed, origin, ...(source === undefined ? {} : { source }) }));
  };
  if (candidates.length === 1) return take(candidates[0]!);
  if (candidates.length > 1) {
    entryQuestion.value = {
      run,
      candidates,
      choose: (path) => {
        entryQuestion.value = undefined;
        take(path);
      },
    };
    return;
  }
  // A program may have a default export for all types, or give its workflows their names as it runs.
  if (files.length === 1) return take(files[0]!.path);
  const has = known.length === 0
    ? "no workflows"
    : `the workflows ${known.slice(0, 8).join(", ")}${known.length > 8 ? " and others" : ""}`;
  notify({
    title: `${name} has no workflow "${type}":`,
    text: `${files.length === 1 ? "it exports" : `its ${files.length} files of code export`} ${has}.`,
    advice: `Drop the file that exports "${type}", or the folder of its project.`,
  });
}

/** Reads what the entry needs before the code is put beside the run, so that it can be seen whole before it runs. */
async function load(run: OpenRun, code: CodeSet): Promise<void> {
  if (mayRun(code)) return putCode(run, code);
  const { readCode } = await import("./replay_code.ts");
  // What cannot be loaded is put there as it is: the replay says what is wrong.
  putCode(run, await readCode(code).catch(() => code));
}
