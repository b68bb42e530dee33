// Options of the commands and the types of their calls.
import type { Call, Options } from "../../frame/command.ts";
import { WORKFLOW_MODULES } from "../../service/workflow_modules_options.ts";

const OUT = {
  type: "text",
  value: "file",
  required: true,
  completes: "files",
  help: "The file to write; it must not exist",
} as const satisfies Options[string];
const REPAIRED = {
  type: "text",
  value: "module",
  completes: "files",
  help:
    "A module with code that replays the history, from before the change for instance: what is left replays against it, too",
} as const satisfies Options[string];
const STRICT = {
  type: "flag",
  help: "Extra commands at the end of a task, and swapped update ids, are divergences, too",
} as const satisfies Options[string];

export const minimiseOptions = {
  ...WORKFLOW_MODULES,
  out: OUT,
  repaired: REPAIRED,
  thorough: {
    type: "flag",
    help:
      "Leave out what came before also without --repaired: less is left, which repaired code may not replay",
  },
  strict: STRICT,
} as const satisfies Options;

export const redactOptions = {
  ...WORKFLOW_MODULES,
  out: OUT,
  key: {
    type: "text",
    value: "pattern",
    many: true,
    help: "Replace values under keys that match this regular expression alone",
  },
  match: {
    type: "text",
    value: "pattern",
    many: true,
    help:
      "Replace texts that match this regular expression, or whose base64 does. Without --key and --match all texts are replaced",
  },
  numbers: { type: "flag", help: "Replace numbers, too" },
  taskQueues: { type: "flag", help: "Replace names of task queues, too" },
  keep: {
    type: "text",
    value: "text",
    many: true,
    help: "Leave this text as it is: consent to one that the command names",
  },
  unverified: {
    type: "flag",
    help: "Do not replay: whether the verdict stays the same is not known then",
  },
} as const satisfies Options;

export const testOptions = {
  ...WORKFLOW_MODULES,
  runner: {
    type: "text",
    value: "runner",
    choices: ["node", "vitest", "deno"],
    default: "node",
    help: "What runs the test",
  },
  out: {
    ...OUT,
    value: "file.test.mjs",
    help:
      "The test to write (.test.mjs, .test.js, .test.ts or .test.mts; `node --test` runs the latter two from Node 22.18 on); its history is written next to it. Neither must exist",
  },
  repaired: REPAIRED,
  strict: STRICT,
} as const satisfies Options;

export type MinimiseCall = Call<typeof minimiseOptions>;
export type RedactCall = Call<typeof redactOptions>;
export type TestCall = Call<typeof testOptions>;
