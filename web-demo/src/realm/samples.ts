// The code that the page has: the examples. It runs in the sandbox as all other code does, without a click, because it is the page's own.
import { FILES, textOf } from "./sample_lines.ts";
import { type CodeSet, codeSet } from "./code_set.ts";

/** The files of the example that has this workflow; undefined where none has. */
export function sampleCode(workflowType: string): CodeSet | undefined {
  if (!Object.hasOwn(FILES, workflowType)) return undefined;
  const path = FILES[workflowType]!;
  return codeSet({ entry: path, files: [{ path, text: textOf(path) }], origin: "sample" });
}
