// One writer per store file (P6), across SQLite libraries. `<file>-fence` is locked by native
// libraries; the lock ends with the process. `<file>-owner` names the holder, also for
// node-sqlite3-wasm, which cannot see that lock; a note of a dead process is replaced. `check()`
// before every commit stops an engine whose note or file was replaced. Files and folders of these
// names from other programs are never touched, only reported.
import {
  StoreError,
  StoreFencedError,
  type StoreHolder,
  StoreLockedError,
} from "../store_errors.ts";
import type { Builtins } from "./builtins.ts";
import type { SqlDatabase, SqlLibrary } from "./driver.ts";
import { storeError } from "./errors.ts";
import { makeFile, removeFolder } from "./own_files.ts";
import { isDead, ownIdentity, type ProcessIdentity } from "./process_identity.ts";

interface OwnerNote extends ProcessIdentity {
  readonly token: string;
  readonly openedMs: number;
  readonly driver: string;
  readonly nativeLocks: boolean;
  /** See `SqliteOptions.visit`. */
  readonly visit?: boolean;
}

/**
 * Tokens of the stores open in this realm: two native libraries in one process do not see each
 * other's locks. Symbol.for shares the set between two copies of this package.
 */
const REGISTRY = Symbol.for("temporalex.open-stores");
const openHere: Set<string> = (globalThis as { [REGISTRY]?: Set<string> })[REGISTRY] ??= new Set();

/**
 * A take-over lasts milliseconds. It is stale if its process is dead, if its process cannot be
 * checked and it is older than STALE_TAKEOVER_MS, or if it has no note and is older than
 * STALE_NAMELESS_MS. Both are shorter than callers wait (short_lived_open.ts), so a kill does not
 * block the next process.
 */
const STALE_TAKEOVER_MS = 8_000;
const STALE_NAMELESS_MS = 1_000;

/**
 * The holder of a store by its note; undefined if the store is free. `isHere`: this process is it.
 */
export function currentHolder(
  builtins: Builtins,
  path: string,
): (StoreHolder & { readonly nativeLocks: boolean; readonly isHere: boolean }) | undefined {
  const note = readNote(builtins, path);
  if (note === undefined) return undefined;
  const isHere = openHere.has(note.token);
  if (!isHere && isDead(builtins, note, ownIdentity(builtins))) return undefined;
  return { ...holderIn(note), nativeLocks: note.nativeLocks, isHere };
}

function holderIn({ pid, host, openedMs, driver, visit = false }: OwnerNote): StoreHolder {
  return { pid, host, openedMs, driver, visit };
}

function readNote(builtins: Builtins, path: string): OwnerNote | undefined {
  return noteIn(builtins, `${path}-owner`);
}

function noteIn(builtins: Builtins, file: string): OwnerNote | undefined {
  try {
    const note = JSON.parse(builtins.fs.readFileSync(file, "utf8"));
    return typeof note?.pid === "number" && typeof note.token === "string" ? note : undefined;
  } catch {
    return undefined;
  }
}

/** The error for another program's file with a name that the fence needs. */
function inTheWay(path: string, why: string, store: string): StoreError {
  return new StoreError(
    `${path} blocks the store ${store}: ${why}. It was not changed. Move it, or choose another name for the store.`,
  );
}

export class Fence {
  readonly token: string;
  readonly #builtins: Builtins;
  readonly #path: string;
  readonly #lock: SqlDatabase | undefined;
  readonly #made: boolean;
  #noteId = "";
  #fileId: string | undefined;
  #released = false;

  /**
   * Takes the fence of a store file or throws a StoreLockedError. `path` is absolute and without
   * links.
   */
  constructor(builtins: Builtins, library: SqlLibrary, path: string, visit = false) {
    this.#builtins = builtins;
    this.#path = path;
    this.token = globalThis.crypto.randomUUID();
    this.#made = !builtins.fs.existsSync(`${path}-fence`);
    if (library.nativeLocks) this.#lock = this.#nativeLock(library);
    try {
      this.#takeOver(library, visit);
    } catch (e) {
      this.#unlock();
      throw e;
    }
    openHere.add(this.token);
  }

  #nativeLock(library: SqlLibrary): SqlDatabase {
    let lock: SqlDatabase | undefined;
    try {
      makeFile(this.#builtins.fs, `${this.#path}-fence`);
      lock = library.open(`${this.#path}-fence`);
      lock.exec("PRAGMA busy_timeout=0");
      lock.exec("BEGIN EXCLUSIVE");
      return lock;
    } catch (e) {
      lock?.close();
      if (/locked|busy/i.test((e as Error).message)) throw this.#locked(this.#readNote(), e);
      if (/malformed|not a database|corrupt/i.test((e as Error).message)) {
        throw new StoreError(
          `cannot lock the store ${this.#path}: ${this.#path}-fence is damaged (${
            (e as Error).message
          }). It holds no data of the store: ` +
            "stop every process that has the store open, then remove that file",
          { cause: e },
        );
      }
      throw storeError(e, `cannot lock ${this.#path}-fence`);
    }
  }

