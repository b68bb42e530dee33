// Options of the command and the type of its call.
import type { Call, Options } from "../../frame/command.ts";

export const options = {
  rule: {
    type: "text",
    value: "rule=off|warning|error",
    many: true,
    help: "Another severity for a rule, or none; may be given several times",
  },
  maxWarnings: {
    type: "number",
    value: "n",
    help: "Fail when there are more warnings than this. Default: warnings never fail",
  },
  rules: { type: "flag", help: "List the rules with their reasons, and look at nothing" },
} as const satisfies Options;

export type LintCall = Call<typeof options>;
