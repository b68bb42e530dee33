#!/usr/bin/env node
// Makes the package that is published: .build/package (and a tarball of it). The checkout's own
// package.json serves development; this tool derives the published one from it, so that subpaths,
// dependencies and the version are written once.
//
// Content of the package, and the reasons: - JavaScript in chunks (esbuild, not minified), for
// bundlers; and again in few files with the libraries in them, for Node and Deno
//   (lib/node_build.mjs says why). Chunks are called `_temporalex_HASH.js`; ts/platform/own_code.ts
//   knows the package's own frames and files by that name.
// - What both builds need alike, once (lib/shared_files.mjs).
// - Declarations file by file from tsc, as far as the public entries reach. No source maps: the
//   code is readable as it is, and they would double the package.
// - The debugger's page, in one compressed file (lib/page_archive.mjs).
// - worker.wasm and engine.wasm, for pages that fetch the core from their own origin instead of
//   decoding it from text.
// - Licence, notices of what is compiled in, README, changes, and the pages of docs/. Links between
//   them hold; those that lead to other files of the repository are text, as it has no address yet.
//   Nothing else.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { readCommandLine } from "./lib/command_line.mjs";
import { bytesOf, HALVES } from "./lib/halves.mjs";
import { nodeBuild } from "./lib/node_build.mjs";
import { pageArchive } from "./lib/page_archive.mjs";
import { isShared, linkShared, sharedForEsbuild, writeShared } from "./lib/shared_files.mjs";
import { bin, emptied, root } from "./lib/steps.mjs";

/**
 * Files that workers start from, given by ownFile() or `new URL("./file.ts", import.meta.url)`;
 * they are not subpaths.
 */
const WORKERS = [
  "realm/worker_entry",
  "worker/activities/activity_thread",
  "browser/engine_worker",
];
/**
 * Further files that are not subpaths: Node's module hooks, and modules that package.json's
 * `browser` removes from pages.
 */
const FILES = [
  "cli/modules/ts_hooks",
  "cli/modules/official_activities",
  "compat/testing/assert_to_failure_interceptor",
  "compat/register/resolve_hooks",
  "app/serve_store",
  "app/sql/query_file",
  "app/sql/query_child",
];
/** Used only by pages: these have no build for Node. */
const ofPages = (name) => name.startsWith("browser/");
/** What only Node and Deno use, or the tools that bundle for others: there is one build of it. */
const ofProcesses = (name) =>
  /^(?:gateway|compat\/(?:client|envconfig|plugin|proto|register|testing|worker))\//.test(name) ||
  name === "compat/common/host" ||
  name === "app/sql/query_child" ||
  name.startsWith("cli/");
const CHUNK = /^_temporalex_\w+\.js$/;
const TEXTS = [
  ...["LICENSE", "README.md", "CHANGES.md", "THIRD_PARTY_NOTICES.md"],
  ...readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")).map((name) =>
    `docs/${name}`
  ),
];

const HELP = `usage: node tools/pack.mjs [--out FOLDER] [--no-tarball] [--no-page] [--json]

Writes the npm package to FOLDER (default .build/package) and its tarball next to it. To publish: npm publish FOLDER.
Needs the development packages esbuild and typescript.

--no-tarball  write only the folder
--no-page     leave out the debugger's page, half of the time: for tests that do not open it
--json        print the result as JSON`;

/**
 * Subpaths and programs of package.json as paths of sources without extension: { ".": "mod",
 * "./client": "client/mod" }.
 */
function sourcesOf(manifest) {
  const source = (target) => {
    const name = /^\.\/dist\/ts\/(.+)\.js$/.exec(target)?.[1];
    if (name === undefined || !existsSync(join(root, "ts", `${name}.ts`))) {
      throw new Error(`package.json names ${target}, and ts/ has no source for it`);
    }
    return name;
  };
  const modules = (entries) =>
    Object.entries(entries ?? {}).filter(([, target]) => target.endsWith(".js"));
  const map = (entries) =>
    Object.fromEntries(modules(entries).map(([key, target]) => [key, source(target)]));
  const files = Object.entries(manifest.exports).filter(([, target]) => !target.endsWith(".js"))
    .map(([key, target]) => [key, target.replace("./dist/ts/", "")]);
  const [plain, built] = [true, false].map((of) =>
    Object.fromEntries(files.filter(([, file]) => file.startsWith("./") === of))
  );
  return { exports: map(manifest.exports), files: built, plain, bin: map(manifest.bin) };
}

