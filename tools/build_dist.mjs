#!/usr/bin/env node
// Strips the types of ts/, tests/, examples/ and bench/ into dist/ (same tree, .js), so that Node
// 20 can run them. Pure JavaScript on purpose: `npm start` must work after `npm ci
// --omit=optional`, where no compiler binary is installed. Types are checked by tsc in `npm test`.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "sucrase";
import { readCommandLine } from "./lib/command_line.mjs";
import { bytesOf, HALVES, textOf } from "./lib/halves.mjs";
import { bundleFiles, bundleRealm } from "./lib/realm_bundle.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const SOURCES = ["ts", "tests", "examples", "bench", "tools/soak"];
const out = join(root, "dist");
/**
 * What deno.json maps to a package, as Node finds it: "@std/async/delay" is
 * "deno-std/async/delay.js".
 */
const map = join(root, "deno.json");
const MAPPED = new Map(
  Object.entries(JSON.parse(readFileSync(map, "utf8")).imports)
    .flatMap(([name, target]) =>
      target.startsWith("npm:") ? [[name, target.replace(/^npm:([^@/]+)@[^/]+/, "$1")]] : []
    ),
);
const OF_MAP = new RegExp(`(\\bfrom\\s*)"(${[...MAPPED.keys()].join("|")})"`, "g");

/** The specifier in dist of one of this project's .ts files. */
const RELATIVE = /((?:from|import)\s*\(?\s*["'])(\.{1,2}\/[^"']+)\.ts(["'])/g;

function* walk(dir) {
  for (const name of readdirSync(dir)) {
    if (name === "node_modules") continue;
    const path = join(dir, name);
    // A manifest in dist would end the reach of the package's own name.
    if (relative(root, dir) === "tests/system/interop" && /^package(-lock)?\.json$/.test(name)) {
      continue;
    }
    if (statSync(path).isDirectory()) yield* walk(path);
    else yield path;
  }
}

/**
 * The halves of the core as separate files, for pages that fetch them ("temporalex/worker.wasm",
 * "temporalex/engine.wasm").
 */
function coreFiles(wanted) {
  let written = 0;
  for (const half of Object.keys(HALVES)) {
    const target = join(out, `ts/core/${half}.wasm`);
    wanted.add(target);
    if (existsSync(target) && statSync(target).mtimeMs >= statSync(textOf(root, half)).mtimeMs) {
      continue;
    }
    writeFileSync(target, bytesOf(root, half));
    written++;
  }
  return written;
}

export function buildDist() {
  const wanted = new Set();
  let written = 0;
  for (const source of SOURCES) {
    if (!existsSync(join(root, source))) continue;
    for (const file of walk(join(root, source))) {
      const rel = relative(root, file);
      const isTs = file.endsWith(".ts") && !file.endsWith(".d.ts");
      if (!isTs && !/\.(js|mjs|d\.ts|json|bin)$/.test(file)) continue;
      const target = join(out, isTs ? rel.replace(/\.ts$/, ".js") : rel);
      wanted.add(target);
      const changed = Math.max(statSync(file).mtimeMs, isTs ? statSync(map).mtimeMs : 0);
      if (existsSync(target) && statSync(target).mtimeMs >= changed) continue;
      mkdirSync(dirname(target), { recursive: true });
      if (isTs) {
        const { code } = transform(readFileSync(file, "utf8"), {
          transforms: ["typescript"],
          disableESTransforms: true,
          keepUnusedImports: false,
          filePath: rel,
        });
        writeFileSync(
          target,
          code.replace(RELATIVE, "$1$2.js$3").replace(
            OF_MAP,
            (_, from, name) => `${from}"${MAPPED.get(name)}"`,
          ).replace(
            /(new URL\(\s*["']\.{1,2}\/[^"']+)\.ts(["'])/g,
            "$1.js$2",
          ),
        );
      } else writeFileSync(target, readFileSync(file));
      written++;
    }
  }
  written += coreFiles(wanted);
  for (const file of bundleFiles(out)) wanted.add(file);
  written += bundleRealm(out, written > 0);
  // Files whose source is gone must not linger: tests would still run them.
  if (existsSync(out)) { for (const file of walk(out)) if (!wanted.has(file)) rmSync(file); }
  return written;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  readCommandLine(
    "usage: node tools/build_dist.mjs\n\nBuilds dist/ from the TypeScript sources (types stripped, not checked).",
  );
  console.log(`dist: ${buildDist()} files written`);
}
