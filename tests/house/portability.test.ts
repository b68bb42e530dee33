// runtime: node
// The portable rooms name no platform, and arrows between rooms point one way (ARCHITECTURE.md).
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";

const root = process.cwd();
const walk = (dir: string): string[] =>
  readdirSync(dir).flatMap((name) => {
    const path = join(dir, name);
    return statSync(path).isDirectory() ? (name === "generated" ? [] : walk(path)) : path.endsWith(".ts") ? [path] : [];
  });
const rooms = readdirSync(join(root, "ts")).filter((name) => statSync(join(root, "ts", name)).isDirectory());
const files = rooms.flatMap((room) =>
  walk(join(root, "ts", room)).map((path) => ({ room, path, text: readFileSync(path, "utf8") }))
);
const code = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

const PORTABLE = ["workflow", "executor", "core", "converter", "compat", "debug", "service", "codec", "metrics"];
/** What each room may import, besides itself. Rooms that are not listed may import anything below the command line. */
const MAY_IMPORT: { [room: string]: string[] } = {
  core: ["platform"],
  converter: ["temporal", "platform"],
  service: ["temporal"],
  codec: ["converter", "service", "temporal"],
  executor: ["core", "converter", "platform", "temporal"],
  workflow: ["executor", "converter"],
  compat: ["executor", "core", "converter", "platform", "temporal"],
  debug: ["temporal", "core", "executor", "converter", "codec"],
  platform: ["service"],
  engine: ["core", "service", "temporal", "platform", "converter"],
  client: ["service", "codec", "converter", "temporal", "workflow", "platform", "executor"],
  realm: ["executor", "core", "converter", "platform", "workflow", "temporal", "compat", "service"],
  worker: ["realm", "service", "codec", "converter", "temporal", "executor", "workflow", "platform", "core", "activity"],
  activity: ["converter", "platform", "service"],
  metrics: ["service"],
  gateway: ["converter", "service", "temporal"],
  otel: ["client", "worker", "converter"],
};

test("portable rooms name no platform", () => {
  const found = files.filter((f) => PORTABLE.includes(f.room)).flatMap(({ path, text }) =>
    [
      ...code(text).matchAll(
        /["'](?:node|deno|bun):[^"']*["']|\bDeno\.\w+|\b(?:document|window|localStorage)\.\w+|\bBuffer\.\w+|\brequire\(/g,
      ),
    ]
      .map((m) => `${relative(root, path)}: ${m[0]}`)
  );
  assert.deepEqual(found, []);
});

test("arrows between rooms point one way", () => {
  const found = files.flatMap(({ room, path, text }) => {
    const allowed = MAY_IMPORT[room];
    if (allowed === undefined) return [];
    return [...code(text).matchAll(/(?:from|import)\s*\(?\s*["']((?:\.\.\/)+)([a-z_]+)\//g)]
      .filter((m) => relative(join(root, "ts"), join(path, "..", m[1]!)) === "")
      .map((m) => m[2]!)
      .filter((target) => rooms.includes(target) && target !== room && !allowed.includes(target))
      .map((target) => `${relative(root, path)} imports ${target}`);
  });
  assert.deepEqual(found, []);
});

test("no file of the product reads beside the project", () => {
  const found = files.filter(({ text }) => /\.\.\/shared\b/.test(text)).map((f) => relative(root, f.path));
  assert.deepEqual(found, []);
});
