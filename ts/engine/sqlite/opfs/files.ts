// The origin private file system: whether this page has it, and the folder of a store in it.
import { StoreUnavailableError } from "../../store_errors.ts";

/**
 * Returns the root of the origin private file system. A worker opens its files, a page only moves
 * them. Throws a StoreUnavailableError with the reason.
 */
export async function privateFiles(
  where: "a worker" | "a page",
): Promise<FileSystemDirectoryHandle> {
  const { isSecureContext, navigator, FileSystemFileHandle } = globalThis as unknown as {
    isSecureContext?: boolean;
    navigator?: { storage?: { getDirectory?(): Promise<FileSystemDirectoryHandle> } };
    FileSystemFileHandle?: { prototype: object };
  };
  if (isSecureContext === false) {
    throw new StoreUnavailableError(
      "browser storage needs a secure context: serve the page over https, or from localhost",
      "insecure",
    );
  }
  const storage = navigator?.storage;
  // Only workers have the handles that SQLite needs.
  const handles = FileSystemFileHandle !== undefined &&
    (where === "a page" || "createSyncAccessHandle" in FileSystemFileHandle.prototype);
  if (storage?.getDirectory === undefined || !handles) {
    throw new StoreUnavailableError(
      "this browser has no origin private file system (OPFS): use a current Chrome, Edge, Firefox or Safari",
      "unsupported",
    );
  }
  try {
    return await storage.getDirectory();
  } catch (e) {
    throw new StoreUnavailableError(
      `the browser denies access to files (${
        (e as Error).message
      }), for example in a private window or with blocked site data: use an ordinary ` +
        "window, or allow this site to store data",
      "blocked",
      { cause: e },
    );
  }
}

/** The folder of a store: any name, encoded for the file system. */
export function folderName(name: string): string {
  return encodeURIComponent(name).replaceAll(".", "%2E").replaceAll("*", "%2A");
}
