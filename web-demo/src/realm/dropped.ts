// Sorts files of a drop, a file dialog or a folder dialog into histories and code, by name. A
// folder is code; histories in it are ignored.
import { isCode } from "./code_names.ts";
import { type FileSource, LARGEST_FILE, type Listing } from "../store/file_source.ts";

/** Sorted content of a drop or a dialog. */
export interface Dropped {
  /** Files that can be histories. */
  readonly histories: readonly File[];
  /** Single files of code. */
  readonly files: readonly File[];
  /** Folders with their names. */
  readonly folders: readonly DroppedFolder[];
}

export interface DroppedFolder {
  readonly name: string;
  readonly source: FileSource;
  /** For a later visit; undefined in browsers without handles. */
  readonly handle?: Promise<FileSystemDirectoryHandle | undefined> | undefined;
}

/** An item of a drop in browsers with handles. */
type ItemWithHandle = DataTransferItem & {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
};

/**
 * Sorts the content of a drop. Must be called in the event handler: browsers clear the data
 * afterwards.
 */
export function takeDrop(data: DataTransfer): Dropped {
  const histories: File[] = [], files: File[] = [];
  const folders: DroppedFolder[] = [];
  const items = [...data.items].filter(({ kind }) => kind === "file");
  for (const item of items) {
    const entry = item.webkitGetAsEntry();
    if (entry?.isDirectory === true) {
      const handle = (item as ItemWithHandle).getAsFileSystemHandle?.().then(
        (found) => found?.kind === "directory" ? found as FileSystemDirectoryHandle : undefined,
        // Without a handle the code is kept as text only.
        () => undefined,
      );
      const source = entrySource(entry as FileSystemDirectoryEntry);
      folders.push({ name: entry.name, source, handle });
      continue;
    }
    const file = item.getAsFile();
    if (file !== null) (isCodeFile(file.name) ? files : histories).push(file);
  }
  return { histories, files, folders };
}

/** Sorts the files of a file dialog or a folder dialog. */
export function takeFiles(list: Iterable<File>): Dropped {
  const histories: File[] = [], files: File[] = [], inside: File[] = [];
  for (const file of list) {
    if (file.webkitRelativePath !== "") inside.push(file);
    else (isCodeFile(file.name) ? files : histories).push(file);
  }
  const name = inside[0]?.webkitRelativePath.split("/")[0];
  return {
    histories,
    files,
    folders: name === undefined ? [] : [{ name, source: listSource(inside) }],
  };
}

const isCodeFile = (name: string) => isCode(name) || name === "package.json";

/** A dropped folder, which is read on demand. */
function entrySource(root: FileSystemDirectoryEntry): FileSource {
  const folders = new Map<string, FileSystemDirectoryEntry>([["", root]]);
  const at = async (path: string): Promise<FileSystemDirectoryEntry | undefined> => {
    const known = folders.get(path);
    if (known !== undefined) return known;
    try {
      const found = await new Promise<FileSystemEntry>((resolve, reject) =>
        root.getDirectory(path, {}, resolve, reject)
      );
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
        // Browsers return at most a hundred entries per call, and an empty list at the end.
        const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
          reader.readEntries(resolve, reject)
        );
        if (some.length === 0) return { files, folders: inner };
        for (const { name, isDirectory } of some) (isDirectory ? inner : files).push(name);
      }
    },
    read: async (path) => {
      const entry = await new Promise<FileSystemFileEntry>((resolve, reject) =>
        root.getFile(path, {}, (found) => resolve(found as FileSystemFileEntry), reject)
      );
      return await readSourceText(
        await new Promise<File>((resolve, reject) => entry.file(resolve, reject)),
        path,
      );
    },
  };
}

/** The files of a folder dialog, which the browser has already listed. */
function listSource(list: readonly File[]): FileSource {
  const files = new Map<string, File>();
  const folders = new Map<string, { files: string[]; folders: Set<string> }>([["", {
    files: [],
    folders: new Set(),
  }]]);
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

/** The text of a file. Rejects if it is too large for code. */
export async function readSourceText(file: File, path: string): Promise<string> {
  if (file.size > LARGEST_FILE) {
    throw new Error(
      `${path} has ${Math.round(file.size / 2 ** 20)} MiB, which is too large for a file of code`,
    );
  }
  return await file.text();
}
