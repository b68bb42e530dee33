// Sources of histories for a replay: files and folders, a cluster, a store. A source yields
// histories one by one, each read when needed, so that memory holds only those in progress.
import type { HistoryFile } from "../../../../history_files/history_file.ts";
import { UsageError } from "../../../frame/errors.ts";

/** A history to replay. */
export interface Found {
  /** Name of the file, or "workflowId/runId" for a run of a cluster or a store. */
  readonly file: string;
  /** Position in a file with several histories: "line 3", "[2]". */
  readonly place: string;
  /** Approximate size in memory, in bytes; 0 if not known. */
  readonly bytes: number;
  /**
   * Throws a HistoryFileError for an invalid history, and errors with a `code` for a file that
   * cannot be read.
   */
  read(): HistoryFile | Promise<HistoryFile>;
}

export interface Source {
  /** Number of histories; undefined if not known in advance. */
  readonly total: number | undefined;
  /**
   * Useful number of concurrent reads in addition to replays; higher for a network than for a disk.
   */
  readonly ahead: number;
  /** Number of realms worth their start-up time. */
  readonly worthThreads: number;
  histories(): AsyncIterable<Found> | Iterable<Found>;
}

/**
 * The histories are not available: an empty folder, a cluster that does not respond, a store that
 * cannot be opened. Exit code 2.
 */
export class InputError extends UsageError {
  override name = "InputError";
}

/** The run of a history was deleted after it was listed. */
export class HistoryGone extends Error {
  override name = "HistoryGone";
}
