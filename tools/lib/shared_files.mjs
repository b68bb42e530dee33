// What both builds of the published package need in the same form is in it once, in dist/shared: the bytes of the core as text, which neither
// Node (it reads the file) nor a bundler's user often loads, and the compiler that strips types. It is bundled in because the packages that
// come with it (its command line, mostly) are nine times its size.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { HALVES, textOf } from "./halves.mjs";
import { root } from "./steps.mjs";

/** Under this name the builds import a shared file, until `linkShared` knows from where. */
const SCHEME = "temporalex-shared:";
const LINK = /(["'`])temporalex-shared:(\w+)\1/g;

const HALF = /^\.\/generated\/(\w+)_wasm\.ts$/;
const nameOf = (
  specifier,
) => (specifier === "sucrase" ? specifier : HALF.exec(specifier)?.[1] && HALF.exec(specifier)[1] + "_wasm");

/** For esbuild: imports of shared files stay imports. */
export const sharedForEsbuild = {
  name: "shared",
  setup(build) {
    build.onResolve({ filter: /^sucrase$|_wasm\.ts$/ }, ({ path }) => {
      const name = nameOf(path);
      return name === undefined ? undefined : { path: SCHEME + name, external: true, sideEffects: false };
    });
  },
};

/** For Rolldown, the same. */
export const sharedForRolldown = {
  name: "shared",
  resolveId(specifier) {
    const name = nameOf(specifier);
    return name === undefined ? null : { id: SCHEME + name, external: true, moduleSideEffects: false };
  },
};

export const isShared = (specifier) => specifier.startsWith(SCHEME);

/** Writes dist/shared. Libraries are written without blanks. */
export async function writeShared(dist) {
  const { build } = await import("esbuild");
  const folder = join(dist, "shared");
  await build({
    stdin: { contents: 'export { transform } from "sucrase";', resolveDir: root },
    outfile: join(folder, "sucrase.js"),
    ...{ bundle: true, format: "esm", platform: "neutral", mainFields: ["module", "main"], target: "es2022" },
    ...{ minifyWhitespace: true, minifySyntax: true, legalComments: "none", logLevel: "warning" },
  });
  for (const half of Object.keys(HALVES)) {
    // The thousands of short texts in the source become one.
    const code = readFileSync(textOf(root, half), "utf8");
    const base64 = /\[([^\]]*)\]\.join\(""\)/.exec(code)?.[1].replace(/[",\s]/g, "");
    if (!base64) throw new Error(`${textOf(root, half)} has another form than this tool knows`);
    writeFileSync(join(folder, `${half}_wasm.js`), `export const wasmBase64 = "${base64}";\n`);
  }
}

/** Names shared files by their place. */
export function linkShared(dist, files) {
  const used = new Set();
  for (const file of files.filter((name) => name.endsWith(".js"))) {
    const text = readFileSync(file, "utf8");
    const linked = text.replace(LINK, (_, quote, name) => {
      used.add(name);
      const path = relative(dirname(file), join(dist, "shared", `${name}.js`)).replaceAll("\\", "/");
      return `${quote}${path.startsWith(".") ? path : `./${path}`}${quote}`;
    });
    if (linked !== text) writeFileSync(file, linked);
    if (linked.includes(SCHEME)) throw new Error(`${file} names a shared file in a form that this tool does not know`);
  }
  const unused = ["sucrase", ...Object.keys(HALVES).map((half) => `${half}_wasm`)].filter((name) => !used.has(name));
  if (unused.length > 0) throw new Error(`no file of the package imports ${unused.join(", ")} of dist/shared`);
}
