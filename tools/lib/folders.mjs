// Removes a folder in which a program that was killed may still be writing.
import { rmSync } from "node:fs";

const PATIENCE_MS = 30_000;

/**
 * Removes a folder with all that is in it. The last processes of a killed browser write for a
 * moment longer, and the `maxRetries` of rmSync only tries the folder itself again, not the files
 * that have appeared in it meanwhile: so the whole of it is tried again.
 */
export async function removeFolder(folder) {
  for (const until = Date.now() + PATIENCE_MS;;) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (e) {
      if (Date.now() > until) throw e;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
