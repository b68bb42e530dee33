// What to do about code that cannot be loaded for want of a file.
import type { Problem } from "../../../ts/modules/loader/errors.ts";
import type { CodeSet } from "./code_set.ts";

/** The problem with what the user of the page can do about it. */
export function explained(problem: Problem, code: CodeSet): Problem {
  if (problem.code !== "not-found" || problem.name === "") return problem;
  return { ...problem, message: `${problem.message}. ${advice(problem.name, code)}` };
}

function advice(specifier: string, { source }: CodeSet): string {
  const command = "or start `temporalex debug` with the history and `--workflows`, which finds modules as Node does";
  if (specifier.startsWith(".") || specifier.startsWith("/")) {
    return source === undefined
      ? `Drop that file beside this one, or the folder that holds both, ${command}`
      : `The dropped folder does not hold it: drop the folder above, ${command}`;
  }
  return source === undefined
    ? `It is a package: drop the folder of the project, with its node_modules, ${command}`
    : `It is a package, and the dropped folder has no node_modules with it: install it and drop the folder again, ${command}`;
}
