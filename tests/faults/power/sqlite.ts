// SQLite's own WASM build on a PowerDisk: a file system for SQLite that keeps what its file system
// for Unix promises (which names are synced, and when), and the store opened on it by the code that
// opens files. One disk is in use at a time.
import type { SAHPoolUtil, Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import type { Builtins } from "../../../ts/engine/sqlite/builtins.ts";
import { OpfsDatabase } from "../../../ts/engine/sqlite/opfs/database.ts";
import { loadSqlite } from "../../../ts/engine/sqlite/opfs/pool.ts";
import { inspect, prepare, type Synchronous } from "../../../ts/engine/sqlite/open.ts";
import { MIGRATIONS } from "../../../ts/engine/sqlite/schema.ts";
import { SqliteStore } from "../../../ts/engine/sqlite/store.ts";
import { PowerDisk, PowerFailure } from "./disk.ts";

/** SQLite's structs: the package's types leave out the "$" that its fields have. */
interface Struct {
  readonly pointer: number;
  [field: `$${string}`]: number;
  dispose(): void;
}
type StructClass = {
  new (pointer?: unknown): Struct;
  readonly structInfo: { readonly sizeof: number };
};
type Structs = {
  readonly [name in "sqlite3_io_methods" | "sqlite3_vfs" | "sqlite3_file"]: StructClass;
};

const VFS = "power-loss";
export const FILE = "/store.db";

interface OpenFile {
  readonly name: string;
  /**
   * It was made by this opening, and its name is synced with it for the first time: a journal or a
   * log.
   */
  syncsFolder: boolean;
}

/** Opens stores on disks whose power can fail. */
export class PowerSqlite {
  readonly #sqlite: Sqlite3Static;
  #disk = new PowerDisk();
  readonly #open = new Map<number, OpenFile>();

  private constructor(sqlite: Sqlite3Static) {
    this.#sqlite = sqlite;
    this.#install();
  }

  static #made: PowerSqlite | undefined;

  static async load(): Promise<PowerSqlite> {
    const sqlite = await loadSqlite();
    return PowerSqlite.#made ??= new PowerSqlite(sqlite);
  }

  /**
   * Opens or creates the store of a disk. The log is copied into the file when it has so many
   * pages.
   */
  open(disk: PowerDisk, synchronous: Synchronous, logPages: number): SqliteStore {
    this.#disk = disk;
    inspect(filesOf(disk), FILE, MIGRATIONS);
    const { oo1 } = this.#sqlite;
    class PowerDb extends oo1.DB {
      constructor(filename: string, flags: string) {
        super({ filename, flags, vfs: VFS });
      }
    }
    const database = new OpfsDatabase(
      this.#sqlite,
      { OpfsSAHPoolDb: PowerDb } as unknown as SAHPoolUtil,
      FILE,
    );
    const fence = { check() {}, held: () => true, release() {} };
    try {
      prepare(database, FILE, synchronous, MIGRATIONS);
      database.exec(`PRAGMA wal_autocheckpoint=${logPages}`);
    } catch (e) {
      database.close();
      throw e;
    }
    return SqliteStore.over({
      ...{ library: VFS, path: FILE, database, fence, synchronous, readOnly: false },
      backup() {
        throw new Error("there is one file");
      },
    });
  }

  #install(): void {
    const { capi, wasm, vfs } = this.#sqlite;
    const structs = capi as unknown as Structs;
    const io = new structs.sqlite3_io_methods();
    const struct = new structs.sqlite3_vfs();
    const standard = new structs.sqlite3_vfs(capi.sqlite3_vfs_find(null as unknown as string));
    struct.$xRandomness = standard.$xRandomness;
    struct.$xSleep = standard.$xSleep;
    standard.dispose();
    io.$iVersion = 1;
    struct.$iVersion = 1;
    struct.$szOsFile = structs.sqlite3_file.structInfo.sizeof;
    struct.$mxPathname = 512;
    const at = (file: unknown) => this.#open.get(Number(file))!;
    const attempt = (failed: number, work: () => number | void): number => {
      try {
        return work() ?? 0;
      } catch (e) {
        if (!(e instanceof PowerFailure)) throw e;
        return failed;
      }
    };
    const ioMethods = {
      xClose: (file: number) => {
        this.#open.delete(Number(file));
        return 0;
      },
      xRead: (file: number, into: number, length: number, from: bigint) =>
        attempt(capi.SQLITE_IOERR_READ, () => {
          const bytes = wasm.heap8u().subarray(Number(into), Number(into) + length);
          const found = this.#disk.read(at(file).name, bytes, Number(from));
          return found < length ? capi.SQLITE_IOERR_SHORT_READ : 0;
        }),
      xWrite: (file: number, from: number, length: number, to: bigint) =>
        attempt(capi.SQLITE_IOERR_WRITE, () => {
          const bytes = wasm.heap8u().slice(Number(from), Number(from) + length) as Uint8Array<
            ArrayBuffer
          >;
          this.#disk.write(at(file).name, bytes, Number(to));
        }),
      xTruncate: (file: number, size: bigint) =>
        attempt(capi.SQLITE_IOERR_TRUNCATE, () => this.#disk.resize(at(file).name, Number(size))),
      xSync: (file: number) =>
        attempt(capi.SQLITE_IOERR_FSYNC, () => {
          const open = at(file);
          this.#disk.sync(open.name);
          if (open.syncsFolder) this.#disk.syncFolder();
          open.syncsFolder = false;
        }),
      xFileSize: (file: number, out: number) => {
        wasm.poke64(out, BigInt(this.#disk.sizeOf(at(file).name)));
        return 0;
      },
      xLock: () => 0,
      xUnlock: () => 0,
      xCheckReservedLock: (_file: number, out: number) => {
        wasm.poke(out, 0, "i32");
        return 0;
      },
      xFileControl: () => capi.SQLITE_NOTFOUND,
      xSectorSize: () => 4096,
      // As SQLite's file system for Unix says of every disk.
      xDeviceCharacteristics: () => capi.SQLITE_IOCAP_POWERSAFE_OVERWRITE,
    };
    const vfsMethods = {
      xOpen: (_vfs: number, zName: number, file: number, flags: number, outFlags: number) =>
        attempt(capi.SQLITE_CANTOPEN, () => {
          const name = wasm.cstrToJs(zName)!;
          const isNew = !this.#disk.exists(name);
          if (isNew && (flags & capi.SQLITE_OPEN_CREATE) === 0) return capi.SQLITE_CANTOPEN;
          this.#disk.create(name);
          const journal = capi.SQLITE_OPEN_MAIN_JOURNAL | capi.SQLITE_OPEN_SUPER_JOURNAL |
            capi.SQLITE_OPEN_WAL;
          this.#open.set(Number(file), { name, syncsFolder: isNew && (flags & journal) !== 0 });
          const opened = new structs.sqlite3_file(file);
          opened.$pMethods = io.pointer;
          opened.dispose();
          wasm.poke(outFlags, flags, "i32");
        }),
      xDelete: (_vfs: number, zName: number, syncsFolder: number) =>
        attempt(capi.SQLITE_IOERR_DELETE, () => {
          const name = wasm.cstrToJs(zName)!;
          if (!this.#disk.exists(name)) return capi.SQLITE_IOERR_DELETE_NOENT;
          this.#disk.remove(name);
          if (syncsFolder) this.#disk.syncFolder();
        }),
      xAccess: (_vfs: number, zName: number, _flags: number, out: number) => {
        wasm.poke(out, this.#disk.exists(wasm.cstrToJs(zName)!) ? 1 : 0, "i32");
        return 0;
      },
      xFullPathname: (_vfs: number, zName: number, length: number, out: number) =>
        wasm.cstrncpy(out, zName, length) < length ? 0 : capi.SQLITE_CANTOPEN,
      xCurrentTime: (_vfs: number, out: number) => {
        wasm.poke(out, 2440587.5 + Date.now() / 864e5, "double");
        return 0;
      },
    };
    vfs.installVfs({
      io: { struct: io as never, methods: ioMethods as never },
      vfs: { struct: struct as never, methods: vfsMethods as never, name: VFS },
    });
  }
}

/** As much of Node's files as looking at a store before its opening takes. */
function filesOf(disk: PowerDisk): Builtins {
  const fs = {
    existsSync: (name: string) => disk.exists(name),
    statSync: (name: string) => ({ size: disk.sizeOf(name) }),
    openSync: () => 0,
    readSync: (_file: number, into: Uint8Array, _offset: number, _length: number, at: number) =>
      disk.read(FILE, into, at),
    closeSync() {},
  };
  return { fs } as unknown as Builtins;
}
