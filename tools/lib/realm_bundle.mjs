// Bundles what realm threads load in dist/ into one file. Tests start thousands of realms; a thread
// that loads 300 files costs three times the CPU of one that loads a bundle. Deno loads the bundle
// as a module. Node runs it as a script, since only scripts have a code cache in each supported
// version: it takes a quarter of the CPU of a realm's start. Without esbuild (npm ci
// --omit=optional) the entry keeps loading separate files.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./steps.mjs";

const ENTRY = "ts/realm/worker_entry.js";
/**
 * The name must match FILE in ts/platform/own_code.ts: the package finds its own files and frames
 * by it.
 */
const BUNDLE = "ts/_temporalex_realm.js";
const SCRIPT = "ts/_temporalex_realm_script.js";
/** V8 ignores a cache of another version, and compiles the script. */
const CACHE = `ts/_temporalex_realm_${process.version}.cache`;
const STRIPPED = 'import { serveRealm } from "./serve.js";\n\nserveRealm();\n';
/** With REALM_CODE_CACHE in its environment a realm writes the cache, once it has run a while. */
const BUNDLED = `// Written by tools/lib/realm_bundle.mjs. Do not edit.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { env, pid, version } from "node:process";
import { Script } from "node:vm";

const url = new URL("../_temporalex_realm_script.js", import.meta.url).href;
let cachedData;
try {
  cachedData = readFileSync(new URL(\`../_temporalex_realm_\${version}.cache\`, import.meta.url));
} catch {
  // Not written yet, or for another version.
}
const script = new Script(readFileSync(new URL(url), "utf8"), { filename: url, cachedData });
const { REALM_CODE_CACHE: path } = env;
if (path !== undefined) {
  setTimeout(() => {
    writeFileSync(\`\${path}.\${pid}\`, script.createCachedData());
    renameSync(\`\${path}.\${pid}\`, path);
  }, 500);
}
const { serveRealm } = script.runInThisContext()(createRequire(import.meta.url), url);

serveRealm();
`;

/** esbuild, or undefined where it cannot run: its binary is an optional package. */
const esbuild = await import("esbuild").then((it) => it.transformSync("") && it).catch(() =>
  undefined
);

const EXTERNAL = ["libsql", "node-sqlite3-wasm", "ws", "@opentelemetry/*"];

/** Paths of the files below `dist` that this module writes and build_dist must keep. */
export const bundleFiles = (dist) =>
  esbuild === undefined ? [] : [BUNDLE, SCRIPT, CACHE].map((path) => join(dist, path));

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
    external: EXTERNAL,
    logLevel: "error",
  });
  const { outputFiles: [script] } = esbuild.buildSync({
    entryPoints: [bundle],
    write: false,
    bundle: true,
    format: "cjs",
    platform: "node",
    define: { "import.meta.url": "moduleUrl" },
    external: EXTERNAL,
    logLevel: "error",
  });
  writeFileSync(
    join(dist, SCRIPT),
    `(function (require, moduleUrl) { const module = { exports: {} }; ${script.text}
return module.exports; })`,
  );
  writeFileSync(join(dist, ENTRY), BUNDLED);
  writeCodeCache(dist);
  return 4;
}

/**
 * Runs a realm that writes the cache of the script, with the functions that a start and a replay
 * have compiled. Without it, as after a change by which no realm starts, the script is compiled.
 */
function writeCodeCache(dist) {
  const cache = join(dist, CACHE);
  rmSync(cache, { force: true });
  try {
    execFileSync(process.execPath, [join(root, "tools/lib/realm_code_cache.mjs"), dist], {
      env: { ...process.env, REALM_CODE_CACHE: cache },
      stdio: "ignore",
      // A change may also let realms hang, and the build must end.
      timeout: 90_000,
    });
  } catch {
    writeFileSync(cache, "");
  }
}

/** The bundle holds libraries too, so it is out of date once npm has installed something. */
function isCurrent(dist) {
  const bundle = join(dist, BUNDLE);
  const files = bundleFiles(dist);
  if (!files.every(existsSync) || readFileSync(join(dist, ENTRY), "utf8") !== BUNDLED) return false;
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
