// Converts an error of a SQLite library to a StoreError. The libraries share SQLite's messages, but
// not its codes, so the message decides.
import { StoreCorruptError, StoreError, StoreFullError } from "../store_errors.ts";

/** A commit needs less. With more free space, an I/O error has another cause. */
const SPACE_BYTES = 1024 * 1024;

/**
 * `free`: free bytes of the store's disk. Not every library distinguishes a full disk from a
 * failing one.
 */
export function storeError(e: unknown, doing: string, free?: () => number | undefined): StoreError {
  if (e instanceof StoreError) return e;
  const message = e instanceof Error ? e.message : String(e);
  if (/malformed|not a database|corrupt/i.test(message)) {
    return new StoreCorruptError(
      `${doing}: the file is damaged (${message}). Restore it from a backup.`,
      { cause: e },
    );
  }
  const left = /disk I\/O error/i.test(message) ? free?.() : undefined;
  const isFull = /disk is full|quota|ENOSPC|EDQUOT|no space left/i.test(message) ||
    (left !== undefined && left < SPACE_BYTES);
  if (isFull) {
    const why = left === undefined ? message : `${message}, and ${left} bytes are free`;
    return new StoreFullError(`${doing}: no space left (${why}). Free space and try again.`, {
      cause: e,
    });
  }
  return new StoreError(`${doing}: ${message}`, { cause: e });
}

/**
 * Whether the storage failed rather than the statement: the transaction is lost, and the same work
 * may succeed later.
 */
export function isOfStorage(e: StoreError): boolean {
  return e instanceof StoreFullError || e instanceof StoreCorruptError ||
    /disk I\/O error|readonly database|unable to open/i.test(e.message);
}
