// Code beside a history, whatever door it came through.
import type { FileSource } from "./file_source.ts";

/** Which door code came through. Only the page's own samples and what `temporalex debug` was started with run without a click. */
export type CodeOrigin = "sample" | "folder" | "files" | "paste" | "bundle" | "link" | "command line";

/** One file. */
export interface CodeFile {
  /** "src/workflows.ts", with "/" as the separator, from the folder that was dropped. */
  readonly path: string;
  readonly text: string;
}

/** Files that belong together. Never changed: an edit makes another one with `withText`. */
export interface CodeSet {
  /** Stays the same over edits: what was permitted to run may be edited and run again. */
  readonly id: string;
  /** Path of the file that exports the workflows. */
  readonly entry: string;
  /** The files whose text is known: those that the entry needs, and with no more than them the code runs. */
  readonly files: readonly CodeFile[];
  readonly origin: CodeOrigin;
  /** Where files come from that are not among `files` yet: the folder that was dropped. */
  readonly source?: FileSource;
}

let ids = 0;

/** A code set of its own, with a new id. */
export function codeSet(set: Omit<CodeSet, "id">): CodeSet {
  return { ...set, id: `code ${++ids}` };
}

/** The same code with another text for one file, or with one file more. */
export function withText(code: CodeSet, path: string, text: string): CodeSet {
  const known = code.files.some((file) => file.path === path);
  const files = known ? code.files.map((file) => file.path === path ? { path, text } : file) : [...code.files, { path, text }];
  return { ...code, files };
}
