// How many lines files and functions have. Types are removed and lines stay where they are, so the
// numbers are those of the sources.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { parse } from "acorn";
import { transform } from "sucrase";
import { root } from "./steps.mjs";

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

const walk = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path).filter((name) => name !== "node_modules" && name !== "generated").flatMap((
      name,
    ) => walk(join(path, name)))
    : /\.(?:tsx?|mjs)$/.test(path) && !path.endsWith(".d.ts")
    ? [path]
    : [];

/** The sources below folders, from the root, without generated ones. */
export const sourcesOf = (folders) =>
  folders.flatMap((folder) => walk(join(root, folder))).map((path) =>
    relative(root, path).split(sep).join("/")
  );

export const linesOf = (text) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

/**
 * `{ name, lines, from }` of each function of a module's source. A function without a name has that
 * of what it is the value of.
 */
export function functionsOf(text, hasJsx = false) {
  /** @type {import("sucrase").Transform[]} */
  const transforms = hasJsx ? ["typescript", "jsx"] : ["typescript"];
  const { code } = transform(text, {
    transforms,
    disableESTransforms: true,
    keepUnusedImports: true,
    production: true,
  });
  const found = [];
  const visit = (node, name) => {
    if (Array.isArray(node)) return node.forEach((each) => visit(each, name));
    if (node === null || typeof node !== "object" || typeof node.type !== "string") return;
    const own = node.id?.name ?? node.key?.name ?? name;
    if (FUNCTIONS.has(node.type)) {
      const from = node.loc.start.line;
      found.push({ name: own ?? "", lines: node.loc.end.line - from + 1, from });
    }
    const inner = node.type === "CallExpression" ? `an argument of ${nameOf(node.callee)}` : own;
    for (const [key, child] of Object.entries(node)) if (key !== "loc") visit(child, inner);
  };
  visit(
    parse(code, {
      ecmaVersion: "latest",
      sourceType: "module",
      locations: true,
      allowHashBang: true,
    }),
    undefined,
  );
  return found;
}

const nameOf = (callee) => callee.name ?? callee.property?.name ?? "a function";

/** What is larger than it may be: `path: 612 lines`, `path: name has 120 lines`. */
export function tooLarge(paths, { file, fn }) {
  return paths.flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    const lines = linesOf(text);
    return [
      ...(lines > file ? [`${path}: ${lines} lines`] : []),
      ...functionsOf(text, path.endsWith(".tsx")).filter((each) => each.lines > fn).map((
        { name, lines },
      ) => `${path}: ${name} has ${lines} lines`),
    ];
  });
}
