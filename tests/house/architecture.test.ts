// runtime: node
// ARCHITECTURE.md stays short, and what it names is there.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

interface Room {
  readonly name: string;
}
const { PAGES, readRooms, withTable } = await import(
  pathToFileURL(resolve("tools/rooms.mjs")).href
) as {
  PAGES: { path: string; shows(room: Room): boolean }[];
  readRooms(): Room[];
  withTable(text: string, rooms: Room[]): string;
};
const text = readFileSync("ARCHITECTURE.md", "utf8");
const LIMIT = 14 * 1024;

test("ARCHITECTURE.md has at most 14 KB: what does not fit has a page in docs/dev", () => {
  assert.ok(
    Buffer.byteLength(text) <= LIMIT,
    `it has ${Buffer.byteLength(text)} bytes of ${LIMIT}`,
  );
});

test("the tables of rooms are those of tools/rooms.json (node tools/rooms.mjs --write)", () => {
  for (const { path, shows } of PAGES) {
    const page = readFileSync(path, "utf8");
    assert.ok(
      page === withTable(page, readRooms().filter(shows)),
      `the table in ${path} is not current`,
    );
  }
  for (const room of readRooms()) {
    assert.equal(
      PAGES.filter(({ shows }) => shows(room)).length,
      1,
      `${room.name} is in one table`,
    );
  }
});

/**
 * The file or folder that a name means: relative to the root, to a source folder, or to a path
 * named earlier on the same line.
 */
function placeOf(name: string, before: readonly string[]): string | undefined {
  const folders = before.flatMap((path) => [path, dirname(path)]);
  return [".", "ts", "core-rs/src", ...folders].map((folder) => join(folder, name)).find((path) =>
    existsSync(path)
  );
}

/**
 * The names of files in a line that lead nowhere, and names of symbols that the file before them
 * does not have.
 */
function lost(line: string, names: RegExp): string[] {
  const found: string[] = [];
  const before: string[] = [];
  for (const [, name] of line.matchAll(names)) {
    if (/^[\w./-]+(?:\.(?:ts|rs|mjs|json|md)|\/[\w]+)$/.test(name!)) {
      const place = placeOf(name!, before);
      if (place === undefined) found.push(name!);
      else before.push(place);
      continue;
    }
    const file = before.at(-1);
    if (file?.endsWith(".ts") && !readFileSync(file, "utf8").includes(name!)) {
      found.push(`${file} has no ${name}`);
    }
  }
  return found;
}

/** Without the table of rooms, which is made and has names of rooms. */
const tables = text.replace(/^<!-- rooms[\s\S]*?^<!-- end of rooms -->$/m, "").split("\n").filter((
  line,
) => line.startsWith("|"));
const pictures = [...text.matchAll(/^```\n([\s\S]*?)^```$/gm)].flatMap((m) => m[1]!.split("\n"));
const FILE_IN_PICTURE = /([a-z_]+(?:\/[a-z_0-9]+)*\.(?:ts|rs)|\b(?:replay)\/[a-z_]+)\b/g;

test("files and symbols that the tables and pictures name are there", () => {
  const named = tables.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)]);
  assert.ok(
    named.length > 50 && pictures.length > 40,
    "the tables and pictures are where this test looks for them",
  );
  const found = [
    ...tables.flatMap((line) => lost(line, /`([^`]+)`/g)),
    ...pictures.flatMap((line) => lost(line, FILE_IN_PICTURE)),
  ];
  assert.deepEqual(found, []);
});

test("a name that leads nowhere is found", () => {
  assert.deepEqual(
    lost("`ts/executor/scheduler/run_state.ts`, `turns.ts`, `gone.ts`", /`([^`]+)`/g),
    ["gone.ts"],
  );
  assert.deepEqual(
    lost("`ts/executor/primitives/validators.ts` (`judge`), `ts/x.ts`", /`([^`]+)`/g),
    ["ts/x.ts"],
  );
  assert.deepEqual(lost("`ts/executor/primitives/validators.ts` (`acquit`)", /`([^`]+)`/g), [
    "ts/executor/primitives/validators.ts has no acquit",
  ]);
  assert.deepEqual(lost("replay/commands, queue.rs, gone.rs", FILE_IN_PICTURE), ["gone.rs"]);
});
