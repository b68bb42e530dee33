// The files of the debugger's page, in memory: from Vite's build in a checkout (web-demo/dist), or
// from one compressed archive in the npm package (tools/lib/page_archive.mjs), which halves the
// size on disk.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { ownCode } from "../../platform/own_code.ts";
import { CommandError } from "../frame/errors.ts";

/** Path of the archive, relative to this package's code. */
const ARCHIVE = "page.br";
/** Paths of a build, relative to the source folder: `ts`, or `dist/ts`. */
const BUILDS = ["../web-demo/dist", "../../web-demo/dist"];

const TYPES: { readonly [ending: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  read(): Uint8Array;
}

/**
 * All files by path: "index.html", "assets/index-1a2b.js". Other files are not served, even if they
 * exist on disk.
 */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** Finds the page. Throws a CommandError with advice if it is not built. */
export function pageFiles(): PageFiles {
  const archive = new URL(ARCHIVE, ownCode);
  if (existsSync(archive)) return unpacked(readFileSync(archive), archive);
  for (const folder of BUILDS) {
    const path = fileURLToPath(new URL(folder, ownCode));
    if (existsSync(join(path, "index.html"))) return inFolder(path);
  }
  throw new CommandError(
    "the debugger's page is not in this installation; it is built in a checkout by `npm run demo -- --build-only`",
  );
}

const typeOf = (path: string): string => TYPES[extname(path)] ?? "application/octet-stream";

function inFolder(folder: string, below = "", files = new Map<string, PageFile>()): PageFiles {
  for (const name of readdirSync(join(folder, below))) {
    const path = below + name;
    if (statSync(join(folder, path)).isDirectory()) inFolder(folder, `${path}/`, files);
    else if (!name.endsWith(".map")) {
      files.set(path, {
        type: typeOf(path),
        read: () => readFileSync(join(folder, path)),
      });
    }
  }
  return files;
}

/**
 * The archive's first line is JSON: path and size of each file, or `from`, the module with its
 * content; then the bytes.
 */
interface Entry {
  readonly path: string;
  readonly bytes?: number;
  readonly from?: string;
}

/** Reads the archive of tools/lib/page_archive.mjs. */
export function unpacked(archive: Uint8Array, beside: URL): PageFiles {
  const all = brotliDecompressSync(archive);
  const begin = all.indexOf(0x0a) + 1;
  const files = new Map<string, PageFile>();
  const modules = createRequire(beside);
  let at = begin;
  for (
    const { path, bytes = 0, from } of JSON.parse(
      new TextDecoder().decode(all.subarray(0, begin)),
    ) as Entry[]
  ) {
    const own = all.subarray(at, at += bytes);
    files.set(path, {
      type: typeOf(path),
      read: from === undefined ? () => own : () => readFileSync(modules.resolve(from)),
    });
  }
  return files;
}
