// Cycles of imports: sets of files of which each reaches every other one (strongly connected
// components, after Tarjan; with an explicit stack, so that long chains do not overflow).
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { code, importsOfModule } from "../rooms.mjs";
import { root } from "./steps.mjs";

const walk = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path).flatMap((name) => walk(join(path, name)))
    : path.endsWith(".ts")
    ? [path]
    : [];

/** The imports of every module below a folder: from its path below the root to `{ to, types }`. */
export const importsOfFiles = (folder) =>
  new Map(
    walk(join(root, folder)).map((path) => [
      relative(root, path).split(sep).join("/"),
      importsOfModule(path, code(readFileSync(path, "utf8"))),
    ]),
  );

/**
 * Circles of two files or more, each sorted, the largest first. Without types: those that modules
 * have when they are loaded.
 */
export function circles(imports, withTypes) {
  const targets = (file) =>
    imports.get(file).filter(({ to, types }) => imports.has(to) && (withTypes || !types)).map((
      { to },
    ) => to);
  const index = new Map(), low = new Map(), open = [], isOpen = new Set(), found = [];
  const enter = (file) => {
    index.set(file, index.size);
    low.set(file, index.get(file));
    open.push(file);
    isOpen.add(file);
    return { file, left: targets(file) };
  };
  const lower = (file, value) => low.set(file, Math.min(low.get(file), value));
  for (const first of imports.keys()) {
    if (index.has(first)) continue;
    for (const path = [enter(first)]; path.length > 0;) {
      const { file, left } = path[path.length - 1];
      const next = left.pop();
      if (next !== undefined) {
        if (!index.has(next)) path.push(enter(next));
        else if (isOpen.has(next)) lower(file, index.get(next));
        continue;
      }
      path.pop();
      if (path.length > 0) lower(path[path.length - 1].file, low.get(file));
      if (low.get(file) !== index.get(file)) continue;
      const circle = open.splice(open.indexOf(file)).sort();
      for (const member of circle) isOpen.delete(member);
      if (circle.length > 1) found.push(circle);
    }
  }
  return found.sort((a, b) => b.length - a.length);
}
