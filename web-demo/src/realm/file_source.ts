// Files that can be read later: a dropped folder may hold a node_modules of a hundred thousand, of which a workflow needs a few.

/** A file by its path, read when it is needed. */
export interface FileSource {
  /** All paths, with "/" as the separator. */
  readonly paths: ReadonlySet<string>;
  /** The text of a file. Rejects where the browser cannot read it any more. */
  read(path: string): Promise<string>;
}
