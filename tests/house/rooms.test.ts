// runtime: node
// Rooms import what tools/rooms.json lets them, in one direction, and the portable ones name no
// platform.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

interface Room {
  readonly name: string;
  readonly what: string;
  readonly paths: readonly string[];
  readonly portable?: boolean;
  readonly imports: readonly string[];
  /** Rooms of which it takes types alone. */
  readonly types?: readonly string[];
}
interface Import {
  readonly file: string;
  readonly from?: string;
  readonly to?: string;
  readonly types: boolean;
}
interface Tool {
  readRooms(): Room[];
  importsBetween(rooms: readonly Room[]): Import[];
  importsOfModule(path: string, text: string): { readonly to: string; readonly types: boolean }[];
  importsOfCrate(text: string): { readonly to: string }[];
  code(text: string): string;
  roomOf(rooms: readonly Room[], path: string): Room | undefined;
}

const { readRooms, importsBetween, importsOfModule, importsOfCrate, code, roomOf } = await import(
  pathToFileURL(resolve("tools/rooms.mjs")).href
) as Tool;
const rooms = readRooms();
const imports = importsBetween(rooms);

const walk = (path: string): string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path).flatMap((name) => walk(join(path, name)))
    : [path];
const generated = (path: string) => /(?:^|\/)generated(?:\/|$)/.test(path);

test("every source file belongs to a room", () => {
  assert.deepEqual(imports.filter(({ from }) => from === undefined).map(({ file }) => file), []);
  // lib.rs exports its generated messages under these names; they are not folders.
  const ALIASES = ["core-rs/src/api", "core-rs/src/boundary"];
  const gone = rooms.flatMap(({ paths }) => paths).filter((path) =>
    !existsSync(path) && !ALIASES.includes(path)
  );
  assert.deepEqual(gone, []);
});

test("rooms import only what tools/rooms.json allows", () => {
  const found = imports.filter(({ from, to, types }) => {
    const room = rooms.find(({ name }) => name === from);
    return room !== undefined && !room.imports.includes(to!) &&
      !(types && room.types?.includes(to!));
  });
  const told = found.map(({ file, to, types }) =>
    `${file} imports ${types ? "types of " : ""}${to}`
  );
  assert.deepEqual([...new Set(told)], []);
});

test("every import that tools/rooms.json allows is used by some file of the room", () => {
  const uses = (from: string, to: string, types: boolean) =>
    imports.some((found) => found.from === from && found.to === to && (types || !found.types));
  const idle = rooms.flatMap(({ name, imports, types = [] }) => [
    ...imports.filter((to) => !uses(name, to, false)).map((to) =>
      `${name} imports nothing of ${to}`
    ),
    ...types.filter((to) => !uses(name, to, true)).map((to) => `${name} imports no type of ${to}`),
  ]);
  assert.deepEqual(idle, []);
});

test("a room imports only rooms that precede it in the list, so rooms form no cycle", () => {
  const place = (name: string) => rooms.findIndex((room) => room.name === name);
  const up = rooms.flatMap(({ name, imports, types = [] }) =>
    [...imports, ...types].filter((to) => place(to) < 0 || place(to) >= place(name)).map((to) =>
      `${name} imports ${to}`
    )
  );
  assert.deepEqual(up, []);
});

test("imports are found in all forms", () => {
  const text = `import { a } from "../core/load.mjs";
import type { B } from "../worker/options.mjs";
import {
  type C,
  type D,
} from "../client/mod.mjs";
import { type E, f } from "../codec/codec.mjs";
export * from "../engine/mod.mjs";
import "../browser/mod.mjs";
let g: typeof import("../debug/mod.mjs");
const h = await import("../metrics/mod.mjs");
// import "../otel/mod.mjs";
`;
  const found = importsOfModule(resolve("ts/x/y.ts"), code(text)).map(({ to, types }) =>
    `${to}${types ? " types" : ""}`
  );
  assert.deepEqual(found, [
    ..."ts/core/load.mjs|ts/worker/options.mjs types|ts/client/mod.mjs types|ts/codec/codec.mjs|ts/engine/mod.mjs"
      .split("|"),
    ..."ts/browser/mod.mjs|ts/debug/mod.mjs types|ts/metrics/mod.mjs".split("|"),
  ]);
  const named = importsOfCrate("use crate::wire::read::Reader;\nuse crate::{engine, replay::Run};")
    .map(({ to }) => to);
  assert.deepEqual(named, ["core-rs/src/wire", "core-rs/src/engine", "core-rs/src/replay"]);
});

test("portable rooms do not use platform APIs", () => {
  const PLATFORM =
    /["'](?:node|deno|bun):[^"']*["']|\bDeno\.\w+|\b(?:document|window|localStorage)\.\w+|\bBuffer\.\w+|\brequire\(/g;
  const portable = rooms.filter((room) => room.portable).flatMap((room) =>
    room.paths.flatMap(walk).filter((path) =>
      path.endsWith(".ts") && !generated(path) && roomOf(rooms, path) === room
    )
  );
  assert.ok(portable.length > 100, "the portable rooms are where tools/rooms.json says");
  const found = portable.flatMap((path) =>
    [...code(readFileSync(path, "utf8")).matchAll(PLATFORM)].map((m) => `${path}: ${m[0]}`)
  );
  assert.deepEqual(found, []);
});

test("no file of the product reads files outside the project", () => {
  const files = walk("ts").filter((path) => path.endsWith(".ts") && !generated(path));
  assert.deepEqual(files.filter((path) => /\.\.\/shared\b/.test(readFileSync(path, "utf8"))), []);
});
