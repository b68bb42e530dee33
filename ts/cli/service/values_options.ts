// The options --values and --values-rules, of replays and of `worker --watch`.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { readValueRules } from "../../debug/divergence/value_rules.ts";
import type { ValueComparison } from "../../debug/divergence/types.ts";
import type { Options } from "../frame/command.ts";
import { UsageError } from "../frame/errors.ts";

const SECTION = "Values";

export const VALUES_OPTIONS = {
  values: {
    section: SECTION,
    type: "text",
    choices: ["warn", "error"],
    bare: "warn",
    help:
      "Report values that differ from history and that no replay compares: arguments, results, durations, options, memo, search attributes. The report contains both values. warn reports them; error also fails. Without a value: warn",
  },
  valuesRules: {
    section: SECTION,
    type: "text",
    value: "file",
    completes: "files",
    help:
      'With --values: a JSON file, { "ignore": [{ "path": "**.createdAt" }] }, of values to leave out',
  },
} as const satisfies Options;

/** Reads the options. Returns undefined without --values. */
export async function readValuesOptions(
  { values, valuesRules }: {
    readonly values: "warn" | "error" | undefined;
    readonly valuesRules: string | undefined;
  },
  cwd: string,
): Promise<ValueComparison | undefined> {
  if (values === undefined) {
    if (valuesRules !== undefined) throw new UsageError("--values-rules needs --values");
    return undefined;
  }
  if (valuesRules === undefined) return {};
  try {
    return { ignore: readValueRules(await readFile(resolve(cwd, valuesRules), "utf8")) };
  } catch (e) {
    throw new UsageError(`--values-rules ${valuesRules}: ${(e as Error).message}`);
  }
}
