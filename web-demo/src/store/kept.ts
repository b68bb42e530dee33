// Stores opened histories and their code in this browser (IndexedDB), so that a reload finds them.
// The oldest are deleted. Without storage (private windows) a reload starts with the first screen.
import type { CodeFile, CodeOrigin } from "./code_set.ts";

export interface Kept {
  readonly key: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

/** The code of a history. */
export interface KeptCode {
  /** Key of the history. */
  readonly key: string;
  readonly entry: string;
  readonly files: readonly CodeFile[];
  readonly origin: CodeOrigin;
  /** Whether the user has permitted it to run. */
  readonly isPermitted: boolean;
  /** The folder, in browsers with handles. Reading it again needs the user's permission. */
  readonly folder?: FileSystemDirectoryHandle;
}

const NAME = "temporalex-debugger";
const STORE = "histories";
const CODE = "code";
type StoreName = typeof STORE | typeof CODE;
/** Histories that are kept: enough for a chain of runs. */
const MOST = 60;
const MOST_BYTES = 300 * 1024 * 1024;

let database: Promise<IDBDatabase | undefined> | undefined;

function open(): Promise<IDBDatabase | undefined> {
  return database ??= new Promise((resolve) => {
    try {
      const asked = indexedDB.open(NAME, 2);
      asked.onupgradeneeded = () => {
        for (const name of [STORE, CODE]) {
          if (!asked.result.objectStoreNames.contains(name)) {
            asked.result.createObjectStore(name, { keyPath: "key" });
          }
        }
      };
      asked.onsuccess = () => {
        // A later version of this page in another tab must not wait for this one.
        asked.result.onversionchange = () => asked.result.close();
        resolve(asked.result);
      };
      asked.onerror = asked.onblocked = () => resolve(undefined);
    } catch {
      resolve(undefined);
    }
  });
}

async function run<T>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
  name: StoreName = STORE,
): Promise<T | undefined> {
  const kept = await open();
  if (kept === undefined) return undefined;
  return await new Promise((resolve) => {
    try {
      const transaction = kept.transaction(name, mode);
      const asked = work(transaction.objectStore(name));
      // A write is durable when its transaction completes; the next page can read it immediately.
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onerror = transaction.onabort = () => resolve(undefined);
    } catch {
      resolve(undefined);
    }
  });
}

const FORGET_MS = 500;
let forgetting: ReturnType<typeof setTimeout> | undefined;

/** Stores a history. Resolves when it is stored, or when storing has failed. */
export async function keep(key: string, name: string, bytes: Uint8Array): Promise<void> {
  await run(
    "readwrite",
    (store) => store.put({ key, name, bytes, atMs: Date.now() } satisfies Kept),
  );
  // Once for all histories that are opened together.
  clearTimeout(forgetting);
  forgetting = setTimeout(() => void forgetOldest(), FORGET_MS);
}

/** A stored history; undefined if it is not stored. */
export const keptHistory = async (key: string): Promise<Kept | undefined> =>
  await run("readonly", (store) => store.get(key) as IDBRequest<Kept | undefined>);

/** Stores the code of a history, or deletes it. */
export async function keepCode(key: string, code: KeptCode | undefined): Promise<void> {
  await run<unknown>(
    "readwrite",
    (store) => (code === undefined ? store.delete(key) : store.put(code)) as IDBRequest,
    CODE,
  );
}

/** The stored code of a history; undefined if it has none. */
export const readKeptCode = async (key: string): Promise<KeptCode | undefined> =>
  await run("readonly", (store) => store.get(key) as IDBRequest<KeptCode | undefined>, CODE);

async function forgetOldest(): Promise<void> {
  const all = (await run("readonly", (store) => store.getAll() as IDBRequest<Kept[]>)) ?? [];
  let bytes = 0;
  const newestFirst = all.sort((a, b) => b.atMs - a.atMs);
  for (const [i, item] of newestFirst.entries()) {
    bytes += item.bytes.length;
    if (i > 0 && (i >= MOST || bytes > MOST_BYTES)) {
      await run("readwrite", (store) => store.delete(item.key));
      await keepCode(item.key, undefined);
    }
  }
}
