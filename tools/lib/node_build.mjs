// The JavaScript that Node and Deno load from the published package (condition "node" of its
// exports): few files, with the libraries in them, because the time of an import there is mostly
// the number of files. Bundlers get the other build, in which each subpath has its own chunks and
// libraries are imported, so that they can drop what is not used.
//
// A realm's thread loads one file, a worker loads a second one, `import "temporalex"` a third, and
// a connection to a cluster a fourth; parts that are loaded later (the loader of sources, the
// module's bytes, commands) are in separate files. Libraries and generated messages are minified:
// they are not for reading, and the runtime has to parse them. ws is external, because only a
// gateway needs it, and so is OpenTelemetry's API, because an application has one copy of it or
// none.
import { readFileSync, writeFileSync } from "node:fs";
import { join, posix, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { buildDist } from "../build_dist.mjs";
import { breakLines } from "./line_breaks.mjs";
import { isShared, sharedForRolldown } from "./shared_files.mjs";
import { root } from "./steps.mjs";

const OUTSIDE = [
  /^@opentelemetry\//,
  /^ws$/,
  /^libsql$/,
  /^node-sqlite3-wasm$/,
  /^node:/,
  /^temporalex\//,
];
const sourceOf = (name) => join(root, "ts", `${name}.ts`);

/**
 * Descriptors as JSON, which Node reads much faster than their encoded form: they are built when a
 * process begins.
 */
async function descriptorsAsJson() {
  buildDist();
  const { fileAsJson } = await import(
    pathToFileURL(join(root, "dist/ts/messages/descriptor_reader.js")).href
  );
  return (code) =>
    code.replace(/(\bfileDesc\(\s*)"([A-Za-z0-9+/=]+)"/g, (_, call, base64) => {
      const json = fileAsJson(Buffer.from(base64, "base64"));
      if (/['\\]/.test(json)) {
        throw new Error("a descriptor holds a character that this tool does not quote");
      }
      return `${call}'${json}'`;
    });
}

/**
 * Libraries and generated code without blanks and with shorter syntax; names stay, for stack
 * traces.
 */
const compact = (transform, withJson) => ({
  name: "compact",
  async transform(code, id) {
    if (/[\\/]api[\\/]well_known\.ts$/.test(id)) return { code: withJson(code), map: null };
    if (!/[\\/](?:node_modules|generated)[\\/]/.test(id)) return null;
    const options = {
      loader: id.endsWith(".ts") ? "ts" : "js",
      minifyWhitespace: true,
      minifySyntax: true,
      target: "es2022",
    };
    // (The library reads the descriptors of its files in their encoded form only.)
    const written = /[\\/]node_modules[\\/]/.test(id) ? code : withJson(code);
    return {
      code: (await transform(written, { ...options, legalComments: "none" })).code,
      map: null,
      moduleType: "js",
    };
  },
});

/**
 * The files of which a source uses something when it is loaded, itself not included: absolute
 * paths. What it imports later is left out.
 */
async function usedAtOnce(build, name) {
  const { metafile } = await build({
    entryPoints: [sourceOf(name)],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    outdir: root,
    format: "esm",
    platform: "node",
    mainFields: ["module", "main"],
    external: ["@connectrpc/*", "@opentelemetry/*", "ws", "libsql", "node-sqlite3-wasm"],
    plugins: [{
      name: "later",
      setup: ({ onResolve }) =>
        onResolve(
          { filter: /./ },
          ({ kind }) => kind === "dynamic-import" ? { external: true } : undefined,
        ),
    }],
    logLevel: "error",
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  const used = Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return new Set(
    used.map(([file]) => resolve(root, file)).filter((file) => file !== sourceOf(name)),
  );
}

/**
 * Builds `sources` (names without extension) into `out`; returns the external imports of the
 * result.
 */
export async function nodeBuild(sources, out) {
  const [{ build, transform }, { rolldown }] = await Promise.all([
    import("esbuild"),
    import("rolldown"),
  ]);
  const [inRealm, ofWorker, ofConnection, inMain] = await Promise.all(
    ["realm/worker_entry", "worker/mod", "grpc/mod", "mod"].map((name) => usedAtOnce(build, name)),
  );
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(sources.map((name) => [name, sourceOf(name)])),
    platform: "node",
    external: OUTSIDE,
    resolve: { mainFields: ["module", "main"] },
    plugins: [sharedForRolldown, compact(transform, await descriptorsAsJson())],
    onLog(level, log) {
      // (How long plugins took says something about the machine only.)
      if (level === "warn" && log.code !== "PLUGIN_TIMINGS") {
        throw new Error(`rolldown warned: ${log.message}`);
      }
    },
  });
  const { output } = await bundle.write({
    dir: out,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "_temporalex_[hash].js",
    hashCharacters: "hex",
    comments: { legal: false, annotation: true, jsdoc: false },
    // Names stay, for stack traces; Node and Deno do not look at annotations.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    codeSplitting: {
      groups: [
        { name: "realm", test: (id) => inRealm.has(id), priority: 4 },
        {
          name: "worker",
          test: (id) => id === sourceOf("worker/mod") || ofWorker.has(id),
          priority: 3,
        },
        { name: "main", test: (id) => inMain.has(id), priority: 2 },
        { name: "connection", test: (id) => ofConnection.has(id), priority: 1 },
      ],
    },
  });
  await bundle.close();
  for (const { fileName } of output) {
    const file = join(out, fileName);
    writeFileSync(file, breakLines(readFileSync(file, "utf8")));
  }
  const own = output.find((chunk) =>
    "moduleIds" in chunk && chunk.moduleIds.some((id) => id.endsWith("platform/own_code.ts"))
  );
  if (
    own === undefined || posix.dirname(own.fileName) !== "." ||
    !/^_temporalex_\w+\.js$/.test(own.fileName)
  ) {
    throw new Error(
      `ts/platform/own_code.ts went to ${own?.fileName}: it knows its place by the name of its chunk`,
    );
  }
  const files = new Set(output.map((chunk) => chunk.fileName));
  return output.flatMap((chunk) =>
    "imports" in chunk ? [...chunk.imports, ...chunk.dynamicImports] : []
  ).filter((
    path,
  ) => !files.has(path) && !isShared(path));
}
