// Removing a store that cannot be opened any more, or is not wanted.
import { folderName, privateFiles } from "../engine/sqlite/opfs/files.ts";
import { StoreBusyError, StoreUnavailableError } from "../engine/store_errors.ts";
import { lockName } from "./messages.ts";

/**
 * Removes the store of this name with all its runs, for good. Rejects with a StoreBusyError while a tab has it open. The way out of a
 * StoreCorruptError: delete the store, open it (empty), and import a backup.
 */
export async function deleteStore(name: string): Promise<void> {
  const root = await privateFiles("a page");
  if (navigator.locks === undefined) {
    throw new StoreUnavailableError("this page has no Web Locks: use a current browser", "unsupported");
  }
  await navigator.locks.request(lockName(name), { ifAvailable: true }, async (lock) => {
    if (lock === null) throw new StoreBusyError(`the store "${name}" is open in a tab: close it there first`);
    try {
      const above = await root.getDirectoryHandle("temporalex");
      await above.removeEntry(folderName(name), { recursive: true });
    } catch (e) {
      if ((e as Error).name === "NotFoundError") return;
      if ((e as Error).name !== "NoModificationAllowedError") throw e;
      throw new StoreBusyError(`files of the store "${name}" are still in use; try again in a moment`, { cause: e });
    }
  });
}
