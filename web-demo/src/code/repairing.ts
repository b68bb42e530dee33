// Puts a repair into the code: around the line that parts from history, with the import that it needs.
import type { Divergence } from "../../../ts/debug/divergence/types.ts";
import type { OpenRun } from "../app/state.ts";
import { blockEnd } from "./block.ts";
import { highlighted } from "./code_files.ts";
import { editFile } from "./edits.ts";
import { placeOf } from "./view_facts.ts";

/** The text with `if (patched("id")) { ... }` around the statement at a line; undefined: there is none that could be wrapped. */
export function withPatch(text: string, line: number, last: number, patchId: string): string | undefined {
  const lines = text.split("\n");
  const first = lines[line - 1];
  // A declaration inside of a block would be gone behind it.
  if (first === undefined || /^\s*(?:const|let|var|return|case|on\(|\}|\)|\])/.test(first)) return undefined;
  const indent = /^\s*/.exec(first)![0];
  const body = lines.slice(line - 1, last).map((one) => one === "" ? one : `  ${one}`);
  const next = [
    ...lines.slice(0, line - 1),
    `${indent}if (patched(${JSON.stringify(patchId)})) {`,
    ...body,
    `${indent}}`,
    ...lines.slice(last),
  ].join("\n");
  return withImport(next, "patched");
}

/** Adds a name to the import of the workflow module. */
export function withImport(text: string, name: string): string {
  if (new RegExp(`import\\s*(?:type\\s*)?\\{[^}]*\\b${name}\\b[^}]*\\}`).test(text)) return text;
  const known = /import\s*\{([^}]*)\}\s*from\s*(["'])((?:temporalex|@temporalio)\/workflow)\2/.exec(text);
  if (known === null) {
    const module = /["'](@temporalio\/workflow)["']/.exec(text)?.[1] ?? "temporalex/workflow";
    return `import { ${name} } from "${module}";\n${text}`;
  }
  const list = known[1]!;
  const [head, tail] = [list.trimEnd().replace(/,$/, ""), /\s*$/.exec(list)![0]];
  const isLong = list.includes("\n");
  const added = isLong ? `${head},\n${/\n(\s*)/.exec(list)?.[1] ?? "  "}${name},${tail}` : `${head}, ${name}${tail || " "}`;
  const at = known.index + known[0].indexOf(list);
  return text.slice(0, at) + added + text.slice(at + list.length);
}

function repaired(run: OpenRun, divergence: Divergence): { readonly path: string; readonly text: string } | undefined {
  const { repair, edit } = divergence;
  const code = run.code.value;
  const at = code === undefined || repair === undefined || repair.patchId === "" ? undefined : placeOf(repair.location, code);
  const file = at === undefined ? undefined : highlighted(code!, at.path);
  if (file === undefined) return undefined;
  const all = file.lines.join("\n");
  const text = edit.kind === "inserted" || edit.kind === "endedLate"
    ? withPatch(all, at!.line, blockEnd(file.tokens, at!.line), repair!.patchId)
    : edit.kind === "patchRenamed"
    ? withPatchId(all, at!.line, repair!.patchId)
    : undefined;
  return text === undefined ? undefined : { path: at!.path, text };
}

/** The text with another id in the `patched("...")` of a line. */
export function withPatchId(text: string, line: number, patchId: string): string | undefined {
  const lines = text.split("\n");
  const before = lines[line - 1] ?? "";
  const after = before.replace(
    /\b((?:deprecatePatch|patched)\(\s*)(["'])[^"']*\2/,
    (_, call) => `${call}${JSON.stringify(patchId)}`,
  );
  return after === before ? undefined : [...lines.slice(0, line - 1), after, ...lines.slice(line)].join("\n");
}

/** Whether it can be put in by the page: else it is there to be copied. */
export const canPutIn = (run: OpenRun, divergence: Divergence): boolean => repaired(run, divergence) !== undefined;

/** Edits the code, which is replayed at once. */
export function putIn(run: OpenRun, divergence: Divergence): void {
  const next = repaired(run, divergence);
  if (next !== undefined) editFile(run, next.path, next.text);
}
