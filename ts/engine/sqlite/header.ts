// SQLite's file header, read before SQLite opens the file: is it a store, of which version,
// complete?
import { NotAStoreError, StoreCorruptError, StoreVersionError } from "../store_errors.ts";
import { APPLICATION_ID, type Migration, MIGRATIONS, schemaVersion } from "./schema.ts";

export const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";

export interface FileHead {
  /** Names the file in errors. */
  readonly path: string;
  /** The first HEADER_BYTES bytes, padded with zeros. */
  readonly header: Uint8Array;
  /** Sizes in bytes; -1 for a missing log or journal. */
  readonly size: number;
  readonly wal: number;
  readonly journal: number;
}

/** Throws a NotAStoreError, StoreVersionError or StoreCorruptError. The file is not changed. */
export function checkHeader(file: FileHead, migrations: readonly Migration[] = MIGRATIONS): void {
  const { path, header, size, wal, journal } = file;
  const view = new DataView(header.buffer, header.byteOffset, HEADER_BYTES);
  const magic = new TextDecoder().decode(header.subarray(0, 16));
  const application = view.getUint32(68);
  // If creation was interrupted, the journal rolls the header back; it may not be written yet.
  const unfinished = journal > 0;
  if (unfinished && header.every((byte) => byte === 0)) return;
  if (magic !== MAGIC || (application !== APPLICATION_ID && !unfinished)) {
    throw notAStore(
      path,
      magic === MAGIC ? "a SQLite database of another program" : "not a SQLite database",
    );
  }
  const version = view.getUint32(60);
  const known = schemaVersion(migrations);
  if (version > known) throw tooNew(path, version, known);
  const bytes = sizeInHeader(header);
  if (wal <= 0 && !unfinished && bytes > size) {
    throw new StoreCorruptError(
      `${path} is truncated: it has ${size} of ${bytes} bytes. Restore it from a backup.`,
    );
  }
}

/** Size of the file by its own header, in bytes. */
export function sizeInHeader(header: Uint8Array): number {
  const view = new DataView(header.buffer, header.byteOffset, HEADER_BYTES);
  const pageSize = view.getUint16(16) === 1 ? 65536 : view.getUint16(16);
  return view.getUint32(28) * pageSize;
}

export function notAStore(path: string, what: string): NotAStoreError {
  return new NotAStoreError(
    `${path} is ${what}; it was not changed. Choose another file for the store.`,
  );
}

export function tooNew(path: string, version: number, known: number): StoreVersionError {
  return new StoreVersionError(
    `${path} has schema version ${version}, but this version of temporalex supports ${known} and older: use the version that wrote it, or a newer one`,
    version,
    known,
  );
}
