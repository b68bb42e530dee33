// What both builds of the published package need in the same form is in it once, in dist/shared:
// the bytes of the core as text, which neither Node (it reads the file) nor a bundler's user often
// loads, and libraries that are bundled in because their packages (command lines, a second module
// format, declarations, parts that nothing here uses) take many times the space of what is used.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { bytesOf, HALVES } from "./halves.mjs";
import { breakLines } from "./line_breaks.mjs";
import { root } from "./steps.mjs";

/** Under this name the builds import a shared file, until `linkShared` knows from where. */
const SCHEME = "temporalex-shared:";
const LINK = /(["'`])temporalex-shared:(\w+)\1/g;
const NAMED = /\bimport\s*\{([^}]*)\}\s*from\s*["']temporalex-shared:(\w+)["']/g;

const HALF = /^\.\/generated\/(\w+)_wasm\.ts$/;
/** The libraries by the names of their files, and what is used of each. */
const LIBRARIES = {
  sucrase: { from: "sucrase", uses: ["transform"] },
  acorn: { from: "acorn", uses: ["parse", "tokenizer"] },
  smol_toml: { from: "smol-toml", uses: ["parse", "stringify", "TomlError"] },
  connect: { from: "@connectrpc/connect", uses: ["Code", "ConnectError", "createConnectRouter"] },
};
const nameOf = (specifier) =>
  Object.keys(LIBRARIES).find((name) => LIBRARIES[name].from === specifier) ??
    (HALF.test(specifier) ? `${HALF.exec(specifier)?.[1]}_wasm` : undefined);

/** For esbuild: imports of shared files stay imports. */
export const sharedForEsbuild = {
  name: "shared",
  setup(build) {
    build.onResolve({ filter: /./ }, ({ path }) => {
      const name = nameOf(path);
      return name === undefined
        ? undefined
        : { path: SCHEME + name, external: true, sideEffects: false };
    });
  },
};

/**
 * For Rolldown, the same, but for what needs Protobuf's library: that is inside of this build, and
 * must not be loaded twice.
 */
export const sharedForRolldown = {
  name: "shared",
  resolveId(specifier) {
    const name = nameOf(specifier);
    return name === undefined || name === "connect"
      ? null
      : { id: SCHEME + name, external: true, moduleSideEffects: false };
  },
};

export const isShared = (specifier) => specifier.startsWith(SCHEME);

/** Writes dist/shared. Libraries are written without blanks. */
export async function writeShared(dist) {
  const { build } = await import("esbuild");
  const folder = join(dist, "shared");
  for (const [name, { from, uses }] of Object.entries(LIBRARIES)) {
    await build({
      stdin: { contents: `export { ${uses.join(", ")} } from "${from}";`, resolveDir: root },
      outfile: join(folder, `${name}.js`),
      external: ["@bufbuild/*"],
      ...{
        bundle: true,
        format: "esm",
        platform: "neutral",
        mainFields: ["module", "main"],
        target: "es2022",
      },
      ...{ minifyWhitespace: true, minifySyntax: true, legalComments: "none", logLevel: "warning" },
    });
    const file = join(folder, `${name}.js`);
    writeFileSync(file, breakLines(readFileSync(file, "utf8")));
  }
  for (const half of Object.keys(HALVES)) {
    // ts/core/inline.ts unzips them. (The source has them as they are, so that no compressor has a
    // part in whether a build is the same.)
    const base64 = gzipSync(bytesOf(root, half), { level: 9 }).toString("base64");
    writeFileSync(join(folder, `${half}_wasm.js`), `export const wasmBase64 = "${base64}";\n`);
  }
}

/** Names shared files by their place. */
export function linkShared(dist, files) {
  const used = new Set();
  for (const file of files.filter((name) => name.endsWith(".js"))) {
    const text = readFileSync(file, "utf8");
    for (const [, names, library] of text.matchAll(NAMED)) {
      const missing = names.split(",").map((name) => name.trim().split(/\s+as\s+/)[0])
        .filter((name) => name !== "" && LIBRARIES[library]?.uses.includes(name) === false);
      if (missing.length > 0) {
        throw new Error(
          `${file} uses ${missing.join(", ")} of ${library}: name it in tools/lib/shared_files.mjs`,
        );
      }
    }
    const linked = text.replace(LINK, (_, quote, name) => {
      used.add(name);
      const path = relative(dirname(file), join(dist, "shared", `${name}.js`)).replaceAll(
        "\\",
        "/",
      );
      return `${quote}${path.startsWith(".") ? path : `./${path}`}${quote}`;
    });
    if (linked !== text) writeFileSync(file, linked);
    if (linked.includes(SCHEME)) {
      throw new Error(`${file} names a shared file in a form that this tool does not know`);
    }
  }
  const unused = [...Object.keys(LIBRARIES), ...Object.keys(HALVES).map((half) => `${half}_wasm`)]
    .filter((name) => !used.has(name));
  if (unused.length > 0) {
    throw new Error(`no file of the package imports ${unused.join(", ")} of dist/shared`);
  }
}
