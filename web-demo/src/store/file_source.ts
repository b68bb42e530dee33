// Files that are read on demand: a dropped folder can contain a node_modules of a hundred thousand
// files, of which a workflow needs a few.

/** The names in one folder; undefined if the folder does not exist. */
export type Listing =
  | { readonly files: readonly string[]; readonly folders: readonly string[] }
  | undefined;

/** A folder. Paths are relative to it, with "/" as the separator; "" is the folder itself. */
export interface FileSource {
  /** Names of the files and folders in a folder; undefined if the path is not a folder. */
  list(path: string): Promise<Listing>;
  /** The text of a file. Rejects if the browser can no longer read it. */
  read(path: string): Promise<string>;
}

/** In bytes. Larger files are not read as code. */
export const LARGEST_FILE: number = 32 * 1024 * 1024;
