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
      "Compare values that a replay ignores (arguments, results, durations, options, memo, search attributes) and report both values if they differ. warn: report; error: report and fail. Without a value: warn",
  },
  valuesRules: {
    section: SECTION,
    type: "text",
    value: "file",
    completes: "files",
    help:
      'With --values: JSON file that lists values to ignore, for example { "ignore": [{ "path": "**.createdAt" }] }',
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
