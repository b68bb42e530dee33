// Hot rollback journals of killed processes: the file has uncommitted pages, and the journal
// restores them. SQLite rolls them back when it opens the file; node-sqlite3-wasm 0.8.60 mistakes
// its own lock for an open transaction and would read the pages as committed. Stores use a rollback
// journal only during creation and migration, later a log.
import { StoreError } from "../store_errors.ts";
import type { Builtins } from "./builtins.ts";

/** The first bytes of a valid journal; SQLite clears them at the end of the transaction. */
const MAGIC = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
const HEADER_BYTES = 28;

/**
 * For node-sqlite3-wasm, before it opens a file whose fence is held. Rolls back an interrupted
 * creation and returns true; the file is empty then. Throws a StoreError for any other interrupted
 * transaction, which only a complete SQLite can roll back.
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
  // In this order: a crash after removing the journal first would keep the uncommitted pages.
  fs.writeFileSync(path, "");
  fs.rmSync(journal);
  return true;
}