  /** Replaces the note of a dead owner, one process at a time. */
  #takeOver(library: SqlLibrary, visit: boolean): void {
    const { fs } = this.#builtins;
    const own = ownIdentity(this.#builtins);
    const note: OwnerNote = {
      ...own,
      token: this.token,
      openedMs: Date.now(),
      driver: library.name,
      nativeLocks: library.nativeLocks,
      ...(visit && { visit }),
    };
    const mutex = `${this.#path}-takeover`;
    this.#enter(mutex, note);
    try {
      const found = this.#readNote();
      if (found !== undefined && this.#holds(found, own)) throw this.#locked(found);
      if (found === undefined) this.#refuseForeignNote();
      this.#removeLock(library, found);
      this.#leaveNote(note);
      this.#noteId = this.#idOf(`${this.#path}-owner`, true) ?? "";
    } finally {
      // Unless another process considered this one dead meanwhile.
      if (noteIn(this.#builtins, `${mutex}/owner`)?.token === this.token) {
        removeFolder(fs, mutex, ["owner"]);
      }
    }
  }

  #leaveNote(note: OwnerNote): void {
    const { fs } = this.#builtins;
    const fresh = `${this.#path}-owner.${this.token}`;
    try {
      makeFile(fs, fresh);
      fs.writeFileSync(fresh, JSON.stringify(note));
      fs.renameSync(fresh, `${this.#path}-owner`);
    } catch (e) {
      fs.rmSync(fresh, { force: true });
      throw storeError(e, `cannot write next to ${this.#path}`);
    }
  }

  /** An unreadable note: empty after a power failure, which is ignored, or of another program. */
  #refuseForeignNote(): void {
    const path = `${this.#path}-owner`;
    let text: string;
    try {
      text = this.#builtins.fs.readFileSync(path, "utf8");
    } catch (e) {
      if ((e as { code?: string }).code === "ENOENT") return;
      throw inTheWay(path, (e as Error).message, this.#path);
    }
    if (/[^\0]/.test(text)) throw inTheWay(path, "it is not the owner file of a store", this.#path);
  }

  /**
   * Removes the lock folder of a killed process with node-sqlite3-wasm. Other libraries ignore it.
   */
  #removeLock(library: SqlLibrary, found: OwnerNote | undefined): void {
    if (library.nativeLocks && found?.nativeLocks !== false) return;
    const path = `${this.#path}.lock`;
    if (removeFolder(this.#builtins.fs, path) || library.nativeLocks) return;
    throw inTheWay(
      path,
      `it is not an empty folder, which is what ${library.name} locks a store with`,
      this.#path,
    );
  }

  /** Makes the folder that excludes other take-overs, with a note of its owner. */
  #enter(mutex: string, own: OwnerNote): void {
    const { fs } = this.#builtins;
    for (let attempt = 0;; attempt++) {
      try {
        fs.mkdirSync(mutex, { mode: 0o700 });
        try {
          makeFile(fs, `${mutex}/owner`);
          fs.writeFileSync(`${mutex}/owner`, JSON.stringify(own));
        } catch (e) {
          removeFolder(fs, mutex, ["owner"]);
          throw e;
        }
        return;
      } catch (e) {
        if ((e as { code?: string }).code !== "EEXIST") {
          throw storeError(e, `cannot write next to ${this.#path}`);
        }
        this.#refuseForeignTakeover(mutex);
        const found = noteIn(this.#builtins, `${mutex}/owner`);
        if (attempt > 0 || !this.#isStale(mutex, found, own) || !this.#putAway(mutex, found)) {
          throw new StoreLockedError(
            `another process is opening ${this.#path} at this moment; try again`,
            found === undefined ? undefined : { ...holderIn(found), visit: true },
          );
        }
      }
    }
  }

  #refuseForeignTakeover(mutex: string): void {
    try {
      if (this.#builtins.fs.readdirSync(mutex).every((name) => name === "owner")) return;
    } catch (e) {
      // Already gone.
      if ((e as { code?: string }).code === "ENOENT") return;
    }
    throw inTheWay(
      mutex,
      "it is not the folder that a process makes while it opens a store",
      this.#path,
    );
  }

  /** Whether a take-over was killed before its end. */
  #isStale(mutex: string, found: OwnerNote | undefined, own: OwnerNote): boolean {
    if (found !== undefined && isDead(this.#builtins, found, own)) return true;
    try {
      const age = Date.now() - this.#builtins.fs.statSync(mutex).mtimeMs;
      return age >= (found === undefined ? STALE_NAMELESS_MS : STALE_TAKEOVER_MS);
    } catch {
      // Already gone.
      return true;
    }
  }

  /**
   * Removes a stale take-over. Returns false and restores the folder if it is another process's new
   * one.
   */
  #putAway(mutex: string, stale: OwnerNote | undefined): boolean {
    const { fs } = this.#builtins;
    const aside = `${mutex}.${this.token}`;
    try {
      fs.renameSync(mutex, aside);
    } catch {
      // Another process was faster, or the take-over ended; the next attempt checks.
      return true;
    }
    if (noteIn(this.#builtins, `${aside}/owner`)?.token !== stale?.token) {
      fs.renameSync(aside, mutex);
      return false;
    }
    removeFolder(fs, aside, ["owner"]);
    return true;
  }

  /** Whether the writer of a note may still have the store open. */
  #holds(note: OwnerNote, own: ProcessIdentity): boolean {
    if (openHere.has(note.token)) return true;
    // A live native owner would hold the lock that this process now has.
    if (note.nativeLocks && this.#lock !== undefined) return false;
    return !isDead(this.#builtins, note, own);
  }

  #locked(note: OwnerNote | undefined, cause?: unknown): StoreLockedError {
    const advice =
      "A store can be open in one process: stop that process, or call it instead of opening the file";
    const options = cause === undefined ? undefined : { cause };
    if (note === undefined) {
      return new StoreLockedError(
        `${this.#path} is open in another process. ${advice}.`,
        undefined,
        options,
      );
    }
    const holder = holderIn(note);
    const who = `process ${note.pid}${note.host === "" ? "" : ` on ${note.host}`}, since ${
      new Date(note.openedMs).toISOString()
    }`;
    const stale = cause === undefined
      ? ` If that process no longer exists, remove ${this.#path}-owner.`
      : "";
    return new StoreLockedError(
      `${this.#path} is open in another engine (${who}). ${advice}.${stale}`,
      holder,
      options,
    );
  }

  #readNote(): OwnerNote | undefined {
    return readNote(this.#builtins, this.#path);
  }

  /**
   * Identity of a file: it changes when the file is replaced. File systems reuse the number of a
   * removed file unless it is still open, as the store is. The note is not open and never changes,
   * so its times count too.
   */
  #idOf(path: string, times: boolean): string | undefined {
    try {
      const stat = this.#builtins.fs.statSync(path);
      return times
        ? `${stat.dev} ${stat.ino} ${stat.mtimeMs} ${stat.ctimeMs}`
        : `${stat.dev} ${stat.ino}`;
    } catch {
      return undefined;
    }
  }

  /** Makes `check` also require that the store file is the opened one. */
  watchFile(): void {
    this.#fileId = this.#idOf(this.#path, false);
  }

  /**
   * Throws a StoreFencedError if this process is no longer the owner. Called before every commit.
   */
  check(): void {
    // Removing the store often removes the note too, so the file is checked first.
    if (this.#fileId !== undefined && this.#idOf(this.#path, false) === undefined) {
      throw new StoreFencedError(
        `${this.#path} was removed while it was open, so its data is lost; this engine no longer writes. Restart it with an empty ` +
          "store, or restore a backup first",
      );
    }
    if (this.#idOf(`${this.#path}-owner`, true) !== this.#noteId) {
      throw new StoreFencedError(
        `${this.#path} is owned by another engine now (or its file ${this.#path}-owner was removed); this engine no longer writes`,
      );
    }
    if (this.#fileId !== undefined && this.#idOf(this.#path, false) !== this.#fileId) {
      throw new StoreFencedError(
        `${this.#path} was replaced while it was open; this engine no longer writes`,
      );
    }
  }

  /** Whether `check` would pass. */
  held(): boolean {
    try {
      this.check();
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Releases the store. `forget` also removes the fence's files if they are new (nothing was
   * opened).
   */
  release(forget = false): void {
    if (this.#released) return;
    this.#released = true;
    openHere.delete(this.token);
    const { fs } = this.#builtins;
    if (this.#readNote()?.token === this.token) fs.rmSync(`${this.#path}-owner`, { force: true });
    this.#unlock(forget);
  }

  #unlock(forget = false): void {
    // A lock file normally stays: removing it while another process waits for it would admit two.
    if (forget && this.#made) this.#builtins.fs.rmSync(`${this.#path}-fence`, { force: true });
    this.#lock?.close();
  }
}