async function javascript(names, out) {
  const { build } = await import("esbuild");
  const result = await build({
    entryPoints: Object.fromEntries(names.map((name) => [name, join(root, "ts", `${name}.ts`)])),
    absWorkingDir: root,
    outdir: out,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    packages: "external",
    plugins: [sharedForEsbuild],
    chunkNames: "_temporalex_[hash]",
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  if (result.warnings.length > 0) throw new Error("esbuild warned; see above");
  const outputs = Object.entries(result.metafile.outputs);
  for (const [output] of outputs) relink(join(root, output), out);
  // Two copies of a module would be two copies of its state.
  const seen = new Map();
  for (const [output, { inputs }] of outputs) {
    for (const input of Object.keys(inputs)) {
      if (seen.has(input)) throw new Error(`${input} is in ${seen.get(input)} and in ${output}`);
      seen.set(input, output);
    }
  }
  const own = seen.get("ts/platform/own_code.ts");
  if (own === undefined || dirname(join(root, own)) !== out || !CHUNK.test(posix.basename(own))) {
    throw new Error(
      `ts/platform/own_code.ts went to ${own}: it knows its place by the name of its chunk`,
    );
  }
  return new Set(
    outputs.flatMap(([, { imports }]) =>
      imports.filter((i) => i.external && !isShared(i.path)).map((i) => i.path)
    ),
  );
}

/**
 * Files that code names next to its source are next to the chunk that contains the code. Bundlers
 * follow this form.
 */
function relink(file, out) {
  const text = readFileSync(file, "utf8");
  const linked = text.replace(
    /new URL\("(\.[^"]+)\.ts", import\.meta\.url\)/g,
    (form, path, at) => {
      // esbuild says before each module's code where it is from.
      const source = [...text.slice(0, at).matchAll(/^\/\/ ts\/(\S+)\.ts$/gm)].at(-1)?.[1];
      const target = posix.join(posix.dirname(source ?? ""), path);
      // (Messages give examples of this form.)
      if (!existsSync(join(root, "ts", `${target}.ts`))) return form;
      if (!existsSync(join(out, `${target}.js`))) {
        throw new Error(
          `ts/${source}.ts names ${path}.ts, which is not in the package`,
        );
      }
      const from = relative(dirname(file), join(out, `${target}.js`)).replaceAll("\\", "/");
      return `new URL("${from.startsWith(".") ? from : `./${from}`}", import.meta.url)`;
    },
  );
  if (linked !== text) writeFileSync(file, linked);
}

/**
 * The fields of Temporal's messages are documented in its API; here their documentation would be
 * half of the bytes.
 */
const withoutDocstrings = (text) => text.replace(/^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm, "");

function declarations(names, out) {
  const tsc = bin("tsc");
  if (tsc === undefined) throw new Error("typescript is not installed: run npm ci");
  const work = join(root, ".build/types");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const config = join(work, "tsconfig.json");
  const options = {
    extends: "../../tsconfig.json",
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      // `npm run check` and the suite `types` check the sources; here that is most of the time.
      noCheck: true,
      rootDir: "../../ts",
      outDir: "out",
    },
    files: names.map((name) => `../../ts/${name}.ts`),
    include: [],
  };
  writeFileSync(config, JSON.stringify(options));
  const { status, stdout } = spawnSync(tsc, ["-p", config], { encoding: "utf8" });
  if (status !== 0) throw new Error(`tsc failed:\n${stdout}`);
  // What the entries reach, and nothing else.
  const packages = new Set();
  const queue = names.map((name) => `${name}.d.ts`);
  for (const file of queue) {
    // Generated JavaScript has separate declarations.
    const text = readFileSync(
      [join(work, "out", file), join(root, "ts", file)].find((path) => existsSync(path)) ?? file,
      "utf8",
    );
    // Comments are matched first, because examples in them import too.
    const specifiers = /\/\*[\s\S]*?\*\/|\/\/.*|(\bfrom "|\bimport(?:\(| )")([^"\s]+)(")(?=[;)])/g;
    const rewritten = text.replace(specifiers, (whole, before, specifier, after) => {
      if (specifier === undefined) return whole;
      if (!specifier.startsWith(".")) {
        // A user who compiles against the package, for a browser perhaps, need not have Node's
        // types.
        if (specifier.startsWith("node:")) {
          throw new Error(`the public types reach ${file}, which names types of ${specifier}`);
        }
        packages.add(specifier);
        return before + specifier + after;
      }
      const target = posix.join(posix.dirname(file), specifier.replace(/\.[jt]s$/, ".d.ts"));
      if (!queue.includes(target)) queue.push(target);
      return before + specifier.replace(/\.ts$/, ".js") + after;
    });
    mkdirSync(dirname(join(out, file)), { recursive: true });
    // For programs whose `lib` is older than these names and that check declarations, too.
    const lib = /\bSymbol\.(?:asyncDispose|dispose)\b/.test(rewritten)
      ? '/// <reference lib="esnext.disposable" />\n'
      : "";
    writeFileSync(
      join(out, file),
      lib + (file.startsWith("messages/generated/") ? withoutDocstrings(rewritten) : rewritten),
    );
  }
  return packages;
}

