// The code of a run, from any source.
import type { FileSource } from "./file_source.ts";

/** The source of code. Only samples and the code of `temporalex debug` run without a click. */
export type CodeOrigin =
  | "sample"
  | "folder"
  | "files"
  | "paste"
  | "bundle"
  | "link"
  | "command line";

export interface CodeFile {
  /** "src/workflows.ts", relative to the dropped folder, with "/" as the separator. */
  readonly path: string;
  readonly text: string;
}

/** Files that belong together. Immutable: `withText` returns a changed copy. */
export interface CodeSet {
  /** Kept by edits: permitted code can be edited and run again. */
  readonly id: string;
  /** Path of the file that exports the workflows. */
  readonly entry: string;
  /**
   * Files whose text is known: those that the entry needs, which are sufficient to run the code.
   */
  readonly files: readonly CodeFile[];
  readonly origin: CodeOrigin;
  /** Source of further files: the dropped folder. */
  readonly source?: FileSource;
  /** The dropped folder, in browsers whose folders can be read again after a reload. */
  readonly folder?: FileSystemDirectoryHandle;
}

let ids = 0;

/** Returns a code set with a new id. */
export function codeSet(set: Omit<CodeSet, "id">): CodeSet {
  return { ...set, id: `code ${++ids}` };
}

/** Returns the code set with a changed or added file. */
export function withText(code: CodeSet, path: string, text: string): CodeSet {
  const known = code.files.some((file) => file.path === path);
  const files = known
    ? code.files.map((file) => file.path === path ? { path, text } : file)
    : [...code.files, { path, text }];
  return { ...code, files };
}
