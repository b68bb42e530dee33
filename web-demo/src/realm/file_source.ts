// Files that are read when they are needed: a dropped folder may hold a node_modules of a hundred thousand, of which a workflow needs a few.
import type { Listing } from "./loader/virtual_files.ts";

/** A folder. Paths are relative to it, with "/" as the separator; "" is the folder itself. */
export interface FileSource {
  /** Names of the files and folders in a folder; undefined: there is none at the path. */
  list(path: string): Promise<Listing>;
  /** The text of a file. Rejects where the browser cannot read it any more. */
  read(path: string): Promise<string>;
}

/** Files of more bytes are not read as code. */
export const LARGEST_FILE: number = 32 * 1024 * 1024;
