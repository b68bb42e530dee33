// Reports in addition to results: JUnit, SARIF and GitHub Actions annotations for programs, HTML
// for people.
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { HistoryFile } from "../../../../history_files/history_file.ts";
import { CommandError } from "../../../frame/errors.ts";
import { redactionOf } from "../../history/rules.ts";
import type { ReplayLine } from "../line.ts";
import type { ReplayCall } from "../options.ts";
import type { Group, Summary } from "../summary.ts";
import { githubAnnotations } from "./github.ts";
import type { HtmlReportOptions } from "./html.ts";
import { JUnit } from "./junit.ts";
import { sarif } from "./sarif.ts";

export interface Reports {
  /** Adds a history; `group` if it is not ok, `history` if `keeps` returned true. */
  add(line: ReplayLine, group: Group | undefined, history: HistoryFile | undefined): void;
  /** Returns whether `add` needs the history. */
  keeps(line: ReplayLine, number: number): boolean;
  /** Called at the end. */
  write(summary: Summary, ms: number): Promise<void>;
}

export interface ReportsWith extends Pick<HtmlReportOptions, "folder" | "realm"> {
  /** Modules, for results without a line. */
  readonly workflows: readonly string[];
}

/** Returns the reports of the options. */
export async function reportsOf(
  { options, io, print, signal }: ReplayCall,
  { workflows, folder, realm }: ReportsWith,
): Promise<Reports> {
  const junit = options.junit === undefined ? undefined : new JUnit();
  const { strict, htmlValues, htmlKey: key, htmlMatch: match, htmlKeep: keep } = options;
  const given = {
    key,
    match,
    keep,
    numbers: options.htmlNumbers,
    taskQueues: options.htmlTaskQueues,
  };
  const html = options.html === undefined ? undefined : new (await import("./html.ts")).HtmlReport({
    ...{ folder, realm, signal, strict },
    isCurrent: options.store !== undefined || options.fromCluster !== undefined,
    redaction: htmlValues ? undefined : redactionOf(given, "--html-"),
  });
  const write = async (option: string, path: string, text: string) => {
    try {
      await writeFile(resolve(io.cwd, path), text);
    } catch (e) {
      throw new CommandError(`${option} ${path} cannot be written: ${(e as Error).message}`, {
        cause: e,
      });
    }
  };
  return {
    add: (line, group, history) => {
      junit?.add(line, group?.place);
      html?.add(line, group, history);
    },
    keeps: (line, number) => html?.keeps(line, number) === true,
    write: async (summary, ms) => {
      if (junit !== undefined) await write("--junit", options.junit!, junit.text(ms));
      if (options.sarif !== undefined) {
        await write("--sarif", options.sarif, sarif(summary, workflows));
      }
      if (html !== undefined) await write("--html", options.html!, await html.text(summary));
      // Standard output belongs to the program that reads JSON; the runner reads both streams.
      if (options.github) (print.json ? io.err : io.out)(githubAnnotations(summary, workflows));
    },
  };
}
