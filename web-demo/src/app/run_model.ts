// A history without code, as the page's parts see it. What reads histories is loaded with the first of them.
import type { RunModel } from "temporalex/debug";

export type { ItemKind, RunItem, RunModel } from "temporalex/debug";

/** Reads a file. Rejects with a HistoryFileError for one that holds no history. */
export async function readRun(bytes: Uint8Array): Promise<RunModel> {
  const { openRun } = await import("./open_model.ts");
  return await openRun(bytes);
}
