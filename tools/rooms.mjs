#!/usr/bin/env node
// The rooms of the code and what each may import: tools/rooms.json holds them,
// tests/house/rooms.test.ts enforces them, and the tables in ARCHITECTURE.md and
// ts/compat/README.md are made from them: `node tools/rooms.mjs --write`.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { readCommandLine } from "./lib/command_line.mjs";
import { root } from "./lib/steps.mjs";

const BEGIN = "<!-- rooms: made by tools/rooms.mjs from tools/rooms.json -->";
/** More names than these are counted: the page has a bound. */
const MANY = 15;
const END = "<!-- end of rooms -->";

const INNER = "compat/";
/**
 * Pages with a table of rooms, and which they show. The rooms inside `compat` have a separate page:
 * ARCHITECTURE.md has a size limit.
 */
export const PAGES = [
  { path: "ARCHITECTURE.md", shows: ({ name }) => !name.startsWith(INNER) },
  { path: "ts/compat/README.md", shows: ({ name }) => name.startsWith(INNER) },
];
export const readRooms = () => JSON.parse(readFileSync(join(root, "tools/rooms.json"), "utf8"));

const walk = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path).flatMap((name) => walk(join(path, name)))
    : /\.(ts|rs)$/.test(path)
    ? [path]
    : [];

/** A source without its comments. */
export const code = (text) => text.replace(/^\s*\/\/.*$/gm, "").replace(/\/\*[\s\S]*?\*\//g, "");

/**
 * The room that a path below the root belongs to: the one with the longest path that leads to it.
 */
export function roomOf(rooms, path) {
  const inside = (place) => path === place || path.startsWith(`${place}/`);
  const longest = (room) => Math.max(...room.paths.filter(inside).map((place) => place.length));
  return rooms.filter((room) => room.paths.some(inside)).sort((a, b) => longest(b) - longest(a))[0];
}

const STATEMENT =
  /(?:^|\n)\s*(?:import|export)(\s+type)?\s+((?:[^"';]*?\sfrom\s+)?)["'](\.[^"']+)["']/g;
const CALL = /(typeof\s+)?import\(\s*["'](\.[^"']+)["']\s*\)/g;

/** Whether `{ type A, type B } from` takes nothing but types. */
function namesTypesAlone(clause) {
  const names = /^\{([\s\S]*)\}\s*from\s+$/.exec(clause.trimStart())?.[1]?.split(",").filter((
    name,
  ) => name.trim() !== "");
  return names !== undefined && names.every((name) => /^\s*type\s/.test(name));
}

/** The paths that a module of TypeScript imports, and whether it takes types alone. */
export function importsOfModule(path, text) {
  const target = (specifier) => relative(root, join(dirname(path), specifier)).split(sep).join("/");
  return [
    ...[...text.matchAll(STATEMENT)].map((m) => ({
      to: target(m[3]),
      types: m[1] !== undefined || namesTypesAlone(m[2]),
    })),
    ...[...text.matchAll(CALL)].map((m) => ({ to: target(m[2]), types: m[1] !== undefined })),
  ];
}

/**
 * The modules that a file of the crate names, from the crate's root: `crate::wire::read`, `use
 * crate::{engine, replay}`.
 */
export const importsOfCrate = (text) =>
  [...text.matchAll(/\bcrate::(?:(\w+)|\{([^}]*)\})/g)]
    .flatMap((m) => m[1] ?? m[2].split(",").map((name) => name.trim().split("::")[0]))
    .map((module) => ({ to: `core-rs/src/${module}`, types: false }));

/**
 * Every import from one room into another: `{ from, to, types, file }`. A file in no room has
 * `from` undefined.
 */
export function importsBetween(rooms) {
  return ["core-rs/src", "ts"].flatMap((folder) => walk(join(root, folder))).flatMap((path) => {
    const file = relative(root, path).split(sep).join("/");
    const from = roomOf(rooms, file)?.name;
    const text = code(readFileSync(path, "utf8"));
    const found = file.endsWith(".rs") ? importsOfCrate(text) : importsOfModule(path, text);
    return [{ file, from, to: from, types: true }].concat(
      found.map(({ to, types }) => ({
        file,
        from,
        to: (roomOf(rooms, to) ?? roomOf(rooms, `${to}.rs`))?.name,
        types,
      })),
    );
  }).filter(({ from, to }) => from === undefined || (to !== undefined && to !== from));
}

/** A table of rooms. Rooms whose types alone are imported are in brackets. */
export function table(rooms) {
  const short = (names) =>
    names.map((name) => name.replace(/^(?:core-rs|executor)\//, "")).join(", ");
  const rows = rooms.map(({ name, what, imports, types = [] }) => {
    const all = [
      imports.length > MANY ? `${imports.length} rooms` : short(imports),
      types.length === 0 ? "" : `(${short(types)})`,
    ].filter((part) => part !== "");
    return `| \`${name}\` | ${what} | ${all.join(", ") || "-"} |`;
  });
  return [BEGIN, "", "| room | what it is | may import |", "|---|---|---|", ...rows, "", END].join(
    "\n",
  );
}

/** A page's text with the table of these rooms. Throws if it has no place for it. */
export function withTable(text, rooms) {
  const from = text.indexOf(BEGIN), to = text.indexOf(END);
  if (from < 0 || to < from) {
    throw new Error(`the page has no place for the table: it begins with ${BEGIN}`);
  }
  return text.slice(0, from) + table(rooms) + text.slice(to + END.length);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = readCommandLine(
    `usage: node tools/rooms.mjs [--write]

Checks that the tables of rooms in ${
      PAGES.map(({ path }) => path).join(" and ")
    } match tools/rooms.json.

--write  write the tables

Example: node tools/rooms.mjs --write
Exit code: 0 the tables match or are written; 1 a table does not match; 2 wrong usage.`,
    { write: { type: "boolean" } },
  );
  for (const { path, shows } of PAGES) {
    const text = readFileSync(join(root, path), "utf8");
    const current = withTable(text, readRooms().filter(shows));
    if (values.write) writeFileSync(join(root, path), current);
    else if (current !== text) {
      console.error(
        `rooms: the table in ${path} does not match tools/rooms.json: run node tools/rooms.mjs --write`,
      );
      process.exit(1);
    }
  }
  console.log("rooms: the tables are current");
}
