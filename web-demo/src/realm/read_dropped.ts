// Reads dropped files, and the user's files of a dropped folder.
import { isCode, isSkipped } from "./code_names.ts";
import type { CodeFile } from "../store/code_set.ts";
import { readSourceText } from "./dropped.ts";
import type { FileSource } from "../store/file_source.ts";

/** Limit for searched files. A folder with more is not a project. */
const MOST_FILES = 5000;

/** The user's files of code in a folder, without packages and hidden files. */
export async function ownFiles(source: FileSource): Promise<CodeFile[]> {
  const paths: string[] = [];
  const open = [""];
  for (
    let folder = open.shift();
    folder !== undefined && paths.length < MOST_FILES;
    folder = open.shift()
  ) {
    const listing = await source.list(folder);
    const prefix = folder === "" ? "" : `${folder}/`;
    for (const name of listing?.files ?? []) if (isCode(name)) paths.push(prefix + name);
    for (const name of listing?.folders ?? []) if (!isSkipped(name)) open.push(prefix + name);
  }
  return await Promise.all(
    paths.slice(0, MOST_FILES).map(async (path) => {
      // A file that cannot be read is possibly not needed.
      const text = await source.read(path).catch(() => "");
      return { path, text };
    }),
  );
}

/** The texts of single files. Equal names get a number. */
export async function readFiles(files: readonly File[]): Promise<CodeFile[]> {
  const taken = new Set<string>();
  return await Promise.all(files.map(async (file) => {
    let path = file.name;
    for (let n = 2; taken.has(path); n++) path = `${n}/${file.name}`;
    taken.add(path);
    return { path, text: await readSourceText(file, path) };
  }));
}
