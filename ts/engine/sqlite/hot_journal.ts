// What a process that was killed in the middle of a transaction with a rollback journal left: pages in the file that were never committed, and
// the journal that takes them back. SQLite does so at the next opening, but node-sqlite3-wasm does not (0.8.60: it takes its own lock for
// that of a transaction that is going on) and would read such pages as if they were committed. Stores write with a rollback journal only while
// they are made or migrated; afterwards everything goes into a log.
import { StoreError } from "../store_errors.ts";
import type { Builtins } from "./builtins.ts";

/** The first bytes of a journal that counts; SQLite clears them when the transaction is over. */
const MAGIC = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
const HEADER_BYTES = 28;

/**
 * For node-sqlite3-wasm, before it opens a file whose fence is held: takes back a creation that was cut short, after which the file is empty
 * (true). Throws a StoreError for any other change that was cut short: only a whole SQLite can take it back.
 */
export function takeBackCreation(found: Builtins, path: string): boolean {
  const { fs } = found;
  const journal = `${path}-journal`;
  if (!fs.existsSync(journal) || !fs.existsSync(path)) return false;
  const header = new Uint8Array(HEADER_BYTES);
  const file = fs.openSync(journal, "r");
  try {
    fs.readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    fs.closeSync(file);
  }
  if (MAGIC.some((byte, i) => header[i] !== byte)) return false;
  const pagesBefore = new DataView(header.buffer).getUint32(16);
  if (pagesBefore > 0) {
    throw new StoreError(
      `a transaction of ${path} was interrupted, and node-sqlite3-wasm cannot roll it back: open it once with another SQLite (npm install libsql, or Node 22.13 and later)`,
    );
  }
  // In this order: with the journal gone first, a crash between the two would leave what was never committed.
  fs.writeFileSync(path, "");
  fs.rmSync(journal);
  return true;
}