/** A half of the core as a file, from the text in which it is committed. */
function coreFile(file, out) {
  const half = Object.keys(HALVES).find((name) => file === `core/${name}.wasm`);
  if (half === undefined) {
    throw new Error(`package.json exports the file ${file}, which this tool cannot make`);
  }
  const bytes = bytesOf(root, half);
  if (!WebAssembly.validate(bytes)) {
    throw new Error(`ts/core/generated/${half}_wasm.ts holds no valid module`);
  }
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, bytes);
}

/**
 * A text as it is in the package: links to what is not in it are their words alone, pictures are
 * left out. Code is left as it is.
 */
function packedText(file) {
  const text = readFileSync(join(root, file), "utf8");
  if (!file.endsWith(".md")) return text;
  return text.replace(
    /^```[\s\S]*?^```|^!\[[^\]]*\]\([^)\s]+\)\n\n|\[([^\]]*)\]\(([^)\s]+)\)/gm,
    (whole, words, link) => {
      if (whole.startsWith("!")) return "";
      if (link === undefined || /^(?:[a-z]+:|#)/.test(link)) return whole;
      const target = posix.join(posix.dirname(file), link.split("#")[0]);
      return TEXTS.includes(target) ? whole : words;
    },
  );
}

const packageOf = (specifier) => /^(@[^/]+\/[^/]+|[^/@][^/]*)/.exec(specifier)?.[1] ?? specifier;

/** The published manifest. Its dependencies are those that the package really imports. */
function publishedManifest(manifest, { exports, files, plain, bin: programs }, imported, typed) {
  const used = new Set(
    [...imported, ...typed].filter((s) => !s.startsWith("node:")).map(packageOf),
  );
  const declared = {
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  };
  // A module of workflow code names this package, as workflow code does: its realm knows the name.
  used.delete(manifest.name);
  const unknown = [...used].filter((name) => !(name in declared));
  if (unknown.length > 0) {
    throw new Error(
      `the package imports ${unknown.join(", ")}, which package.json does not list as dependencies`,
    );
  }
  // The SQLite libraries are asked for by require(), which no bundler sees.
  const asked = ["libsql", "node-sqlite3-wasm"];
  // The pinned version or a compatible newer one, so that an application has one copy of a library
  // that it uses too. (A pin of a preview, like 1.2.3-build1, stays one: what follows it need not
  // fit.)
  const keep = (entries) =>
    Object.fromEntries(
      Object.entries(entries ?? {}).filter(([name]) => used.has(name) || asked.includes(name))
        .map(([name, pin]) => [name, pin.includes("-") ? pin : `^${pin}`]),
    );
  const { name, version, description, keywords, license, engines, type, repository } = manifest;
  return {
    name,
    version,
    description,
    keywords,
    license,
    repository,
    type,
    engines,
    // Entries of workers and programs do something when they are imported; all other modules only
    // define.
    sideEffects: [
      ...WORKERS.map((source) => `./dist/${source}.js`),
      ...[...WORKERS, ...Object.values(programs)].filter((source) => !ofPages(source)).map((
        source,
      ) => `./dist/node/${source}.js`),
    ],
    exports: {
      ...Object.fromEntries(
        Object.entries(exports).map(([key, source]) => [
          key,
          {
            types: `./dist/${source}.d.ts`,
            ...(ofPages(source) || ofProcesses(source) ? {} : { node: `./dist/node/${source}.js` }),
            default: `./dist/${ofProcesses(source) ? "node/" : ""}${source}.js`,
          },
        ]),
      ),
      ...Object.fromEntries(Object.entries(files).map(([key, file]) => [key, `./dist/${file}`])),
      ...plain,
      "./package.json": "./package.json",
    },
    browser: Object.fromEntries(
      FILES.map((name) => [`./dist/ts/${name}.js`, `./dist/${name}.js`])
        .filter(([key]) => key in manifest.browser).map((
          [key, file],
        ) => [file, manifest.browser[key]]),
    ),
    bin: Object.fromEntries(
      Object.entries(programs).map(([key, source]) => [key, `dist/node/${source}.js`]),
    ),
    files: [
      "dist",
      "docs",
      ...Object.values(plain).map((file) => file.slice(2)),
      ...TEXTS.filter((file) => !/^(?:LICENSE|README|docs\/)/.test(file)),
    ],
    dependencies: keep(manifest.dependencies),
    optionalDependencies: keep(manifest.optionalDependencies),
    peerDependencies: manifest.peerDependencies,
    peerDependenciesMeta: manifest.peerDependenciesMeta,
    publishConfig: { access: "public", provenance: true },
  };
}

