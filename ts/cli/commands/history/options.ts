// Options of the commands and the types of their calls.
import type { Call, Options } from "../../frame/command.ts";
import { WORKFLOW_MODULES } from "../../service/workflow_modules_options.ts";

const OUT = {
  type: "text",
  value: "file",
  required: true,
  completes: "files",
  help: "File to write; it must not exist",
} as const satisfies Options[string];
const REPAIRED = {
  type: "text",
  value: "module",
  completes: "files",
  help:
    "Module whose code replays the history, for example from before the change. The reduced history also replays against it",
} as const satisfies Options[string];
const STRICT = {
  type: "flag",
  help: "Treat extra commands at the end of a task and swapped update IDs as divergences",
} as const satisfies Options[string];

export const minimizeOptions = {
  ...WORKFLOW_MODULES,
  out: OUT,
  repaired: REPAIRED,
  thorough: {
    type: "flag",
    help:
      "Also remove earlier events without --repaired. The result is smaller, but repaired code possibly does not replay it",
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
    help: "Replace only values under keys that match this regular expression",
  },
  match: {
    type: "text",
    value: "pattern",
    many: true,
    help:
      "Replace only texts that match this regular expression, decoded or in base64. Without --key and --match, all texts are replaced",
  },
  numbers: { type: "flag", help: "Also replace numbers" },
  taskQueues: { type: "flag", help: "Also replace names of task queues" },
  keep: {
    type: "text",
    value: "text",
    many: true,
    help: "Keep this text, which the command has listed",
  },
  unverified: {
    type: "flag",
    help: "Do not check the result with a replay",
  },
} as const satisfies Options;

export const testOptions = {
  ...WORKFLOW_MODULES,
  runner: {
    type: "text",
    value: "runner",
    choices: ["node", "vitest", "deno"],
    default: "node",
    help: "Test runner",
  },
  out: {
    ...OUT,
    value: "file.test.mjs",
    help:
      "Test file to write (.test.mjs, .test.js, .test.ts or .test.mts; `node --test` runs the latter two from Node 22.18 on). The history is written next to it. Neither file must exist",
  },
  repaired: REPAIRED,
  strict: STRICT,
} as const satisfies Options;

export type MinimizeCall = Call<typeof minimizeOptions>;
export type RedactCall = Call<typeof redactOptions>;
export type TestCall = Call<typeof testOptions>;
