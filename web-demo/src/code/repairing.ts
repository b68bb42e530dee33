// Puts a repair into the code: around the line that parts from history, with the import that it needs.
import type { Repair } from "../../../ts/debug/divergence/types.ts";
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

function repaired(run: OpenRun, { location, patchId }: Repair): { readonly path: string; readonly text: string } | undefined {
  const code = run.code.value;
  const at = code === undefined || patchId === "" ? undefined : placeOf(location, code);
  const file = at === undefined ? undefined : highlighted(code!, at.path);
  if (file === undefined) return undefined;
  const text = withPatch(file.lines.join("\n"), at!.line, blockEnd(file.tokens, at!.line), patchId);
  return text === undefined ? undefined : { path: at!.path, text };
}

/** Whether it can be put in by the page: else it is there to be copied. */
export const canPutIn = (run: OpenRun, repair: Repair): boolean => repaired(run, repair) !== undefined;

/** Edits the code, which is replayed at once. */
export function putIn(run: OpenRun, repair: Repair): void {
  const next = repaired(run, repair);
  if (next !== undefined) editFile(run, next.path, next.text);
}
