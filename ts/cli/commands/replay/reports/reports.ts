// Reports for other programs, beside the results: JUnit, SARIF, annotations for GitHub Actions.
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CommandError } from "../../../frame/errors.ts";
import type { ReplayLine } from "../line.ts";
import type { ReplayCall } from "../options.ts";
import type { Group, Summary } from "../summary.ts";
import { githubAnnotations } from "./github.ts";
import { JUnit } from "./junit.ts";
import { sarif } from "./sarif.ts";

export interface Reports {
  /** A history; `group` when it is not ok. */
  add(line: ReplayLine, group: Group | undefined): void;
  /** At the end. */
  write(summary: Summary, ms: number): Promise<void>;
}

/** The reports that the options ask for. `workflows`: the modules, for what has no line. */
export function reportsOf({ options, io, print }: ReplayCall, workflows: readonly string[]): Reports {
  const junit = options.junit === undefined ? undefined : new JUnit();
  const write = async (option: string, path: string, text: string) => {
    try {
      await writeFile(resolve(io.cwd, path), text);
    } catch (e) {
      throw new CommandError(`${option} ${path} cannot be written: ${(e as Error).message}`, { cause: e });
    }
  };
  return {
    add: (line, group) => junit?.add(line, group?.place),
    write: async (summary, ms) => {
      if (junit !== undefined) await write("--junit", options.junit!, junit.text(ms));
      if (options.sarif !== undefined) await write("--sarif", options.sarif, sarif(summary, workflows));
      // Standard output belongs to the program that reads JSON there; the runner reads both.
      if (options.github) (print.json ? io.err : io.out)(githubAnnotations(summary, workflows));
    },
  };
}
