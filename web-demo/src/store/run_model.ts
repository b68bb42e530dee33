// Reads histories. The reader is loaded with the first history.
import type { RunModel } from "temporalex/debug";

export type { ItemKind, RunItem, RunModel } from "temporalex/debug";

/** Reads a file. Rejects with a HistoryFileError if it is not a workflow history. */
export async function readRun(bytes: Uint8Array): Promise<RunModel> {
  const { openRun } = await import("./open_model.ts");
  return await openRun(bytes);
}
