// Options that select replaced values: for `history redact`, and for the report of `replay --html`.
import type { RedactionRule, RedactOptions } from "../../../debug/take_away/redact.ts";
import { UsageError } from "../../frame/errors.ts";

/** Values of the options. */
export interface RulesGiven {
  readonly key: readonly string[];
  readonly match: readonly string[];
  readonly numbers: boolean;
  readonly taskQueues: boolean;
  readonly keep: readonly string[];
}

/**
 * `prefix`: of the options' names in messages, "--" or "--html-". Without patterns all texts are
 * replaced.
 */
export function redactionOf({ key, match, ...rest }: RulesGiven, prefix: string): RedactOptions {
  if (key.length === 0 && match.length === 0) return rest;
  const pattern = (text: string, option: string): RegExp => {
    try {
      return new RegExp(text, "u");
    } catch (error) {
      throw new UsageError(`${prefix}${option} ${text}: ${(error as Error).message}`);
    }
  };
  const rules: RedactionRule[] = [
    ...key.map((each) => ({ key: pattern(each, "key") })),
    ...match.map((each) => ({ value: pattern(each, "match") })),
  ];
  return { ...rest, rules };
}
