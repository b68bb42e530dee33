// Resolves the `exports` and `imports` fields of package.json by Node's rules: keys of an object in
// their written order, the first usable entry of an array, and the longest matching prefix for
// patterns with `*`.

type Target = string | null | readonly Target[] | { readonly [condition: string]: Target };

/**
 * Returns the target as written in package.json ("./..." or, for imports, a bare specifier); null:
 * not exported; undefined: no match.
 */
export function matchSubpath(
  field: unknown,
  subpath: string,
  conditions: ReadonlySet<string>,
): string | null | undefined {
  const table = asTable(field, subpath.startsWith("#"));
  if (table === undefined) return undefined;
  if (Object.hasOwn(table, subpath) && !subpath.includes("*")) {
    return pick(table[subpath]!, undefined, conditions);
  }
  let best: { key: string; star: string } | undefined;
  for (const key of Object.keys(table)) {
    const at = key.indexOf("*");
    if (at < 0) continue;
    const head = key.slice(0, at);
    const tail = key.slice(at + 1);
    if (!subpath.startsWith(head) || subpath === head) continue;
    if (!subpath.endsWith(tail) || subpath.length < key.length) continue;
    const better = best === undefined || at > best.key.indexOf("*") ||
      (at === best.key.indexOf("*") && key.length > best.key.length);
    if (better) best = { key, star: subpath.slice(at, subpath.length - tail.length) };
  }
  return best === undefined ? undefined : pick(table[best.key]!, best.star, conditions);
}

function asTable(
  field: unknown,
  isImports: boolean,
): { readonly [subpath: string]: Target } | undefined {
  if (field === undefined || field === null) return undefined;
  if (typeof field !== "object" || Array.isArray(field)) return { ".": field as Target };
  const keys = Object.keys(field);
  if (isImports || keys.some((key) => key.startsWith("."))) {
    return field as { [subpath: string]: Target };
  }
  return { ".": field as Target };
}

function pick(
  target: Target,
  star: string | undefined,
  conditions: ReadonlySet<string>,
): string | null | undefined {
  if (target === null) return null;
  if (typeof target === "string") return star === undefined ? target : target.replaceAll("*", star);
  if (Array.isArray(target)) {
    let last: string | null | undefined;
    for (const entry of target as readonly Target[]) {
      last = pick(entry, star, conditions);
      if (typeof last === "string") return last;
    }
    return last;
  }
  for (const [condition, value] of Object.entries(target as { [condition: string]: Target })) {
    if (condition !== "default" && !conditions.has(condition)) continue;
    const found = pick(value, star, conditions);
    if (found !== undefined) return found;
  }
  return undefined;
}
