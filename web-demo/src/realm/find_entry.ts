// Finds the file that has the workflow of a history: it exports the type's name, or declares a
// native workflow of that name. Texts are searched, not parsed, because the loader checks the file
// anyway.
import { isBundle } from "../../../ts/modules/bundle/format.ts";
import type { CodeFile } from "../store/code_set.ts";

export interface FoundEntries {
  /**
   * Paths, the most likely first. One: the entry. Several: the user chooses. Empty: no file has the
   * workflow.
   */
  readonly candidates: readonly string[];
  /** Names of the workflows in the files, for messages. */
  readonly known: readonly string[];
}

const IS_TEST = /(?:^|\/)(?:tests?|__tests__|spec)\/|[._-](?:test|spec)\.[cm]?[jt]sx?$/;
const NATIVE = /\bworkflow\s*(?:<[^()]{0,500}>)?\s*\(\s*(["'`])((?:(?!\1)[^\\\n])+)\1/g;
const EXPORTED =
  /\bexport\s+(?:async\s+)?(?:function\s*\*?|const|let|class)\s+([\p{L}_$][\p{L}\p{N}_$]*)/gu;
const LISTED = /\bexport\s*\{([^{}]{0,10000})\}/g;
const COMMONJS = /\bexports\.([\p{L}_$][\p{L}\p{N}_$]*)\s*=/gu;
const FOR_TEMPORAL = /["']@temporalio\/workflow["'/]/;
const FOR_NATIVE = /["'](?:npm:|jsr:)?(?:@temporalex\/)?temporalex(?:@[^/"']+)?(?:\/workflow)?["']/;

/** In characters. Larger files are generated and skipped. */
const LARGEST = 2_000_000;

/** Finds the entry among files. */
export function findEntry(files: readonly CodeFile[], workflowType: string): FoundEntries {
  const known = new Set<string>();
  const found: { readonly path: string; readonly rank: number }[] = [];
  for (const { path, text } of files) {
    if (text.length > LARGEST && !isBundle(text)) continue;
    const bundle = isBundle(text);
    const native = FOR_NATIVE.test(text) || bundle ? all(NATIVE, text, 2) : [];
    const isForTemporal = FOR_TEMPORAL.test(text);
    const exported = [...all(EXPORTED, text, 1), ...all(COMMONJS, text, 1), ...listed(text)];
    for (const name of native) known.add(name);
    if (isForTemporal) { for (const name of exported) if (/^[a-z]/i.test(name)) known.add(name); }
    const declares = native.includes(workflowType);
    if (!declares && !exported.includes(workflowType)) continue;
    // An activity, a client's function or a test can have the workflow's name as well.
    const rank =
      (bundle || declares ? 0 : isForTemporal ? 0 : exported.includes(workflowType) ? 2 : 4) +
      (IS_TEST.test(path) ? 1 : 0);
    found.push({ path, rank });
  }
  found.sort((a, b) =>
    a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1)
  );
  const best = found.filter(({ rank }) => rank === found[0]!.rank);
  return { candidates: best.map(({ path }) => path), known: [...known].sort() };
}

function all(pattern: RegExp, text: string, group: number): string[] {
  return [...text.matchAll(pattern)].map((match) => match[group]!);
}

/** Names of `export { a, b as c }`. */
function listed(text: string): string[] {
  return all(LISTED, text, 1).flatMap((inner) =>
    inner.split(",").map((each) =>
      /(?:^|\bas\s+|^\s*)([\p{L}_$][\p{L}\p{N}_$]*)\s*$/u.exec(each.trim())?.[1] ?? ""
    ).filter((
      name,
    ) => name !== "")
  );
}
