// Where other processes of this machine reach the holder of a store: a Unix socket next to the
// store file. If the path is too long, on Windows, and in some versions of Deno: a loopback port,
// with a file next to the store that has its number and a secret. Both are accessible to the
// store's owner only.
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

export const socketPath = (store: string): string => `${store}-socket`;
export const portPath = (store: string): string => `${store}-port`;
/** Folder with mode 0700: the socket is created there and moved once it has its mode. */
const nursery = (store: string): string => `${store}-socket.new`;

/** Bytes of sockaddr_un.sun_path, without the terminating zero. */
const SUN_PATH_BYTES = process.platform === "linux" || process.platform === "android" ? 107 : 103;

/**
 * Returns whether this Deno closes the file descriptor of a Unix socket twice (2.8.0 to 2.9.5). The
 * second time can close a file that another thread has just opened ("Bad file descriptor" when a
 * module is read).
 */
export function closesSocketsTwice(deno: string | undefined): boolean {
  const [major = 0, minor = 0, patch = 0] = (deno ?? "").split(".").map((part) =>
    Number.parseInt(part, 10)
  );
  return major === 2 && (minor === 8 || (minor === 9 && patch <= 5));
}

/** Returns whether a Unix socket can be created next to the store. */
export function fitsSocket(store: string): boolean {
  if (closesSocketsTwice(process.versions["deno"])) return false;
  return process.platform !== "win32" &&
    new TextEncoder().encode(`${nursery(store)}/s`).length <= SUN_PATH_BYTES;
}

/**
 * Creates a socket that is never accessible to other users: bound in a folder of mode 0700, set to
 * mode 0600, then moved to its path, where it replaces that of a killed process. Only for the
 * holder of the store's fence.
 */
export async function placeSocket<T>(
  store: string,
  bind: (path: string) => Promise<T>,
): Promise<T> {
  const folder = nursery(store);
  const { fs } = required();
  // Left with the socket by a process that was killed here.
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

/** Removes the socket of a dead holder. Throws for any other file of that name. */
export function removeSocket(store: string): void {
  const path = socketPath(store);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw inTheWay(path, "is not a socket");
  rmSync(path, { force: true });
}

/** Removes the port file of a dead holder. Throws for any other file of that name. */
export function removePort(store: string): void {
  const path = portPath(store);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  // It can be empty after a power failure.
  if (noteAt(path) === undefined && !/^\0*$/.test(readFileSync(path, "utf8"))) {
    throw inTheWay(path, "is not a port file");
  }
  rmSync(path, { force: true });
}

/** Returns the content of a port file; undefined if it is invalid. */
function noteAt(path: string): PortNote | undefined {
  try {
    const note = JSON.parse(readFileSync(path, "utf8")) as PortNote;
    const { port, secret } = note;
    return Number.isInteger(port) && port > 0 && port < 65536 && typeof secret === "string" &&
        secret !== ""
      ? note
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the identity of a file, to remove only one's own. */
export function fileId(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev} ${stat.ino}`;
}

interface PortNote extends ProcessIdentity {
  readonly port: number;
  readonly secret: string;
}

/** Writes the port file, readable by its owner only from the start. */
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

/** Address of a holder, which may have died since. */
export type Holder = { readonly socket: string } | {
  readonly port: number;
  readonly secret: string;
};

/**
 * Looks for a holder next to the store. Ignores files of a user other than the store's owner or the
 * user of this process.
 */
export function findHolder(store: string): Holder | undefined {
  const socket = lstatSync(socketPath(store), { throwIfNoEntry: false });
  if (socket?.isSocket() && trusted(store, socket.uid)) return { socket: socketPath(store) };
  const file = lstatSync(portPath(store), { throwIfNoEntry: false });
  if (!file?.isFile() || !trusted(store, file.uid)) return undefined;
  // On Windows the access list of the folder decides; modes have no meaning.
  if (process.platform !== "win32" && (file.mode & 0o077) !== 0) return undefined;
  const note = noteAt(portPath(store));
  if (note === undefined) return undefined;
  // The port of a dead process may belong to another user now, which must not receive the secret.
  const found = required();
  return isDead(found, note, ownIdentity(found))
    ? undefined
    : { port: note.port, secret: note.secret };
}

function trusted(store: string, uid: number): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === own ||
    uid === statSync(store, { throwIfNoEntry: false })?.uid;
}
