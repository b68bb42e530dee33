// node-sqlite3-wasm: SQLite in WebAssembly on Node's file system. `get` leaves its statement open
// (so `all` is used), a failed statement rejects its next use once (so it is prepared again), and
// closing a database does not finalize its statements (so they are tracked). Log and journal are
// created with the umask's mode, not the database's, so each is made beforehand.
import type { Builtins, FileSystem } from "../builtins.ts";
import {
  type SqlDatabase,
  type SqlLibrary,
  type SqlRow,
  type SqlStatement,
  type SqlValue,
  withoutNul,
} from "../driver.ts";
import { makeFile, modeOf, readAt } from "../own_files.ts";

interface WasmStatement {
  run(params: readonly SqlValue[]): { changes: number };
  all(params: readonly SqlValue[]): SqlRow[];
  iterate(params: readonly SqlValue[]): Iterable<SqlRow>;
  finalize(): void;
}
interface WasmDatabase {
  exec(sql: string): void;
  prepare(sql: string): WasmStatement;
  close(): void;
}

export function wasmLibrary(builtins: Builtins): SqlLibrary | undefined {
  let Database: new (path: string) => WasmDatabase;
  try {
    ({ Database } = builtins.module.createRequire(import.meta.url)("node-sqlite3-wasm") as {
      Database: typeof Database;
    });
  } catch {
    return undefined;
  }
  return {
    name: "node-sqlite3-wasm",
    nativeLocks: false,
    open: (path) => new WasmSqlDatabase(builtins.fs, path, (at) => new Database(at)),
  };
}

/** Whether the header of the database selects a write-ahead log. */
function usesLog(fs: FileSystem, path: string): boolean {
  const header = new Uint8Array(20);
  if (fs.existsSync(path)) readAt(fs, path, header);
  return header[18] === 2 && header[19] === 2;
}

class WasmSqlDatabase implements SqlDatabase {
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #database: WasmDatabase;
  readonly #open = new Set<WasmStatement>();

  constructor(fs: FileSystem, path: string, open: (path: string) => WasmDatabase) {
    this.#fs = fs;
    this.#path = path;
    const logged = usesLog(fs, path);
    this.#make(logged ? "-wal" : "-journal");
    this.#database = open(path);
    // Without shared memory a WAL needs the exclusive mode; the fence excludes other processes.
    this.#database.exec("PRAGMA locking_mode=EXCLUSIVE");
    if (!logged) this.#database.exec("PRAGMA journal_mode=TRUNCATE");
  }

  #make(what: "-wal" | "-journal"): void {
    makeFile(this.#fs, `${this.#path}${what}`, modeOf(this.#fs, this.#path));
  }

  beforeLog(): void {
    this.#make("-wal");
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  prepare(sql: string): SqlStatement {
    let statement: WasmStatement | undefined;
    const use = <T>(call: (statement: WasmStatement) => T): T => {
      if (statement === undefined) this.#open.add(statement = this.#database.prepare(sql));
      try {
        return call(statement);
      } catch (e) {
        this.#finalize(statement);
        statement = undefined;
        throw e;
      }
    };
    // Errors in the SQL itself surface here, as with the other drivers.
    this.#open.add(statement = this.#database.prepare(sql));
    return {
      run: (params) => use((s) => s.run(withoutNul(params)).changes),
      get: (params) => use((s) => s.all(withoutNul(params))[0]),
      all: (params) => use((s) => s.all(withoutNul(params))),
      iterate: (params) => use((s) => s.iterate(withoutNul(params))),
      close: () => {
        if (statement !== undefined) this.#finalize(statement);
        statement = undefined;
      },
    };
  }

  #finalize(statement: WasmStatement): void {
    this.#open.delete(statement);
    try {
      statement.finalize();
    } catch {
      // Reports the statement's error again; the memory is free.
    }
  }

  close(): void {
    for (const statement of this.#open) this.#finalize(statement);
    this.#database.close();
    // Removes the empty journal, which was kept only for its mode.
    const journal = `${this.#path}-journal`;
    if (this.#fs.existsSync(journal) && this.#fs.statSync(journal).size === 0) {
      this.#fs.rmSync(journal, { force: true });
    }
  }
}
