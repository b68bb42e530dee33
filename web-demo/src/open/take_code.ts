// Finds the workflow in dropped or pasted code and attaches the code to the current run.
import { dismiss, type Notice, notify } from "../store/notices.ts";
import { currentRun, type OpenRun } from "../store/state.ts";
import { openCodec } from "../codec/mod.ts";
import { type CodeFile, type CodeOrigin, type CodeSet, codeSet } from "../store/code_set.ts";
import type { Dropped } from "../realm/dropped.ts";
import type { FileSource } from "../store/file_source.ts";
import { findEntry } from "../realm/find_entry.ts";
import { mayRun } from "../realm/permission.ts";
import { ownFiles, readFiles } from "../realm/read_dropped.ts";
import { entryQuestion, putCode } from "../realm/run_code.ts";

/** Attaches dropped files and folders to the current run. */
export async function takeCode({ files, folders }: Dropped): Promise<void> {
  const run = currentRun.peek();
  const name = [...folders, ...files].map((each) => each.name).join(", ");
  if (run === undefined) return withoutRun(name);
  try {
    const [folder] = folders;
    const loose = await readFiles(files);
    const own = folder === undefined ? [] : await ownFiles(folder.source);
    if (folder === undefined && isCodec(run, loose)) return void openCodec(loose[0]!.text);
    // Files are added to dropped files: they can be missing imports.
    const before = run.code.peek();
    if (
      folder === undefined && before !== undefined && before.source === undefined &&
      before.origin === "files"
    ) {
      const all = [
        ...before.files.filter(({ path }) => !loose.some((file) => file.path === path)),
        ...loose,
      ];
      return await choose(run, all, "files", undefined, name);
    }
    await choose(
      run,
      [...loose, ...own],
      folder === undefined ? "files" : "folder",
      folder?.source,
      name,
      await folder?.handle,
    );
  } catch (error) {
    notify({ title: `${name} cannot be read:`, text: `${(error as Error).message}.` });
  }
}

/** Attaches pasted text to the current run. */
export async function takePaste(text: string): Promise<void> {
  const run = currentRun.peek();
  if (run === undefined) return withoutRun("The pasted text");
  await choose(run, [{ path: "pasted.ts", text }], "paste", undefined, "the pasted text");
}

function withoutRun(name: string): void {
  const advice = "Open the history of a run first, then the code.";
  notify({ title: `${name} cannot be opened:`, text: "no run is open for this code.", advice });
}

/** Resolves when the code is attached, or the user was asked or notified. */
async function choose(
  run: OpenRun,
  files: readonly CodeFile[],
  origin: CodeOrigin,
  source: FileSource | undefined,
  name: string,
  handle?: FileSystemDirectoryHandle,
): Promise<void> {
  if (refused !== undefined) dismiss(refused);
  const { type } = run.model.facts;
  const { candidates, known } = findEntry(files, type);
  const take = (entry: string) => {
    const first = files.find(({ path }) => path === entry)!;
    const needed = source === undefined ? files : [first];
    return load(
      run,
      codeSet({
        ...{ entry, files: needed, origin },
        ...(source === undefined ? {} : { source }),
        ...(handle === undefined ? {} : { folder: handle }),
      }),
    );
  };
  if (candidates.length === 1) return await take(candidates[0]!);
  if (candidates.length > 1) {
    entryQuestion.value = {
      run,
      candidates,
      choose: (path) => {
        entryQuestion.value = undefined;
        void take(path);
      },
    };
    return;
  }
  if (isCodec(run, files)) return void openCodec(files[0]!.text);
  // A program can have a default export for all types, or name its workflows at run time.
  if (files.length === 1) return await take(files[0]!.path);
  const has = known.length === 0
    ? "no workflows"
    : `the workflows ${known.slice(0, 8).join(", ")}${known.length > 8 ? " and others" : ""}`;
  notify(
    refused = {
      title: `${name} has no workflow "${type}":`,
      text: `${
        files.length === 1 ? "it exports" : `its ${files.length} files of code export`
      } ${has}.`,
      advice: `Drop the file that exports "${type}", or the folder of its project.`,
    },
  );
}

/** The last notice about rejected code; dismissed when other code is opened. */
let refused: Notice | undefined;

/** Whether the only file is a codec, and the run has encoded values. */
function isCodec({ model, encoded }: OpenRun, files: readonly CodeFile[]): boolean {
  const [{ text } = { text: "" }, ...others] = files;
  return others.length === 0 && (model.encodings.size > 0 || encoded !== undefined) &&
    /\bdecode\b/.test(text) &&
    /\bencode\b/.test(text) && findEntry(files, model.facts.type).candidates.length === 0;
}

/**
 * Reads all files that the entry needs before the code is attached, so that the dialog of
 * permission can show them.
 */
async function load(run: OpenRun, code: CodeSet): Promise<void> {
  if (mayRun(code)) return putCode(run, code);
  const { readCode } = await import("../realm/replay_code.ts");
  // Code that cannot be loaded is attached as it is: the replay reports the error.
  putCode(run, await readCode(code).catch(() => code));
}
