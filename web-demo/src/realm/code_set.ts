// Code beside a history, whatever door it came through.

/** One file. */
export interface CodeFile {
  /** "src/workflows.ts", with "/" as the separator. */
  readonly path: string;
  readonly text: string;
}

/** Files that belong together. */
export interface CodeSet {
  /** Path of the file that exports the workflows. */
  readonly entry: string;
  readonly files: readonly CodeFile[];
  /** Which door the files came through. */
  readonly origin: "sample" | "folder" | "paste" | "bundle" | "command line";
}
