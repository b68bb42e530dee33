// The files of a worker's code. The workflow loader reports every file that it looks for, including
// missing ones, which a later edit may create. The runtime loads activity modules, so this file
// follows their relative imports.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type AnyNode, parse } from "acorn";
import { fileSources, type SourceHost } from "../../../platform/source_files.ts";
import { children } from "../../../modules/loader/scope.ts";
import { loadSucrase, needsSucrase, strip } from "../../../modules/loader/strip.ts";

/** Excludes packages, which are installed, not edited. */
const isOwn = (path: string): boolean => !/[\\/]node_modules[\\/]/.test(path);

/** Returns the file system; records requested files in `asked`. */
export async function notingSources(asked: (path: string) => void): Promise<SourceHost> {
  const host = await fileSources();
  const note = (url: string) => {
    if (!url.startsWith("file:")) return;
    const path = fileURLToPath(url);
    if (isOwn(path)) asked(path);
  };
  return {
    ...host,
    read(url) {
      note(url);
      return host.read(url);
    },
    isFile(url) {
      note(url);
      return host.isFile(url);
    },
  };
}

const SOURCE = /\.[mc]?[jt]sx?$/;
const ENDINGS = ["", ".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", "/index.ts", "/index.js"];

/**
 * Returns the modules and their relative imports, transitively. Includes files that do not parse,
 * without their imports.
 */
export async function moduleFiles(entries: readonly string[]): Promise<Set<string>> {
  await loadSucrase();
  const found = new Set<string>();
  const queue = entries.map((entry) => resolve(entry));
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path) || !isOwn(path)) continue;
    found.add(path);
    if (!SOURCE.test(path) || !existsSync(path)) continue;
    for (const specifier of importsOf(path)) queue.push(fileOf(path, specifier));
  }
  return found;
}

/** Returns relative imports, requires and import() calls with constant names. */
function importsOf(path: string): string[] {
  try {
    const text = readFileSync(path, "utf8");
    const code = needsSucrase(path) ? strip(path, text) : text;
    const options = {
      ecmaVersion: "latest",
      allowHashBang: true,
      allowReturnOutsideFunction: true,
    } as const;
    const found: string[] = [];
    collect(parse(code, { ...options, sourceType: "module" }), found);
    return found.filter((specifier) => /^\.{0,2}\//.test(specifier));
  } catch {
    return [];
  }
}

function collect(node: AnyNode, found: string[]): void {
  const source = "source" in node
    ? node.source as AnyNode | null
    : node.type === "CallExpression" && node.callee.type === "Identifier" &&
        node.callee.name === "require"
    ? node.arguments[0] as AnyNode | undefined
    : undefined;
  if (source?.type === "Literal" && typeof source.value === "string") found.push(source.value);
  for (const child of children(node)) collect(child, found);
}

/** Resolves a name as Node, Deno and compilers do; unchanged if no file exists. */
function fileOf(importer: string, specifier: string): string {
  const plain = resolve(dirname(importer), specifier.replace(/[?#].*$/, ""));
  const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  const candidates = [
    ...ENDINGS.map((ending) => plain + ending),
    plain.replace(/\.([mc]?)js$/, ".$1ts"),
  ];
  return candidates.find(isFile) ?? plain;
}
