// The workflow modules that an option names, for a page that replays histories against them.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { formatProblem, type Problem } from "../../modules/loader/errors.ts";
import { shortPath } from "../commands/replay/place.ts";
import type { Call, Options } from "../frame/command.ts";
import { UsageError } from "../frame/errors.ts";
import { PAYLOAD_CONVERTER, WORKFLOW_MODULES } from "../service/workflow_modules_options.ts";
import type { CodeModules } from "./served_code.ts";

export const CODE_OPTIONS = {
  ...WORKFLOW_MODULES,
  workflows: {
    ...WORKFLOW_MODULES.workflows,
    help:
      "Module that exports workflows. The module and its imports are loaded again when a file is saved",
  },
  payloadConverter: PAYLOAD_CONVERTER,
} as const satisfies Options;

type CodeCall = Call<typeof CODE_OPTIONS>;

/**
 * Returns the modules, or undefined if the options name none. Throws a UsageError for a module that
 * does not exist.
 */
export function codeModules({ options, io }: CodeCall): CodeModules | undefined {
  const found = (flag: string) => (module: string): string => {
    const path = resolve(io.cwd, module);
    if (!existsSync(path)) throw new UsageError(`${flag}: module not found: ${path}`);
    return path;
  };
  const { workflows, interceptors, payloadConverter } = options;
  if (workflows.length === 0) {
    if (interceptors.length > 0) throw new UsageError("--interceptors needs --workflows");
    return undefined;
  }
  return {
    workflows: workflows.map(found("--workflows")),
    interceptors: interceptors.map(found("--interceptors")),
    ...(payloadConverter === undefined
      ? {}
      : { payloadConverter: found("--payload-converter")(payloadConverter) }),
  };
}

/** Prints why a version of the code does not load. */
export function printRefused(
  call: CodeCall,
  version: number,
  problems: readonly Problem[],
  message: string,
): void {
  const { print, io } = call;
  const plain = problems.map(({ file, line, column, message }) => ({
    file: shortPath(file, io.cwd),
    line,
    column,
    message,
  }));
  print.result(
    { event: "refused", version, message, problems: plain },
    () =>
      `${
        print.paint("refused".padEnd(14), "yellow")
      }  the code does not load; the code before it stays\n${
        problems.length === 0
          ? `    ${message}\n`
          : problems.map((problem) => `    ${problemText(call, problem)}\n`).join("")
      }`,
  );
}

/** Returns a problem with its place, for a terminal. */
export const problemText = ({ io }: CodeCall, problem: Problem): string =>
  formatProblem({ ...problem, file: shortPath(problem.file, io.cwd) });
