// Removes a store that cannot be opened or is not needed.
import { folderName, privateFiles } from "../engine/sqlite/opfs/files.ts";
import { StoreBusyError, StoreUnavailableError } from "../engine/store_errors.ts";
import { lockName } from "./messages.ts";

/**
 * Time until a tab that has closed the store, or failed to open it, has released lock and files.
 */
const BUSY_MS = 5000;
const POLL_MS = 25;

/**
 * Removes the store of this name with all its runs. Rejects with a StoreBusyError if a tab keeps it
 * open for five seconds. Repairs a StoreCorruptError: delete the store, open it (empty), and import
 * a backup.
 */
export async function deleteStore(name: string): Promise<void> {
  const root = await privateFiles("a page");
  if (navigator.locks === undefined) {
    throw new StoreUnavailableError(
      "Web Locks are not available: use a current browser",
      "unsupported",
    );
  }
  const waiting = new AbortController();
  const late = setTimeout(() => waiting.abort(), BUSY_MS);
  try {
    await navigator.locks.request(lockName(name), { signal: waiting.signal }, async () => {
      clearTimeout(late);
      await remove(root, name);
    });
  } catch (e) {
    if (!waiting.signal.aborted || (e as Error).name !== "AbortError") throw e;
    throw new StoreBusyError(`the store "${name}" is open in a tab: close it there first`, {
      cause: e,
    });
  } finally {
    clearTimeout(late);
  }
}

async function remove(root: FileSystemDirectoryHandle, name: string): Promise<void> {
  for (const until = performance.now() + BUSY_MS;;) {
    try {
      const above = await root.getDirectoryHandle("temporalex");
      return await above.removeEntry(folderName(name), { recursive: true });
    } catch (e) {
      if ((e as Error).name === "NotFoundError") return;
      if ((e as Error).name !== "NoModificationAllowedError") throw e;
      if (performance.now() > until) {
        throw new StoreBusyError(
          `files of the store "${name}" are still in use; try again in a moment`,
          { cause: e },
        );
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}
