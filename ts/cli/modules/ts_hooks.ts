// Module hooks for Node (node:module `register`): TypeScript modules of the user, for runtimes that do not load them, or not all of them.
// Types are taken out as the workflow loader does it (sucrase; lines stay where they are), and "./a.js" and "./a" find a.ts. Also, what
// a module imports from "temporalex" is this very package where the module's own folder has none. Runs in Node's hooks thread.
import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { transform } from "sucrase";
import { AGAIN } from "./again.ts";

interface ResolveContext {
  readonly parentURL?: string;
}
interface Resolved {
  readonly url: string;
  readonly format?: string | null;
  readonly shortCircuit?: boolean;
}
type NextResolve = (specifier: string, context: ResolveContext) => Promise<Resolved>;
interface Loaded {
  readonly format: string;
  readonly source: string;
  readonly shortCircuit: boolean;
}

const IS_TS = /\.[cm]?tsx?$/;
const CANDIDATES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\.js$/, [".ts", ".tsx"]],
  [/\.mjs$/, [".mts"]],
  [/$/, [".ts", ".tsx", ".mts", ".js", ".mjs", "/index.ts", "/index.js"]],
];

let packageUrl = "";

/** `url`: the module that stands for the specifier "temporalex"; its subpaths are asked of `import.meta.resolve` beside it. */
export function initialize(data: { readonly url: string }): void {
  packageUrl = data.url;
}

const isFile = (url: URL): boolean => {
  const path = fileURLToPath(url);
  return existsSync(path) && statSync(path).isFile();
};

export async function resolve(specifier: string, context: ResolveContext, next: NextResolve): Promise<Resolved> {
  const found = await lookUp(specifier, context, next);
  const again = context.parentURL?.startsWith("file:") && new URL(context.parentURL).searchParams.get(AGAIN);
  if (!again || !found.url.startsWith("file:") || found.url.includes("/node_modules/")) return found;
  const url = new URL(found.url);
  url.searchParams.set(AGAIN, again);
  return { ...found, url: url.href };
}

async function lookUp(specifier: string, context: ResolveContext, next: NextResolve): Promise<Resolved> {
  try {
    return await next(specifier, context);
  } catch (e) {
    if (/^\.{1,2}\/|^file:/.test(specifier) && context.parentURL?.startsWith("file:")) {
      const target = new URL(specifier, context.parentURL);
      for (const [ending, replacements] of CANDIDATES) {
        if (!ending.test(target.pathname)) continue;
        for (const replacement of replacements) {
          const url = new URL(target);
          url.pathname = target.pathname.replace(ending, replacement);
          if (isFile(url)) return { url: url.href, shortCircuit: true };
        }
      }
    }
    if (specifier === "temporalex" || specifier.startsWith("temporalex/")) {
      try {
        return await next(specifier, { ...context, parentURL: packageUrl });
      } catch {
        // The first error says where it was looked for.
      }
    }
    throw e;
  }
}

type NextLoad = (url: string, context: object) => Promise<Loaded>;

export async function load(url: string, context: object, next: NextLoad): Promise<Loaded> {
  const { pathname, protocol } = new URL(url);
  if (protocol !== "file:" || !IS_TS.test(pathname) || pathname.includes("/node_modules/")) return await next(url, context);
  const path = fileURLToPath(url.replace(/[?#].*$/, ""));
  const { code } = transform(readFileSync(path, "utf8"), {
    transforms: ["typescript"],
    disableESTransforms: true,
    filePath: path,
  });
  return { format: "module", source: code, shortCircuit: true };
}