const walk = (dir) =>
  readdirSync(dir).flatMap((
    n,
  ) => (statSync(join(dir, n)).isDirectory() ? walk(join(dir, n)) : [join(dir, n)]));

/**
 * The manifest of a package in a folder; undefined for a checkout, which is private, and for
 * anything else.
 */
function publishedFrom(folder) {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return manifest.private ? undefined : manifest;
  } catch {
    return undefined;
  }
}

/** Makes the package; where it lies, its tarball and its size. */
export async function pack(
  { out = join(root, ".build/package"), tarball = true, page = true } = {},
) {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const sources = sourcesOf(manifest);
  const dist = join(out, "dist");
  emptied(
    out,
    (folder) => existsSync(join(folder, "dist")) && publishedFrom(folder)?.name === manifest.name,
  );
  mkdirSync(dist);
  const subpaths = [...new Set(Object.values(sources.exports))];
  const neutral = [...new Set([...subpaths, ...WORKERS, ...FILES])].filter((name) =>
    !ofProcesses(name)
  );
  const imported = await javascript(neutral, dist);
  const forNode = [...new Set([...subpaths, ...Object.values(sources.bin), ...WORKERS, ...FILES])]
    .filter((name) => !ofPages(name));
  for (const path of await nodeBuild(forNode, join(dist, "node"))) imported.add(path);
  linkShared(dist, walk(dist));
  await writeShared(dist);
  const typed = declarations(subpaths, dist);
  for (const file of Object.values(sources.files)) coreFile(file, join(dist, file));
  if (page) writeFileSync(join(dist, "node/page.br"), await pageArchive());
  for (const file of Object.values(sources.plain)) copyFileSync(join(root, file), join(out, file));
  writeFileSync(
    join(out, "package.json"),
    `${JSON.stringify(publishedManifest(manifest, sources, imported, typed), undefined, 2)}\n`,
  );
  mkdirSync(join(out, "docs"));
  for (const text of TEXTS) writeFileSync(join(out, text), packedText(text));
  const files = walk(out);
  const made = {
    folder: out,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + statSync(file).size, 0),
  };
  if (!tarball) return made;
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const packed = spawnSync(npm, ["pack", "--json", "--pack-destination", dirname(out)], {
    cwd: out,
    encoding: "utf8",
  });
  if (packed.status !== 0) throw new Error(`npm pack failed:\n${packed.stderr}`);
  const [{ filename, size, entryCount }] = JSON.parse(packed.stdout);
  if (entryCount !== files.length) {
    throw new Error(
      `npm packs ${entryCount} of the ${files.length} files in ${relative(root, out)}`,
    );
  }
  return { ...made, tarball: join(dirname(out), filename), tarballBytes: size };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = readCommandLine(HELP, {
    out: { type: "string" },
    "no-tarball": { type: "boolean" },
    "no-page": { type: "boolean" },
    json: { type: "boolean" },
  });
  const made = await pack({
    ...(values.out !== undefined && { out: resolve(values.out) }),
    tarball: !values["no-tarball"],
    page: !values["no-page"],
  }).catch((error) => {
    console.error(`the package was not made: ${error.message}`);
    process.exit(1);
  });
  const kB = (n) => `${Math.round(n / 1000)} kB`;
  if (values.json) console.log(JSON.stringify(made));
  else {
    console.log(`${relative(root, made.folder)}: ${made.files} files, ${kB(made.bytes)}`);
    if (made.tarball) console.log(`${relative(root, made.tarball)}: ${kB(made.tarballBytes)}`);
  }
}
