// What a check of a store found, for people and for programs.
import type { StoreProblem } from "../../../engine/maintenance/mod.ts";
import type { Colour, Printer } from "../../frame/printer.ts";
import { printable } from "../../frame/printable.ts";

const where = (path: string, { workflowId, runId, workflowType }: StoreProblem): string =>
  printable(runId === "" ? path : `${workflowType} "${workflowId}" (run ${runId})`);

/** A line for each problem, with what it is about. `word` says what kind it is. */
export function problemLines(
  print: Printer,
  path: string,
  problems: readonly StoreProblem[],
  word: (problem: StoreProblem) => readonly [text: string, colour: Colour] = () => ["damaged", "red"],
): string {
  return problems.map((problem) => {
    const [text, colour] = word(problem);
    return `${print.paint(text, colour)}  ${where(path, problem)}\n    ${printable(problem.message)}\n`;
  }).join("");
}

const MAX_NOTES = 10;

/** What is odd and may be so: said, and no reason to fail. */
export function noteLines(print: Printer, path: string, notes: readonly StoreProblem[]): string {
  const more = notes.length - MAX_NOTES;
  return problemLines(print, path, notes.slice(0, MAX_NOTES), () => ["note", "cyan"]) +
    (more > 0 ? `${print.paint("note", "cyan")}  and ${more} more: --json lists them all\n` : "");
}
