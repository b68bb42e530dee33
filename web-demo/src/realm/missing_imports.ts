// Advice for code that imports a missing file.
import type { Problem } from "../../../ts/modules/loader/errors.ts";
import type { CodeSet } from "../store/code_set.ts";

/** Appends advice to a problem of a missing import. */
export function explained(problem: Problem, code: CodeSet): Problem {
  if (problem.code !== "not-found" || problem.name === "") return problem;
  return { ...problem, message: `${problem.message}. ${advice(problem.name, code)}` };
}

function advice(specifier: string, { source }: CodeSet): string {
  const command =
    "or start `temporalex debug` with the history and `--workflows`, which finds modules as Node does";
  if (specifier.startsWith(".") || specifier.startsWith("/")) {
    return source === undefined
      ? `Drop that file as well, or the folder that contains both, ${command}`
      : `The file is not in the dropped folder: drop its parent folder, ${command}`;
  }
  return source === undefined
    ? `This is a package: drop the folder of the project, with its node_modules, ${command}`
    : `This package is not in node_modules of the dropped folder: install it and drop the folder again, ${command}`;
}
