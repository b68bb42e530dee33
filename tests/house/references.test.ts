// runtime: node
// References between code, tests and documents resolve, and none leads out of the repository. A
// rule is cited as docs/dev/semantics/<file>.md#<anchor>; a promise as P1 to P10, which
// docs/guarantees.md defines.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { test } from "node:test";

const root = process.cwd();
const FOLDERS = ["bench", "core-rs", "docs", "examples", "tests", "tools", "ts", "web-demo"];
const SKIPPED = new Set(["node_modules", "target", "dist", "generated", "api", "lock", ".build"]);
/** Temporal's own definitions, whose comments name documents of Temporal's. */
const FOREIGN = /^core-rs\/proto\/(?!temporalex\/)/;
const TEXT = /\.(ts|mjs|js|rs|md|proto|tsx|html)$/;

interface File {
  readonly path: string;
  readonly text: string;
}

function walk(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return SKIPPED.has(name) ? [] : walk(path);
    return TEXT.test(name) ? [path] : [];
  });
}

const files: File[] = [
  ...FOLDERS.filter((name) => existsSync(join(root, name))).flatMap((name) =>
    walk(join(root, name))
  ),
  ...readdirSync(root).filter((name) => name.endsWith(".md")).map((name) => join(root, name)),
].map((path) => ({ path: relative(root, path), text: readFileSync(path, "utf8") }))
  .filter(({ path }) => !FOREIGN.test(path) && path !== "tests/house/references.test.ts");
const documents = files.filter(({ path }) => path.endsWith(".md"));

/** The anchor that a heading gets: lower case, punctuation dropped, a hyphen for each space. */
function slug(heading: string): string {
  return heading.toLowerCase().replace(/`/g, "").replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(
    /\s/g,
    "-",
  );
}

/** A document without its fenced blocks. */
const prose = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, "");

const anchors = new Map<string, Set<string>>(documents.map(({ path, text }) => {
  const found = [...prose(text).matchAll(/^#+ (.*)$/gm)].map((m) => slug(m[1]!));
  const named = [...text.matchAll(/<a id="([^"]+)"/g)].map((m) => m[1]!);
  return [path, new Set([...found, ...named])];
}));

/** Why a reference does not resolve; undefined if it does. */
function broken(path: string, anchor: string | undefined): string | undefined {
  if (!existsSync(join(root, path))) return `${path} does not exist`;
  if (anchor === undefined || !path.endsWith(".md")) return undefined;
  return anchors.get(path)?.has(anchor) === true ? undefined : `${path} has no anchor #${anchor}`;
}

test("anchors of a document are distinct", () => {
  const twice = documents.flatMap(({ path, text }) => {
    const found = [...prose(text).matchAll(/^#+ (.*)$/gm)].map((m) => slug(m[1]!));
    return found.filter((name, i) => found.indexOf(name) !== i).map((name) => `${path}#${name}`);
  });
  assert.deepEqual(twice.filter((name) => name.startsWith("docs/dev/")), []);
});

test("references to documents and their anchors resolve", () => {
  const found = files.flatMap(({ path, text }) =>
    [...text.matchAll(/(?<![\w/.-])(docs\/[\w./-]+\.md)(?:#([\w-]+))?/g)]
      .map((m) => broken(m[1]!, m[2]))
      .filter((why) => why !== undefined)
      .map((why) => `${path}: ${why}`)
  );
  assert.deepEqual(found, []);
});

test("links between documents resolve, with their anchors", () => {
  const found = documents.flatMap(({ path, text }) =>
    [...prose(text).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([\w-]+))?\)/g)]
      .map((m) => broken(m[1] === "" ? path : normalize(join(dirname(path), m[1]!)), m[2]))
      .filter((why) => why !== undefined)
      .map((why) => `${path}: ${why}`)
  );
  assert.deepEqual(found, []);
});

test("files named in the contributor pages exist", () => {
  const pages = documents.filter(({ path }) => /^(?:docs\/dev\/|ts\/|ARCHITECTURE)/.test(path));
  const whole = (name: string) =>
    /^(?:core-rs|ts|tests|tools|bench|docs|web-demo|examples)\//.test(name);
  const there = (name: string) =>
    whole(name)
      ? existsSync(join(root, name))
      : files.some(({ path }) => path.endsWith(`/${name}`));
  const found = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/`([\w./-]+\.(?:tsx?|rs|mjs|proto|txt))`/g)]
      .filter((m) => !there(m[1]!))
      .map((m) => `${path}: ${m[1]}`)
  );
  assert.deepEqual(found, []);
});

