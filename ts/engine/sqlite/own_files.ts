// Files next to a store: readable by their owner only, and removed only if the store created them.
// A name may belong to another program ("Cargo" has a "Cargo.lock"), so names alone do not count.
import type { FileSystem } from "./builtins.ts";
import { storeError } from "./errors.ts";

const codeOf = (e: unknown): string | undefined => (e as { code?: string }).code;

/** Mode of a new file: no other user can open it at any moment. Existing files keep their mode. */
export const PRIVATE = 0o600;

/**
 * Makes an empty file; returns false if the name exists. The mode is set at creation (Deno's
 * writeFileSync sets it afterwards) and kept by later writes.
 */
export function makeFile(fs: FileSystem, path: string, mode = PRIVATE): boolean {
  let file: number;
  try {
    file = fs.openSync(path, "wx", mode);
  } catch (e) {
    if (codeOf(e) === "EEXIST") return false;
    throw storeError(e, `cannot create ${path}`);
  }
  try {
    // The umask may have removed rights of the owner, too.
    fs.fchmodSync(file, mode);
  } catch {
    // A file system without modes.
  } finally {
    fs.closeSync(file);
  }
  return true;
}

/** Mode of a file; PRIVATE if it does not exist. */
export function modeOf(fs: FileSystem, path: string): number {
  try {
    return fs.statSync(path).mode & 0o777;
  } catch {
    return PRIVATE;
  }
}

/**
 * Removes a folder that contains only `files`. Returns false for anything else and leaves it
 * unchanged.
 */
export function removeFolder(
  fs: FileSystem,
  folder: string,
  files: readonly string[] = [],
): boolean {
  let found: readonly string[];
  try {
    if (!fs.lstatSync(folder).isDirectory()) return false;
    found = fs.readdirSync(folder);
  } catch (e) {
    return codeOf(e) === "ENOENT";
  }
  if (found.some((name) => !files.includes(name))) return false;
  try {
    for (const name of found) fs.rmSync(`${folder}/${name}`, { force: true });
    // Fails if another program added a file meanwhile.
    fs.rmdirSync(folder);
    return true;
  } catch (e) {
    return codeOf(e) === "ENOENT";
  }
}

/** Reads the beginning of a file; if it is shorter, the rest of `into` is unchanged. */
export function readAt(fs: FileSystem, path: string, into: Uint8Array): void {
  const file = fs.openSync(path, "r");
  try {
    fs.readSync(file, into, 0, into.length, 0);
  } finally {
    fs.closeSync(file);
  }
}

const kept = new Map<string, { readonly file: number; readonly id: string }>();

/**
 * Like `readAt`, for a file that this process may have open in SQLite. The file stays open here:
 * closing it would release all POSIX locks of this process on it, including SQLite's. Another
 * process would then consider itself the only user, and remove the log.
 */
export function readKept(fs: FileSystem, path: string, into: Uint8Array): void {
  const { dev, ino } = fs.statSync(path);
  const id = `${dev} ${ino}`;
  let found = kept.get(path);
  if (found?.id !== id) {
    const before = found?.file;
    kept.set(path, found = { file: fs.openSync(path, "r"), id });
    if (before !== undefined) fs.closeSync(before);
  }
  fs.readSync(found.file, into, 0, into.length, 0);
}

/** Free bytes on the disk of a file; undefined if the runtime cannot report it. */
export function freeBytes(fs: FileSystem, path: string): number | undefined {
  try {
    const found = fs.statfsSync?.(path);
    return found && found.bavail * found.bsize;
  } catch {
    return undefined;
  }
}
