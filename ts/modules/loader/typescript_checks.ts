// Finds TypeScript that sucrase removes or keeps incorrectly: namespaces with statements, `export
// =`, `import x = require()`. Each is rejected with its line, because the program would otherwise
// fail or compute a wrong result far from the cause.
import { type AnyNode, parse } from "acorn";
import { textGap } from "./module_code.ts";

/** A construct with its place, and an alternative. */
export interface UnsupportedConstruct {
  readonly code: "namespace" | "syntax";
  /** "N", "export =". */
  readonly name: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

const NAME = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$]*`;
const BLOCK = new RegExp(
  String
    .raw`(?<![\p{ID_Continue}$.])(declare${textGap})?(?:(?:namespace|module)[ \t]+(${NAME}(?:\s*\.\s*${NAME})*|"[^"\n]*"|'[^'\n]*')|global)\s*\{`,
  "gu",
);
const EXPORT_EQUALS = /(?<![\w$.])export\s*=(?![=>])/g;
const IMPORT_REQUIRE = new RegExp(
  String.raw`(?<![\w$.])import\s+(?:type\s+)?(${NAME})\s*=\s*require\s*\(`,
  "gu",
);

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

/**
 * Returns constructs whose compiled JavaScript would have another meaning. `toJs` removes types; it
 * throws on syntax errors.
 */
export function unsupportedTypeScript(
  source: string,
  js: string,
  toJs: (text: string) => string,
): UnsupportedConstruct[] {
  return [...namespacesWithCode(source, js, toJs), ...exportEquals(source, js)];
}

/** Returns namespaces that contain more than types. */
function namespacesWithCode(
  source: string,
  js: string,
  toJs: (text: string) => string,
): UnsupportedConstruct[] {
  const found: UnsupportedConstruct[] = [];
  const lines = js.split("\n");
  let ambientUntil = 0;
  for (const match of source.matchAll(BLOCK)) {
    const [head, declared, name] = match;
    const start = match.index;
    if (start < ambientUntil || !isRemoved(source, lines, start, head)) continue;
    const open = start + head.length;
    const inner = blockFrom(source, open, toJs);
    if (declared !== undefined || name === undefined || /^["']/.test(name)) {
      ambientUntil = open + (inner?.text.length ?? 0);
    } else if (inner === undefined || hasStatements(inner.js)) {
      const message =
        `declares the TypeScript namespace "${name}", which has code in it: make it a separate module`;
      found.push({ code: "namespace", name, line: lineAt(source, start), message });
    }
  }
  return found;
}

/**
 * Whether the text is missing in the JavaScript on its line. Comments and strings are kept by
 * compilation.
 */
function isRemoved(
  source: string,
  jsLines: readonly string[],
  start: number,
  text: string,
): boolean {
  const before = source.slice(source.lastIndexOf("\n", start - 1) + 1, start);
  if (before.includes("//") || /^\s*\/?\*/.test(before)) return false;
  return !(jsLines[lineAt(source, start) - 1] ?? "").includes(text.split("\n", 1)[0]!);
}

/**
 * Returns the block that begins at an offset, up to the first closing brace with which it parses.
 */
function blockFrom(
  source: string,
  open: number,
  toJs: (text: string) => string,
): { text: string; js: string } | undefined {
  for (let end = source.indexOf("}", open); end >= 0; end = source.indexOf("}", end + 1)) {
    const text = source.slice(open, end);
    try {
      return { text, js: toJs(text) };
    } catch {
      // The brace closes a nested block.
    }
  }
  return undefined;
}

function hasStatements(js: string): boolean {
  try {
    const { body } = parse(js, { ecmaVersion: "latest", sourceType: "module" });
    return (body as AnyNode[]).some(({ type }) => type !== "EmptyStatement");
  } catch {
    return true;
  }
}

function exportEquals(source: string, js: string): UnsupportedConstruct[] {
  const lines = js.split("\n");
  return [...source.matchAll(EXPORT_EQUALS)].flatMap((match) => {
    const line = lineAt(source, match.index);
    if (
      !isRemoved(source, lines, match.index, match[0]) ||
      !/module\.exports\s*=/.test(lines[line - 1] ?? "")
    ) return [];
    const message = "uses `export =`: write `export default` or named exports";
    return [{ code: "syntax" as const, name: "export =", line, message }];
  });
}

/** `import x = require("...")`, which compiles to a call of `require`. */
export function requiredImports(source: string, js: string): UnsupportedConstruct[] {
  const lines = js.split("\n");
  return [...source.matchAll(IMPORT_REQUIRE)].flatMap((match) => {
    const line = lineAt(source, match.index);
    if (
      !isRemoved(source, lines, match.index, match[0]) ||
      !/\brequire\s*\(/.test(lines[line - 1] ?? "")
    ) return [];
    const message = `uses \`import ${match[1]} = require()\`: write \`import ${
      match[1]
    } from\` or \`import * as ${match[1]} from\``;
    return [{ code: "syntax" as const, name: match[1]!, line, message }];
  });
}
