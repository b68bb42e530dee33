// The origin's private files: whether this page has some, and where a store lies in them.
import { StoreUnavailableError } from "../../store_errors.ts";

/** The root of this origin's private files, for one that will open them (a worker) or only move them about; names why there is none. */
export async function privateFiles(where: "a worker" | "a page"): Promise<FileSystemDirectoryHandle> {
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
  // Only workers are given the handles that SQLite needs.
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

/** The folder of a store: any name, written so that a file system takes it. */
export function folderName(name: string): string {
  return encodeURIComponent(name).replaceAll(".", "%2E").replaceAll("*", "%2A");
}