test("no reference leads to a document outside the repository", () => {
  const OUTSIDE =
    /core-spec|design seam|\bdesign\.md|\bhead note\b|\b(?:compat|server|house)-reading\b|\bapi-sketch\b|\bthe seed's (?:table|text|engine)/gi;
  const found = files.flatMap(({ path, text }) =>
    [...text.matchAll(OUTSIDE)].map((m) => `${path}: ${m[0]}`)
  );
  // Tests and tools may use fixtures next to the checkout; they are skipped by name where the
  // fixtures are missing.
  const sharedUses = files.filter(({ path, text }) =>
    text.includes("../shared") && !/^(?:(?:core-rs\/)?tests|tools|web-demo\/e2e)\//.test(path)
  );
  assert.deepEqual([...found, ...sharedUses.map(({ path }) => `${path}: ../shared`)], []);
});

test("rules and cases are cited by name and not by number", () => {
  const NUMBERED =
    /\(#\d+\)|["'`]#\d+ \w|\b[Rr]ules? #?\d+|\b[Rr]ow #?\d+ of|\bfn cases?_\d+|\/\/.*\bcases? \d+[a-z]?\b(?![:;])/g;
  const code = files.filter(({ path }) => /\.(ts|rs|mjs)$/.test(path));
  const found = code.flatMap(({ path, text }) =>
    [...text.matchAll(NUMBERED)].map((m) => `${path}: ${m[0]}`)
  );
  assert.deepEqual(found, []);
});

test("a document is cited by its anchors and not by numbers of sections", () => {
  const found = files.flatMap(({ path, text }) =>
    [...text.matchAll(/ARCHITECTURE(?:\.md)?\)?,? section \d+/g)].map((m) => `${path}: ${m[0]}`)
  );
  assert.deepEqual(found, []);
});

test("cited promises exist in docs/guarantees.md", () => {
  const table = documents.find(({ path }) => path === join("docs", "guarantees.md"))!.text;
  const defined = new Set([...table.matchAll(/^\| (P\d+) \|/gm)].map((m) => m[1]!));
  assert.ok(defined.size >= 10, "docs/guarantees.md has no table of promises");
  const found = files.flatMap(({ path, text }) =>
    [...text.matchAll(/\bP\d{1,2}\b(?!-)/g)]
      .filter((m) => !defined.has(m[0]))
      .map((m) => `${path}: ${m[0]}`)
  );
  assert.deepEqual(found, []);
});

/**
 * What is wrong with the tests that a document names (`Tests: [file](address) "name", ...`), and
 * how many there are.
 */
function namedTests(
  { path, text }: File,
): { readonly found: readonly string[]; readonly named: number } {
  const found: string[] = [];
  let named = 0;
  // A list continues to the end of its paragraph.
  for (const [, list] of text.matchAll(/^Tests: ([\s\S]*?)(?:\n\n|\s*(?![\s\S]))/gm)) {
    // One file and the names that follow it, up to the next file.
    for (const [, link, names] of list!.matchAll(/\[[^\]]*\]\(([^)]*)\)([^[]*)/g)) {
      const file = normalize(join(dirname(path), link!));
      const source = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
      if (source === "") found.push(`${path}: ${file} does not exist`);
      const plain = source.replace(/\s+/g, " ");
      const wanted = [...names!.replace(/\s+/g, " ").matchAll(/"([^"]+)"|`([^`]+)`/g)].map((m) =>
        m[1] ?? m[2]!
      );
      if (wanted.length === 0) found.push(`${path}: no test of ${file} is named`);
      named += wanted.length;
      for (const name of wanted) {
        if (!plain.includes(name)) found.push(`${path}: ${file} has no test ${name}`);
      }
    }
  }
  return { found, named };
}

test("each rule names tests, and each test that is named exists", () => {
  const RULES = join("docs", "dev", "semantics");
  const rules = documents.filter(({ path }) => path.startsWith(RULES));
  assert.ok(
    rules.length > 10,
    "the semantics have moved: this test looks for them in docs/dev/semantics",
  );
  const all = rules.map(namedTests);
  assert.deepEqual(all.flatMap(({ found }) => found), []);
  const named = all.reduce((sum, { named }) => sum + named, 0);
  assert.ok(
    named > 200,
    `only ${named} tests are named: the list of tests under a rule is not read`,
  );
});

test("each implemented row of the debugger's table has tests that exist", () => {
  const page = documents.find(({ path }) => path === join("docs", "dev", "debugger-table.md"))!;
  assert.deepEqual(namedTests(page).found, []);
  const rows = [...page.text.matchAll(/^\| (D\d+) \|[^|]*\| (yes|partly|no)\b/gm)].map((m) => ({
    row: m[1]!,
    is: m[2]!,
  }));
  assert.deepEqual(rows.map(({ row }) => row), Array.from({ length: 28 }, (_, i) => `D${i + 1}`));
  const proven = new Set([...page.text.matchAll(/^(D\d+)\nTests: /gm)].map((m) => m[1]!));
  assert.deepEqual(rows.filter(({ row, is }) => (is !== "no") !== proven.has(row)), []);
});
