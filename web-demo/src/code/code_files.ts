// The open run's files as highlighted lines, cached per text.
import type { CodeSet } from "../store/code_set.ts";
import { HighlightedFile } from "./highlight.ts";

const kept = new WeakMap<CodeSet, Map<string, HighlightedFile>>();

/** A file of a code set; undefined if the set has no file with this path. */
export function highlighted(code: CodeSet, path: string): HighlightedFile | undefined {
  let files = kept.get(code);
  if (files === undefined) kept.set(code, files = new Map());
  let file = files.get(path);
  const text = code.files.find((one) => one.path === path)?.text;
  if (file === undefined && text !== undefined) {
    file = new HighlightedFile(
      text,
      code.files.filter((one) => one.path !== path && one.text.length < 500_000).map((one) =>
        one.text
      ),
    );
    files.set(path, file);
  }
  return file;
}

/** Short unique names of files: "workflow.ts", or "cart/workflow.ts" and "stock/workflow.ts". */
export function shortNames(paths: readonly string[]): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  for (const path of paths) {
    const parts = path.split("/");
    let n = 1;
    const end = () => parts.slice(-n).join("/");
    while (
      n < parts.length &&
      paths.some((other) => other !== path && (other === end() || other.endsWith(`/${end()}`)))
    ) n++;
    named.set(path, end());
  }
  return named;
}
