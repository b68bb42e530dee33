// The names that a TypeScript module exports, values and types apart, read from its text and from
// the modules that it names: of sources, and of declarations as the compiler writes them.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The file of an import; undefined for another package's that `resolvePackage` does not know. */
function fileOf(from, specifier, resolvePackage) {
  if (!specifier.startsWith(".")) return resolvePackage?.(specifier);
  const base = join(dirname(from), specifier);
  return [base, `${base}.d.ts`, `${base}.ts`, join(base, "index.d.ts")].find((path) =>
    /\.ts$/.test(path) && existsSync(path)
  );
}

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(const enum|enum|const|let|class|function\*?|interface|type|namespace|unique symbol)\s+([\w$]+)(.*)$/gm;

/** `{ values: Set, types: Set }` of a module. A class and an enum are both. */
export function exportedNames(file, resolvePackage, seen = new Map()) {
  if (seen.has(file)) return seen.get(file);
  const names = { values: new Set(), types: new Set() };
  seen.set(file, names);
  const code = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\//g, "").replace(
    /(^|\s)\/\/.*$/gm,
    "",
  );
  const namesFrom = (from) => {
    const target = fileOf(file, from, resolvePackage);
    return target === undefined ? undefined : exportedNames(target, resolvePackage, seen);
  };
  const add = (kind, name) => names[kind].add(name);
  for (const [, kind, name, rest] of code.matchAll(DECLARED)) {
    if (["interface", "type"].includes(kind)) add("types", name);
    else add("values", name);
    if (["class", "enum", "const enum"].includes(kind)) add("types", name);
    // `declare const a: ..., b: ...` in one statement, as the compiler writes destructuring.
    if (kind === "const") {
      for (const [, more] of rest.matchAll(/, ([\w$]+): \(input/g)) add("values", more);
    }
  }
  for (
    const [, typeOnly, list, , from] of code.matchAll(
      /^export (type )?\{([^}]*)\}\s*(from\s*["'](.*?)["'])?/gm,
    )
  ) {
    const source = from === undefined ? undefined : namesFrom(from);
    for (const entry of list.split(",").map((part) => part.trim()).filter((part) => part !== "")) {
      const parsed = /^(type )?([\w$]+)(?: as ([\w$]+))?$/.exec(entry.replace(/\s+/g, " "));
      if (parsed === null) throw new Error(`${file}: cannot read the export "${entry}"`);
      const [, isType, name, as = name] = parsed;
      const kinds = source === undefined
        ? kindsOfLocal(code, name, namesFrom)
        : kindsIn(source, name);
      if (kinds.type || typeOnly || isType) add("types", as);
      if (kinds.value && !typeOnly && !isType) add("values", as);
    }
  }
  for (const [, from] of code.matchAll(/^export \*\s*from\s*["'](.*?)["']/gm)) {
    const source = namesFrom(from);
    if (source === undefined) continue;
    for (const kind of ["values", "types"]) {
      for (const name of source[kind]) if (name !== "default") add(kind, name);
    }
  }
  return names;
}

const kindsIn = (names, name) => ({ value: names.values.has(name), type: names.types.has(name) });

/** Of a name that is declared or imported in the same text. */
function kindsOfLocal(code, name, namesFrom) {
  for (
    const [, typeOnly, list, from] of code.matchAll(
      /^import (type )?\{([^}]*)\}\s*from\s*["'](.*?)["']/gm,
    )
  ) {
    for (const entry of list.split(",")) {
      const [, isType, its, as = its] =
        /^\s*(type )?([\w$]+)(?:\s+as\s+([\w$]+))?\s*$/.exec(entry) ?? [];
      if (as !== name || its === undefined) continue;
      const source = namesFrom(from);
      if (source === undefined) return { type: true, value: false };
      const kinds = kindsIn(source, its);
      return typeOnly || isType ? { type: kinds.type || kinds.value, value: false } : kinds;
    }
  }
  const declared = [
    ...code.matchAll(new RegExp(`^(?:declare )?(?:abstract )?(\\w+) (?:.*, )?${name}\\b`, "gm")),
  ].map((
    [, kind],
  ) => kind);
  const type = declared.some((kind) => ["interface", "type", "class", "enum"].includes(kind));
  return {
    type,
    value: declared.some((kind) => ["const", "let", "class", "function", "enum"].includes(kind)),
  };
}
