// Module hooks for Node (node:module `register`): TypeScript modules of the user, for Node versions
// with no or partial support. Types are removed like in the workflow loader (sucrase keeps lines);
// "./a.js" and "./a" resolve to a.ts. "temporalex" resolves to this package if the module has no
// copy of it. Runs in Node's hooks thread.
import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "acorn";
import { compileText } from "../../modules/loader/compile_text.ts";
import { loadSucrase } from "../../modules/loader/strip.ts";
import { requiredImports } from "../../modules/loader/typescript_checks.ts";
import { syntaxAdvice, UnsupportedSyntaxError } from "../../modules/loader/unsupported_syntax.ts";
import { compileUsing } from "../../modules/loader/using_declarations.ts";
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

/**
 * `url`: module for the specifier "temporalex"; subpaths are resolved by `import.meta.resolve` from
 * there.
 */
export function initialize(data: { readonly url: string }): void {
  packageUrl = data.url;
}

const isFile = (url: URL): boolean => {
  const path = fileURLToPath(url);
  return existsSync(path) && statSync(path).isFile();
};

export async function resolve(
  specifier: string,
  context: ResolveContext,
  next: NextResolve,
): Promise<Resolved> {
  const found = await lookUp(specifier, context, next);
  const again = context.parentURL?.startsWith("file:") &&
    new URL(context.parentURL).searchParams.get(AGAIN);
  if (!again || !found.url.startsWith("file:") || found.url.includes("/node_modules/")) {
    return found;
  }
  const url = new URL(found.url);
  url.searchParams.set(AGAIN, again);
  return { ...found, url: url.href };
}

async function lookUp(
  specifier: string,
  context: ResolveContext,
  next: NextResolve,
): Promise<Resolved> {
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
        // The first error names the searched location.
      }
    }
    throw e;
  }
}

type NextLoad = (url: string, context: object) => Promise<Loaded>;

export async function load(url: string, context: object, next: NextLoad): Promise<Loaded> {
  const { pathname, protocol } = new URL(url);
  if (protocol !== "file:" || !IS_TS.test(pathname) || pathname.includes("/node_modules/")) {
    return await next(url, context);
  }
  const path = fileURLToPath(url.replace(/[?#].*$/, ""));
  await loadSucrase();
  return {
    format: "module",
    source: javaScriptOf(path, readFileSync(path, "utf8")),
    shortCircuit: true,
  };
}

/**
 * Throws a SyntaxError that begins with path, line and column: Node's error has them only in its
 * stack.
 */
function javaScriptOf(path: string, text: string): string {
  let code = text;
  try {
    const compiled = compileText(path, text);
    ({ code } = compiled);
    for (const { line, message } of [...compiled.unsupported, ...requiredImports(text, code)]) {
      throw new SyntaxError(
        `${path}:${line}: ${message}, or name the JavaScript that it is compiled to`,
      );
    }
    return compileUsing(
      code,
      parse(code, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true }),
    );
  } catch (e) {
    if (e instanceof UnsupportedSyntaxError) {
      throw new SyntaxError(`${path}:${e.line}: has ${e.message}`);
    }
    const { message, pos } = e as { readonly message: string; readonly pos?: number };
    const [, what, line, column] =
      /^(?:Error transforming [^:]*: )?(.*) \((\d+):(\d+)\)$/s.exec(message) ?? [];
    if (what === undefined) throw e;
    const advice = typeof pos === "number" ? syntaxAdvice(what, code, pos) : "";
    throw new SyntaxError(
      `${path}:${line}:${Number(column) + (advice === "" ? 0 : 1)}: syntax error: ${what}${advice}`,
    );
  }
}
