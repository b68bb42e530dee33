// Files beside a store: made for their owner alone, and removed only where they are ours. A name beside the store may be somebody else's
// ("Cargo" has a "Cargo.lock"), so nothing is removed for its name.
import type { FileSystem } from "./builtins.ts";
import { storeError } from "./errors.ts";

const codeOf = (e: unknown): string | undefined => (e as { code?: string }).code;

/** Of a new file of a store: no other user can open it, at any moment. Files that are there keep the mode that they have. */
export const PRIVATE = 0o600;

/**
 * Makes an empty file; false when there is something of that name. It has its mode from the first moment (Deno's writeFileSync, given a
 * mode, sets it afterwards), and keeps it when it is written.
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
    // A umask may have taken rights from the owner, too.
    fs.fchmodSync(file, mode);
  } catch {
    // A file system without modes.
  } finally {
    fs.closeSync(file);
  }
  return true;
}

/** Mode of a file; of one that is not there, PRIVATE. */
export function modeOf(fs: FileSystem, path: string): number {
  try {
    return fs.statSync(path).mode & 0o777;
  } catch {
    return PRIVATE;
  }
}

/** Removes a folder that holds nothing but what we put into it (`files`). False when it is anything else, which stays as it is. */
export function removeFolder(fs: FileSystem, folder: string, files: readonly string[] = []): boolean {
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
    // Fails where something was put into it meanwhile.
    fs.rmdirSync(folder);
    return true;
  } catch (e) {
    return codeOf(e) === "ENOENT";
  }
}

/** Reads the beginning of a file; where it is shorter, the rest of `into` stays as it is. */
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
 * As `readAt`, for a file that a connection of this process may have open: the file stays open here, because the system takes back all
 * locks that a process has on a file when the process closes it, those of SQLite among them. Then another program that opens the store takes
 * itself for the only one, and removes the log.
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

/** Bytes that are free where a file is; undefined where the runtime does not say. */
export function freeBytes(fs: FileSystem, path: string): number | undefined {
  try {
    const found = fs.statfsSync?.(path);
    return found && found.bavail * found.bsize;
  } catch {
    return undefined;
  }
}
