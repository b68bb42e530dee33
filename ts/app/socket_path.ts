// Where the holder of a store can be reached by other processes of this machine: a Unix socket beside the store file, or, where the path
// is too long for one, on Windows and in some versions of Deno, a port on the loopback interface with a note beside the store that holds its number and a secret.
// Both are for the owner of the store alone.
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import process from "node:process";
import { type Builtins, builtins } from "../engine/sqlite/builtins.ts";
import { removeFolder } from "../engine/sqlite/own_files.ts";
import { isDead, ownIdentity, type ProcessIdentity } from "../engine/sqlite/process_identity.ts";

/** `<store>-socket` and `<store>-port`. */
export const socketPath = (store: string): string => `${store}-socket`;
export const portPath = (store: string): string => `${store}-port`;
/** A folder that only the owner can enter; the socket is made in it, and moved when it has its mode. */
const nursery = (store: string): string => `${store}-socket.new`;

/** Bytes that fit into sockaddr_un.sun_path, without the closing zero. */
const SUN_PATH_BYTES = process.platform === "linux" || process.platform === "android" ? 107 : 103;

/**
 * Deno 2.8.0 to 2.9.5 close the file descriptor of a Unix socket twice: the second time may hit a file that another thread has just
 * opened ("Bad file descriptor" where a module is read).
 */
export function closesSocketsTwice(deno: string | undefined): boolean {
  const [major = 0, minor = 0, patch = 0] = (deno ?? "").split(".").map((part) => Number.parseInt(part, 10));
  return major === 2 && (minor === 8 || (minor === 9 && patch <= 5));
}

/** Whether a Unix socket can be made beside the store. */
export function fitsSocket(store: string): boolean {
  if (closesSocketsTwice(process.versions["deno"])) return false;
  return process.platform !== "win32" && new TextEncoder().encode(`${nursery(store)}/s`).length <= SUN_PATH_BYTES;
}

/**
 * Makes a socket that nobody but the owner can open at any moment: it is bound in a folder of mode 0700, gets mode 0600, and is moved to
 * its place, where it replaces one that a killed process left. Only the holder of the store's fence may call this.
 */
export async function placeSocket<T>(store: string, bind: (path: string) => Promise<T>): Promise<T> {
  const folder = nursery(store);
  const { fs } = required();
  // A process that was killed in the middle has left it, with the socket.
  if (!removeFolder(fs, folder, ["s"])) throw inTheWay(folder, "is not a folder for a socket");
  mkdirSync(folder, { mode: 0o700 });
  try {
    const bound = await bind(`${folder}/s`);
    chmodSync(`${folder}/s`, 0o600);
    removeSocket(store);
    renameSync(`${folder}/s`, socketPath(store));
    return bound;
  } finally {
    removeFolder(fs, folder, ["s"]);
  }
}

const inTheWay = (path: string, why: string): Error =>
  new Error(
    `${path} ${why}, and blocks the store's socket: move it, or choose another name for the store`,
  );

/** Removes the socket that a dead holder left. Throws for anything else of that name. */
export function removeSocket(store: string): void {
  const path = socketPath(store);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw inTheWay(path, "is not a socket");
  rmSync(path, { force: true });
}

/** Removes the note about a port that a dead holder left. Throws for anything else of that name. */
export function removePort(store: string): void {
  const path = portPath(store);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  // After a power failure it may be empty.
  if (noteAt(path) === undefined && !/^\0*$/.test(readFileSync(path, "utf8"))) throw inTheWay(path, "is not a port file");
  rmSync(path, { force: true });
}

/** Undefined for what is no such note. */
function noteAt(path: string): PortNote | undefined {
  try {
    const note = JSON.parse(readFileSync(path, "utf8")) as PortNote;
    const { port, secret } = note;
    return Number.isInteger(port) && port > 0 && port < 65536 && typeof secret === "string" && secret !== "" ? note : undefined;
  } catch {
    return undefined;
  }
}

/** Identity of a file, to remove only what is still ours. */
export function fileId(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev} ${stat.ino}`;
}

interface PortNote extends ProcessIdentity {
  readonly port: number;
  readonly secret: string;
}

/** Leaves the note about a port, readable by its owner alone from the first moment. */
export function placePort(store: string, port: number, secret: string): void {
  const note: PortNote = { port, secret, ...ownIdentity(required()) };
  const fresh = `${portPath(store)}.${crypto.randomUUID()}`;
  const file = openSync(fresh, "wx", 0o600);
  try {
    writeSync(file, JSON.stringify(note));
  } finally {
    closeSync(file);
  }
  removePort(store);
  renameSync(fresh, portPath(store));
}

function required(): Builtins {
  const found = builtins();
  if (found === undefined) throw new Error("this runtime has no file system");
  return found;
}

/** Where a holder seems to listen. It may have died since. */
export type Holder = { readonly socket: string } | { readonly port: number; readonly secret: string };

/** Looks beside the store. Files that belong to somebody else than the store's owner or this process' user are not trusted. */
export function findHolder(store: string): Holder | undefined {
  const socket = lstatSync(socketPath(store), { throwIfNoEntry: false });
  if (socket?.isSocket() && trusted(store, socket.uid)) return { socket: socketPath(store) };
  const file = lstatSync(portPath(store), { throwIfNoEntry: false });
  if (!file?.isFile() || !trusted(store, file.uid)) return undefined;
  // On Windows the folder's access list decides, and modes mean nothing.
  if (process.platform !== "win32" && (file.mode & 0o077) !== 0) return undefined;
  const note = noteAt(portPath(store));
  if (note === undefined) return undefined;
  // The port of a dead process may be somebody else's by now, who must not learn the secret.
  const found = required();
  return isDead(found, note, ownIdentity(found)) ? undefined : { port: note.port, secret: note.secret };
}

function trusted(store: string, uid: number): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === own || uid === statSync(store, { throwIfNoEntry: false })?.uid;
}
