// Where the histories of a replay come from: files and folders, a cluster, a store. A source hands out histories one by one, and each is
// read when its turn comes, so that memory holds those in work and no others.
import type { HistoryFile } from "../../../../history_files/history_file.ts";
import { UsageError } from "../../../frame/errors.ts";

/** One history that is to be replayed. */
export interface Found {
  /** The file, as it was named; of a run of a cluster or a store "workflowId/runId". */
  readonly file: string;
  /** Where in the file, when it holds several: "line 3", "[2]". */
  readonly place: string;
  /** Bytes that it takes in memory, about; 0 when not known. */
  readonly bytes: number;
  /** Throws a HistoryFileError for what is no history, and errors with a `code` for a file that cannot be read. */
  read(): HistoryFile | Promise<HistoryFile>;
}

export interface Source {
  /** How many histories there are; undefined when not known before the end. */
  readonly total: number | undefined;
  /** How many it pays to have in work at once, beside those that are replayed: a network wants more than a disk. */
  readonly ahead: number;
  /** Realms that are worth their start for what there is. */
  readonly worthThreads: number;
  histories(): AsyncIterable<Found> | Iterable<Found>;
}

/** The histories cannot be had: a folder without any, a cluster that does not respond, a store that cannot be opened. Exit code 2. */
export class InputError extends UsageError {
  override name = "InputError";
}

/** The run of a history was deleted after it was listed. */
export class HistoryGone extends Error {
  override name = "HistoryGone";
}
