// The package of this checkout with its modules in few files, as it is published for Node: most
// time of a command goes into the number of files that it loads, and the pages start more than a
// hundred.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { build } from "esbuild";

const root = process.cwd();

/** What the package starts or imports by its file and not by a subpath (tools/pack.mjs). */
const FILES = [
  "app/serve_store",
  "app/sql/query_child",
  "app/sql/query_file",
  "cli/main",
  "cli/modules/official_activities",
  "cli/modules/ts_hooks",
  "compat/register/resolve_hooks",
  "compat/testing/assert_to_failure_interceptor",
  "worker/activities/activity_thread",
];
/** Of pages only: the other snippets do not load it. */
const OF_PAGES = ["browser/mod", "slim/mod"];

/** Writes the package to a folder that does not exist. */
export async function bundlePackage(folder: string): Promise<void> {
  const manifest = readFileSync(join(root, "package.json"), "utf8");
  const { exports } = JSON.parse(manifest) as { exports: { [subpath: string]: string } };
  const names = new Set(FILES);
  const plain: string[] = [];
  for (const target of Object.values(exports)) {
    const name = /^\.\/dist\/ts\/(.+)\.js$/.exec(target)?.[1];
    if (name === undefined) plain.push(target);
    else if (!OF_PAGES.includes(name)) names.add(name);
  }
  await build({
    entryPoints: Object.fromEntries(
      [...names].map((name) => [name, join(root, "dist/ts", `${name}.js`)]),
    ),
    outdir: join(folder, "dist/ts"),
    // By this name code finds the files next to it (ts/platform/own_code.ts).
    chunkNames: "_temporalex_[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    mainFields: ["module", "main"],
    external: ["libsql", "node-sqlite3-wasm", "ws", "@opentelemetry/*", "temporalex/*"],
    minifyWhitespace: true,
    lineLimit: 200,
    legalComments: "none",
    logLevel: "error",
  });
  // dist has realm threads in few files already.
  const ofRealms = readdirSync(join(root, "dist/ts")).filter((name) =>
    name.startsWith("_temporalex_realm")
  );
  plain.push("dist/ts/realm/worker_entry.js", ...ofRealms.map((name) => `dist/ts/${name}`));
  for (const file of plain) {
    if (!existsSync(join(root, file))) continue;
    mkdirSync(join(folder, file, ".."), { recursive: true });
    copyFileSync(join(root, file), join(folder, file));
  }
  writeFileSync(join(folder, "package.json"), manifest);
  // Its libraries, without a search outside of the folder.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

/** Makes `link` the folder of a package. */
export function linkPackage(folder: string, link: string): void {
  rmSync(link, { force: true });
  symlinkSync(folder, link);
}
