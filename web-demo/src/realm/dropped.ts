// What comes in by hand: a drop, a file dialog, a folder dialog. Histories and code are told apart by name; a folder is code, and its
// histories, if it has some, stay where they are.
import { isCode } from "./code_names.ts";
import { type FileSource, LARGEST_FILE } from "./file_source.ts";
import type { Listing } from "./loader/virtual_files.ts";

/** What was dropped, sorted. */
export interface Dropped {
  /** Files that may hold a history. */
  readonly histories: readonly File[];
  /** Files of code that were dropped by themselves. */
  readonly files: readonly File[];
  /** Folders, each with its name. */
  readonly folders: readonly { readonly name: string; readonly source: FileSource }[];
}

/** Sorts what a drop holds. Call it within the event: afterwards browsers have forgotten it. */
export function takeDrop(data: DataTransfer): Dropped {
  const histories: File[] = [], files: File[] = [];
  const folders: { name: string; source: FileSource }[] = [];
  const items = [...data.items].filter(({ kind }) => kind === "file");
  for (const item of items) {
    const entry = item.webkitGetAsEntry();
    if (entry?.isDirectory === true) {
      folders.push({ name: entry.name, source: entrySource(entry as FileSystemDirectoryEntry) });
      continue;
    }
    const file = item.getAsFile();
    if (file !== null) (isCodeFile(file.name) ? files : histories).push(file);
  }
  return { histories, files, folders };
}

/** Sorts the files of a dialog, which has no folders, or those of a folder dialog. */
export function takeFiles(list: Iterable<File>): Dropped {
  const histories: File[] = [], files: File[] = [], inside: File[] = [];
  for (const file of list) {
    if (file.webkitRelativePath !== "") inside.push(file);
    else (isCodeFile(file.name) ? files : histories).push(file);
  }
  const name = inside[0]?.webkitRelativePath.split("/")[0];
  return { histories, files, folders: name === undefined ? [] : [{ name, source: listSource(inside) }] };
}

const isCodeFile = (name: string) => isCode(name) || name === "package.json";

/** A folder of a drop, read as it is asked for. */
function entrySource(root: FileSystemDirectoryEntry): FileSource {
  const folders = new Map<string, FileSystemDirectoryEntry>([["", root]]);
  const at = async (path: string): Promise<FileSystemDirectoryEntry | undefined> => {
    const known = folders.get(path);
    if (known !== undefined) return known;
    try {
      const found = await new Promise<FileSystemEntry>((resolve, reject) => root.getDirectory(path, {}, resolve, reject));
      folders.set(path, found as FileSystemDirectoryEntry);
      return found as FileSystemDirectoryEntry;
    } catch {
      return undefined;
    }
  };
  return {
    list: async (path): Promise<Listing> => {
      const folder = await at(path);
      if (folder === undefined) return undefined;
      const reader = folder.createReader();
      const files: string[] = [], inner: string[] = [];
      for (;;) {
        // Browsers give a hundred at a time, and none at the end.
        const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
        if (some.length === 0) return { files, folders: inner };
        for (const { name, isDirectory } of some) (isDirectory ? inner : files).push(name);
      }
    },
    read: async (path) => {
      const entry = await new Promise<FileSystemFileEntry>((resolve, reject) =>
        root.getFile(path, {}, (found) => resolve(found as FileSystemFileEntry), reject)
      );
      return await readSourceText(await new Promise<File>((resolve, reject) => entry.file(resolve, reject)), path);
    },
  };
}

/** The files of a folder dialog: the browser has walked the folder. */
function listSource(list: readonly File[]): FileSource {
  const files = new Map<string, File>();
  const folders = new Map<string, { files: string[]; folders: Set<string> }>([["", { files: [], folders: new Set() }]]);
  for (const file of list) {
    const path = file.webkitRelativePath.slice(file.webkitRelativePath.indexOf("/") + 1);
    files.set(path, file);
    const parts = path.split("/");
    const name = parts.pop()!;
    let above = "";
    for (const part of parts) {
      folders.get(above)!.folders.add(part);
      above = above === "" ? part : `${above}/${part}`;
      if (!folders.has(above)) folders.set(above, { files: [], folders: new Set() });
    }
    folders.get(above)!.files.push(name);
  }
  return {
    list: (path) => {
      const found = folders.get(path);
      return Promise.resolve(found && { files: found.files, folders: [...found.folders] });
    },
    read: async (path) => await readSourceText(files.get(path)!, path),
  };
}

/** The text of a file. Rejects for one that is too large to be code. */
export async function readSourceText(file: File, path: string): Promise<string> {
  if (file.size > LARGEST_FILE) {
    throw new Error(`${path} has ${Math.round(file.size / 2 ** 20)} MiB, too much for a file of code`);
  }
  return await file.text();
}
