// Histories that were opened, kept in this browser so that a reload finds them again. They go nowhere else; the oldest go when there are many.
// Where the browser keeps nothing (private windows), a reload starts again.

export interface Kept {
  readonly key: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

const NAME = "temporalex-debugger";
const STORE = "histories";
/** Of histories, so that a chain of runs is there again, and of bytes of all together. */
const MOST = 60;
const MOST_BYTES = 300 * 1024 * 1024;

let database: Promise<IDBDatabase | undefined> | undefined;

function open(): Promise<IDBDatabase | undefined> {
  return database ??= new Promise((resolve) => {
    try {
      const asked = indexedDB.open(NAME, 1);
      asked.onupgradeneeded = () => asked.result.createObjectStore(STORE, { keyPath: "key" });
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = asked.onblocked = () => resolve(undefined);
    } catch {
      resolve(undefined);
    }
  });
}

async function run<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | undefined> {
  const kept = await open();
  if (kept === undefined) return undefined;
  return await new Promise((resolve) => {
    try {
      const transaction = kept.transaction(STORE, mode);
      const asked = work(transaction.objectStore(STORE));
      // A write is there when its transaction is: the next page may ask for it at once.
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onerror = transaction.onabort = () => resolve(undefined);
    } catch {
      resolve(undefined);
    }
  });
}

const FORGET_MS = 500;
let forgetting: ReturnType<typeof setTimeout> | undefined;

/** Keeps a history. Resolves when it is there, or when it is known that it cannot be. */
export async function keep(key: string, name: string, bytes: Uint8Array): Promise<void> {
  await run("readwrite", (store) => store.put({ key, name, bytes, atMs: Date.now() } satisfies Kept));
  // Once for all that are opened together.
  clearTimeout(forgetting);
  forgetting = setTimeout(() => void forgetOldest(), FORGET_MS);
}

/** A kept history; undefined: it is not there. */
export const keptHistory = async (key: string): Promise<Kept | undefined> =>
  await run("readonly", (store) => store.get(key) as IDBRequest<Kept | undefined>);

async function forgetOldest(): Promise<void> {
  const all = (await run("readonly", (store) => store.getAll() as IDBRequest<Kept[]>)) ?? [];
  let bytes = 0;
  const newestFirst = all.sort((a, b) => b.atMs - a.atMs);
  for (const [i, item] of newestFirst.entries()) {
    bytes += item.bytes.length;
    if (i > 0 && (i >= MOST || bytes > MOST_BYTES)) await run("readwrite", (store) => store.delete(item.key));
  }
}
