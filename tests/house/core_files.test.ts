// runtime: node
// Files of the core stand on each other: none imports one that imports it, by whatever way. They
// and their functions are short.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const SRC = "core-rs/src";
const LINES_OF_FILE = 500;
const LINES_OF_FUNCTION = 100;

const walk = (path: string): string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path).flatMap((name) => walk(join(path, name)))
    : [path];
const written = (root: string) =>
  walk(root).filter((path) => path.endsWith(".rs") && !path.startsWith(join(SRC, "proto"))).map((
    path,
  ) => path.replaceAll("\\", "/"));

/**
 * Without comments, strings, and the tests at the end of a file, which import what is above them.
 */
const code = (text: string) =>
  text.replace(/\n#\[cfg\(test\)\]\nmod \w+ \{[\s\S]*$/, "").replace(/^\s*\/\/.*$/gm, "").replace(
    /"(?:\\.|[^"\\])*"/g,
    '""',
  );

/** `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`. */
function paths(tree: string): string[] {
  const open = tree.indexOf("{");
  if (open < 0) return [tree.replace(/\s+as\s+\w+$/, "").trim()];
  const head = tree.slice(0, open).trim();
  const parts: string[] = [""];
  let depth = 0;
  for (const c of tree.slice(open + 1, tree.lastIndexOf("}"))) {
    if (c === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += c;
    depth += c === "{" ? 1 : c === "}" ? -1 : 0;
  }
  return parts.filter((part) => part.trim() !== "").flatMap(paths).map((path) => `${head}${path}`);
}

/**
 * The module that a file is: `engine/state/run.rs` is engine::state::run, `engine/mod.rs` is
 * engine.
 */
const moduleOf = (file: string) =>
  file.slice(SRC.length + 1).replace(/\.rs$/, "").replace(/(?:^|\/)(?:mod|lib)$/, "").split("/")
    .filter((name) => name !== "");

/** The files that a file imports, `files` being all that there are. */
function importsOf(file: string, text: string, files: ReadonlyMap<string, string>): string[] {
  const own = moduleOf(file);
  const source = code(text);
  const named = [...source.matchAll(/\buse\s+([^;]+);/g)].flatMap((m) =>
    paths(m[1]!.replace(/\s+/g, " "))
  );
  const inline = [
    ...source.replace(/\buse\s+[^;]+;/g, "").matchAll(/(?<!\w|::)(?:crate|self|super)(?:::\w+)+/g),
  ].map((m) => m[0]);
  const found = new Set<string>();
  for (const path of [...named, ...inline]) {
    let names = path.split("::").map((name) => name.trim());
    let base = own;
    if (names[0] === "crate") [base, names] = [[], names.slice(1)];
    else if (names[0] === "self") names = names.slice(1);
    while (names[0] === "super") [base, names] = [base.slice(0, -1), names.slice(1)];
    // A name with nothing before it is a crate, or a module below this one.
    const bare = !/^(?:crate|self|super)\b/.test(path);
    for (let n = names.length; n >= (bare ? 1 : 0); n--) {
      const target = files.get([...base, ...names.slice(0, n)].join("::"));
      if (target === undefined) continue;
      if (target !== file) found.add(target);
      break;
    }
  }
  return [...found];
}

/** Groups of files that import each other. */
function circles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>(),
    low = new Map<string, number>(),
    stack: string[] = [],
    out: string[][] = [];
  const visit = (file: string) => {
    index.set(file, index.size);
    low.set(file, index.get(file)!);
    stack.push(file);
    for (const to of imports.get(file) ?? []) {
      if (!index.has(to)) visit(to);
      if (stack.includes(to)) low.set(file, Math.min(low.get(file)!, low.get(to)!));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) out.push(group.sort());
  };
  for (const file of imports.keys()) if (!index.has(file)) visit(file);
  return out;
}

function graph(texts: ReadonlyMap<string, string>) {
  const files = new Map([...texts.keys()].map((file) => [moduleOf(file).join("::"), file]));
  return new Map([...texts].map(([file, text]) => [file, importsOf(file, text, files)]));
}

test("files of the core do not import in a circle", () => {
  const imports = graph(new Map(written(SRC).map((file) => [file, readFileSync(file, "utf8")])));
  assert.ok(imports.size > 100 && [...imports.values()].flat().length > 400, "imports are found");
  assert.deepEqual(circles(imports), []);
});

test("a circle is found whatever the form of its imports", () => {
  const file = (name: string) => `${SRC}/${name}.rs`;
  const texts = new Map([
    [file("x/mod"), "mod a;\nmod b;\nmod c;\npub use a::A;"],
    [file("x/a"), "use super::{b::B as C, d};\nuse std::fmt;"],
    [
      file("x/b"),
      "// use super::x;\nfn b() { crate::x::c::go(); }\n#[cfg(test)]\nmod tests {\n    use super::*;\n}",
    ],
    [file("x/c"), "use crate::{\n    x::A,\n    y,\n};"],
    [file("x/d"), ""],
    [file("y"), 'const S: &str = "crate::x::a";'],
  ]);
  assert.deepEqual(circles(graph(texts)), [["x/a", "x/b", "x/c", "x/mod"].map(file)]);
  texts.set(file("x/c"), "use crate::y;");
  assert.deepEqual(circles(graph(texts)), []);
});

test("a file of the core has at most 500 lines, a function at most 100", () => {
  const long: string[] = [];
  for (
    const file of [...written(SRC), ...written("core-rs/tests"), ...written("tools/gen_proto/src")]
  ) {
    const lines = readFileSync(file, "utf8").split("\n");
    if (lines.length - 1 > LINES_OF_FILE) long.push(`${file}: ${lines.length - 1} lines`);
    lines.forEach((line, i) => {
      const [, indent, name] = /^( *)(?:pub(?:\([\w: ]+\))? )?(?:const )?fn (\w+)/.exec(line) ?? [];
      if (name === undefined || /[;}]$/.test(line)) return;
      const length = lines.indexOf(`${indent}}`, i) - i + 1;
      if (length > LINES_OF_FUNCTION) long.push(`${file}:${i + 1}: ${name} has ${length} lines`);
    });
  }
  assert.deepEqual(long, []);
});
