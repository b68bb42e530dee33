// Formats the findings of a store check.
import type { StoreProblem } from "../../../engine/maintenance/mod.ts";
import type { Color, Printer } from "../../frame/printer.ts";
import { printable } from "../../frame/printable.ts";

const where = (path: string, { workflowId, runId, workflowType }: StoreProblem): string =>
  printable(runId === "" ? path : `${workflowType} "${workflowId}" (run ${runId})`);

/** Returns a line for each problem with its subject. `word` is the kind of problem. */
export function problemLines(
  print: Printer,
  path: string,
  problems: readonly StoreProblem[],
  word: (problem: StoreProblem) => readonly [text: string, color: Color] = () => ["damaged", "red"],
): string {
  return problems.map((problem) => {
    const [text, color] = word(problem);
    return `${print.paint(text, color)}  ${where(path, problem)}\n    ${
      printable(problem.message)
    }\n`;
  }).join("");
}

const MAX_NOTES = 10;

/** Returns lines for unusual findings that are not errors. */
export function noteLines(print: Printer, path: string, notes: readonly StoreProblem[]): string {
  const more = notes.length - MAX_NOTES;
  return problemLines(print, path, notes.slice(0, MAX_NOTES), () => ["note", "cyan"]) +
    (more > 0 ? `${print.paint("note", "cyan")}  and ${more} more: --json lists them all\n` : "");
}
