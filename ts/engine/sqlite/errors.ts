// A library's error as one of the store's. All libraries give SQLite's own message, so the message decides; their codes differ.
import { StoreCorruptError, StoreError, StoreFullError } from "../store_errors.ts";

export function storeError(e: unknown, doing: string): StoreError {
  if (e instanceof StoreError) return e;
  const message = e instanceof Error ? e.message : String(e);
  if (/malformed|not a database|corrupt/i.test(message)) {
    return new StoreCorruptError(`${doing}: the file is damaged (${message}). Restore it from a backup.`, { cause: e });
  }
  if (/disk is full|quota/i.test(message)) {
    return new StoreFullError(`${doing}: there is no space left (${message}). Free space and try again.`, {
      cause: e,
    });
  }
  return new StoreError(`${doing}: ${message}`, { cause: e });
}
