// A library's error as one of the store's. All libraries give SQLite's own message, so the message decides; their codes differ.
import { StoreCorruptError, StoreError, StoreFullError } from "../store_errors.ts";

/** A commit needs less; more than this is free where an I/O error is not for want of space. */
const SPACE_BYTES = 1024 * 1024;

/** `free`: bytes that are free where the store is. Not every library tells a full disk from one that fails. */
export function storeError(e: unknown, doing: string, free?: () => number | undefined): StoreError {
  if (e instanceof StoreError) return e;
  const message = e instanceof Error ? e.message : String(e);
  if (/malformed|not a database|corrupt/i.test(message)) {
    return new StoreCorruptError(`${doing}: the file is damaged (${message}). Restore it from a backup.`, { cause: e });
  }
  const left = /disk I\/O error/i.test(message) ? free?.() : undefined;
  const isFull = /disk is full|quota|ENOSPC|EDQUOT|no space left/i.test(message) || (left !== undefined && left < SPACE_BYTES);
  if (isFull) {
    const why = left === undefined ? message : `${message}, and ${left} bytes are free`;
    return new StoreFullError(`${doing}: there is no space left (${why}). Free space and try again.`, { cause: e });
  }
  return new StoreError(`${doing}: ${message}`, { cause: e });
}

/** Whether the storage failed, and not the statement: the whole transaction is of no more use, and the same work may succeed later. */
export function isOfStorage(e: StoreError): boolean {
  return e instanceof StoreFullError || e instanceof StoreCorruptError ||
    /disk I\/O error|readonly database|unable to open/i.test(e.message);
}
