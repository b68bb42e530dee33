// The debugger's page as one file of the npm package: what `temporalex debug` and `temporalex ui`
// serve (ts/cli/page/page_files.ts reads it). A line of JSON says what is in it; the bytes follow,
// and brotli goes over all. Left out: source maps, and what no page fetches. What the package or
// one of its dependencies has anyway is named, not copied.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { brotliCompressSync, constants } from "node:zlib";
import { buildDist } from "../build_dist.mjs";
import { root } from "./steps.mjs";

/**
 * A bundler follows every address in the package; a page has its realm in the frame, and fetches
 * the core as bytes.
 */
const UNUSED = /^(?:worker_wasm|engine_wasm|sqlite3-worker1|worker_entry|activity_thread)/;

/**
 * Files that are on the disk of an install in any case, by what `require.resolve` finds them from
 * the archive's folder.
 */
const ELSEWHERE = {
  "../core/worker.wasm": "dist/ts/core/worker.wasm",
  "../core/engine.wasm": "dist/ts/core/engine.wasm",
  "@sqlite.org/sqlite-wasm/sqlite3.wasm":
    "node_modules/@sqlite.org/sqlite-wasm/sqlite-wasm/jswasm/sqlite3.wasm",
};

const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Builds the page outside web-demo/dist, which may be in use, and returns its archive. */
export async function pageArchive() {
  const dist = join(root, ".build/page");
  buildDist();
  const { build } = await import("vite");
  // Vite sets NODE_ENV of this process, and an `npm ci` that it starts later would leave
  // development packages out.
  const { NODE_ENV } = process.env;
  try {
    await build({
      configFile: join(root, "web-demo/vite.config.mjs"),
      logLevel: "error",
      build: { outDir: dist, emptyOutDir: true, sourcemap: false },
    });
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
  return archiveOf(dist);
}

function archiveOf(dist) {
  const elsewhere = new Map(
    Object.entries(ELSEWHERE).map(([from, path]) => [digest(readFileSync(join(root, path))), from]),
  );
  const entries = [];
  const parts = [];
  const walk = (below) => {
    for (const name of readdirSync(join(dist, below)).sort()) {
      const path = below + name;
      if (statSync(join(dist, path)).isDirectory()) walk(`${path}/`);
      else if (!name.endsWith(".map") && !UNUSED.test(name)) {
        const bytes = readFileSync(join(dist, path));
        const from = elsewhere.get(digest(bytes));
        if (from === undefined) parts.push(bytes);
        entries.push(from === undefined ? { path, bytes: bytes.length } : { path, from });
      }
    }
  };
  walk("");
  const all = Buffer.concat([Buffer.from(`${JSON.stringify(entries)}\n`), ...parts]);
  const params = {
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: all.length,
  };
  return brotliCompressSync(all, { params });
}
