// Options of the command and the type of its call.
import type { Call, Options } from "../../frame/command.ts";

export const options = {
  rule: {
    type: "text",
    value: "rule=off|warning|error",
    many: true,
    help: "Change the severity of a rule",
  },
  maxWarnings: {
    type: "number",
    value: "n",
    help: "Maximum number of warnings; more fail the command. Default: no limit",
  },
  rules: { type: "flag", help: "List the rules with their reasons, without checking any module" },
} as const satisfies Options;

export type LintCall = Call<typeof options>;
