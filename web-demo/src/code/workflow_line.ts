// The line of the workflow's function: shown while no other line is active, because nothing or
// everything has run.
import type { CodeSet } from "../store/code_set.ts";
import type { LineAt } from "./facts.ts";

const RUN = /(?:^|[\s{,])(?:async\s+)?run\s*(?:[(:<,]|$)/;
const WORKFLOW = /\bworkflow\s*[(<]/;
/**
 * Lines of the declaration that are searched for the function: messages and queries can come before
 * it.
 */
const NEAR = 60;

/** The function's line; undefined if no file declares the type. The entry is searched first. */
export function workflowAt({ entry, files }: CodeSet, type: string): LineAt | undefined {
  if (type === "") return undefined;
  for (
    const { path, text } of files.toSorted((a, b) =>
      Number(b.path === entry) - Number(a.path === entry)
    )
  ) {
    const line = lineIn(text, type);
    if (line !== undefined) return { path, line };
  }
  return undefined;
}

function lineIn(text: string, type: string): number | undefined {
  // Most files of a bundle do not contain the name.
  if (!text.includes(type)) return undefined;
  const name = type.replace(/[^\w]/g, "\\$&");
  const native = new RegExp(`\\bworkflow\\s*(?:<[^()]{0,500}>)?\\s*\\(\\s*(["'\`])${name}\\1`).exec(
    text,
  );
  const found = native ??
    new RegExp(
      `\\bexport\\s+(?:async\\s+)?(?:function\\s*\\*?\\s*|const\\s+|let\\s+)${name}(?![\\w$])`,
    ).exec(text);
  if (found === null) return undefined;
  const line = text.slice(0, found.index).split("\n").length;
  if (native === null) return line;
  const lines = text.split("\n").slice(line - 1, line - 1 + NEAR);
  // `workflow("Cart", async () => {`: the declaration is the function.
  if (/=>|\bfunction\b/.test(lines[0]!)) return line;
  // Lines after the next declaration belong to another workflow.
  const next = lines.findIndex((one, i) => i > 0 && WORKFLOW.test(one));
  const run = lines.slice(0, next < 0 ? NEAR : next).findIndex((one) => RUN.test(one));
  return run < 0 ? line : line + run;
}
