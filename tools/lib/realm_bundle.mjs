// Bundles what realm threads load in dist/ into one file. Tests start thousands of realms; a thread
// that loads 300 files costs three times the CPU of one that loads a bundle. Without esbuild (npm ci
// --omit=optional) the entry keeps loading separate files.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./steps.mjs";

const ENTRY = "ts/realm/worker_entry.js";
/**
 * The name must match FILE in ts/platform/own_code.ts: the package finds its own files and frames
 * by it.
 */
const BUNDLE = "ts/_temporalex_realm.js";
const textOfEntry = (module) => `import { serveRealm } from "${module}";\n\nserveRealm();\n`;
const BUNDLED = textOfEntry("../_temporalex_realm.js");
const STRIPPED = textOfEntry("./serve.js");

/** esbuild, or undefined where it cannot run: its binary is an optional package. */
const esbuild = await import("esbuild").then((it) => it.transformSync("") && it).catch(() =>
  undefined
);

/** Paths of the files below `dist` that this module writes and build_dist must keep. */
export const bundleFiles = (dist) => (esbuild === undefined ? [] : [join(dist, BUNDLE)]);

/**
 * Writes the bundle if `changed` is true or the one that is there is out of date. Returns the
 * number of files written.
 */
export function bundleRealm(dist, changed) {
  if (esbuild === undefined || (!changed && isCurrent(dist))) return 0;
  const bundle = join(dist, BUNDLE);
  esbuild.buildSync({
    stdin: {
      contents: 'export { serveRealm } from "./serve.js";\n',
      resolveDir: join(dist, "ts/realm"),
      loader: "js",
    },
    bundle: true,
    outfile: bundle,
    format: "esm",
    platform: "node",
    mainFields: ["module", "main"],
    external: ["libsql", "node-sqlite3-wasm", "ws", "@opentelemetry/*"],
    logLevel: "error",
  });
  writeFileSync(join(dist, ENTRY), BUNDLED);
  return 2;
}

/** The bundle holds libraries too, so it is out of date once npm has installed something. */
function isCurrent(dist) {
  const bundle = join(dist, BUNDLE);
  if (!existsSync(bundle) || readFileSync(join(dist, ENTRY), "utf8") !== BUNDLED) return false;
  const installed = join(root, "node_modules/.package-lock.json");
  return !existsSync(installed) || statSync(installed).mtimeMs <= statSync(bundle).mtimeMs;
}

/**
 * Writes an import map by which the entry of realm threads in ts/ loads the bundle, for Deno.
 * Returns its path, or undefined without a bundle.
 */
export function writeRealmImportMap(dist, path) {
  if (esbuild === undefined || !isCurrent(dist)) return undefined;
  const { imports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  const base = pathToFileURL(`${root}/`).href;
  const bundle = pathToFileURL(join(dist, BUNDLE)).href;
  const map = {
    // An import map replaces the imports of deno.json.
    imports: Object.fromEntries(
      Object.entries(imports).map(([name, target]) => [
        name,
        target.startsWith(".") ? new URL(target, base).href : target,
      ]),
    ),
    scopes: {
      [new URL("ts/realm/worker_entry.ts", base).href]: {
        [new URL("ts/realm/serve.ts", base).href]: bundle,
      },
    },
  };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(map, null, 2));
  return path;
}

/**
 * Makes the entry of a copy of dist/ load the separate files again, for tools that change them
 * (tools/mutate).
 */
export function unbundleRealm(dist) {
  writeFileSync(join(dist, ENTRY), STRIPPED);
}
