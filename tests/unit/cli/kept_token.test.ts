// runtime: node
// The address of `temporalex ui` with a fixed port: its token is kept in a file that only its owner
// can read.
import assert from "node:assert/strict";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { keptToken } from "../../../ts/cli/page/kept_token.ts";

const SHOP = { where: "/data/shop.sqlite", namespace: "default" };

function inFolder(body: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-token-"));
  try {
    body(join(folder, "ui"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const fileIn = (folder: string): string => {
  const files = readdirSync(folder);
  assert.equal(files.length, 1);
  return join(folder, files[0]!);
};

test("a store keeps its token over restarts, and each store and namespace has a separate token", () =>
  inFolder((folder) => {
    const token = keptToken(folder, SHOP);
    assert.match(token, /^[\w-]{43}$/);
    assert.equal(keptToken(folder, SHOP), token);
    const others = [{ ...SHOP, where: "/data/other.sqlite" }, { ...SHOP, namespace: "orders" }];
    assert.equal(new Set([token, ...others.map((subject) => keptToken(folder, subject))]).size, 3);
  }));

const isWindows = process.platform === "win32" && "files of Windows have no permission bits";

test(
  "only the owner can read the file; one that others can read is replaced",
  { skip: isWindows },
  () =>
    inFolder((folder) => {
      const token = keptToken(folder, SHOP);
      const file = fileIn(folder);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.equal(statSync(folder).mode & 0o777, 0o700);
      chmodSync(file, 0o644);
      const next = keptToken(folder, SHOP);
      assert.notEqual(next, token);
      assert.equal(statSync(fileIn(folder)).mode & 0o777, 0o600);
      assert.equal(keptToken(folder, SHOP), next);
    }),
);

test(
  "a damaged file, and a link in its place, are replaced",
  { skip: isWindows },
  () =>
    inFolder((folder) => {
      const token = keptToken(folder, SHOP);
      const file = fileIn(folder);
      for (const text of ["", "short\n", `${token}`, `${token}\n${token}\n`]) {
        writeFileSync(file, text);
        const next = keptToken(folder, SHOP);
        assert.match(next, /^[\w-]{43}$/);
        assert.notEqual(next, token);
        assert.equal(readFileSync(fileIn(folder), "utf8"), `${next}\n`);
      }
      const aim = join(folder, "..", "aim");
      writeFileSync(aim, `${token}\n`, { mode: 0o600 });
      rmSync(file);
      symlinkSync(aim, file);
      assert.notEqual(keptToken(folder, SHOP), token);
      assert.equal(readFileSync(aim, "utf8"), `${token}\n`);
      assert.ok(statSync(fileIn(folder)).isFile());
    }),
);

test("a folder that cannot be created is reported", () =>
  inFolder((folder) => {
    writeFileSync(folder, "a file");
    assert.throws(() => keptToken(folder, SHOP), /ENOTDIR|EEXIST/);
  }));
