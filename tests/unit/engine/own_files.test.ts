// Files that the engine creates and reads next to a store: their content, which stay open, and when
// a log counts as truncated.
import assert from "node:assert/strict";
import { chmodSync, existsSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { builtins } from "../../../ts/engine/sqlite/builtins.ts";
import { takeBackCreation } from "../../../ts/engine/sqlite/hot_journal.ts";
import { LogCheck } from "../../../ts/engine/sqlite/log_check.ts";
import { makeFile, modeOf } from "../../../ts/engine/sqlite/own_files.ts";
import { StoreCorruptError, StoreError } from "../../../ts/engine/store_errors.ts";
import { inFolder } from "./support/stores.ts";

const found = builtins()!;

test("a file that cannot be created is an error with its name; an existing file is not changed", () =>
  inFolder((folder) => {
    const path = join(folder, "nowhere", "file");
    assert.throws(
      () => makeFile(found.fs, path),
      (e: Error) => e instanceof StoreError && e.message.startsWith(`cannot create ${path}`),
    );
    const there = join(folder, "there");
    writeFileSync(there, "text");
    assert.equal(makeFile(found.fs, there), false);
    assert.equal(statSync(there).size, 4);
    assert.equal(makeFile(found.fs, join(folder, "new")), true);
    assert.equal(statSync(join(folder, "new")).size, 0);
  }));

test("a missing file has the mode of the engine's own files: its owner alone reads and writes it", () =>
  inFolder((folder) => {
    assert.equal(modeOf(found.fs, join(folder, "missing")), 0o600);
    const there = join(folder, "there");
    writeFileSync(there, "text");
    chmodSync(there, 0o640);
    assert.equal(modeOf(found.fs, there), 0o640);
  }));

test("an interrupted creation is rolled back, and no file stays open", () =>
  inFolder((folder) => {
    const open = new Set<number>();
    const fs = {
      ...found.fs,
      openSync(path: string, flags: string, mode?: number) {
        const file = found.fs.openSync(path, flags, mode);
        open.add(file);
        return file;
      },
      closeSync(file: number) {
        open.delete(file);
        found.fs.closeSync(file);
      },
    };
    const path = join(folder, "store.db");
    const take = (journal: Uint8Array) => {
      writeFileSync(path, "pages that were never committed");
      writeFileSync(`${path}-journal`, journal);
      return takeBackCreation({ ...found, fs }, path);
    };
    // Its beginning, the file's pages before the change at 16.
    const journal = (pages: number) =>
      Uint8Array.of(
        0xd9,
        0xd5,
        0x05,
        0xf9,
        0x20,
        0xa1,
        0x63,
        0xd7,
        ...new Array(8).fill(0),
        0,
        0,
        0,
        pages,
        ...new Array(8).fill(0),
      );
    assert.equal(take(new Uint8Array(28)), false, "a journal that was kept for its mode");
    assert.throws(
      () => take(journal(1)),
      /was interrupted, and node-sqlite3-wasm cannot roll it back/,
    );
    assert.equal(take(journal(0)), true);
    assert.deepEqual([statSync(path).size, existsSync(`${path}-journal`)], [0, false]);
    assert.deepEqual([...open], []);
  }));

test("a log that became shorter is damage, unless its index shows that nothing is missing", () =>
  inFolder((folder) => {
    const PAGE = 4096;
    const path = join(folder, "store.db");
    const index = (frames: number) => {
      const bytes = new Uint8Array(64);
      new Uint32Array(bytes.buffer)[4] = frames;
      // The bytes after the count are not read as part of it.
      bytes[20] = 0xff;
      writeFileSync(`${path}-shm`, bytes);
    };
    const log = new LogCheck(found.fs, path, PAGE);
    log.check();
    log.begin();
    writeFileSync(`${path}-wal`, new Uint8Array(32 + 3 * (PAGE + 24)));
    log.check();
    log.begin();
    truncateSync(`${path}-wal`, 32 + 2 * (PAGE + 24));
    const cut = (e: Error) =>
      e instanceof StoreCorruptError && /-wal was cut from \d+ to \d+ bytes/.test(e.message);
    assert.throws(() => log.check(), cut, "without an index");
    index(3);
    assert.throws(() => log.check(), cut, "the third frame is gone");
    index(2);
    log.check();
    truncateSync(`${path}-wal`, 0);
    assert.throws(() => log.check(), cut);
    index(0);
    log.check();
  }));
