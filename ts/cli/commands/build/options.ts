// Options of the command, and the calls that they make.
import type { Call, Options } from "../../frame/command.ts";

/** The file that is written where no other is named. */
export const DEFAULT_OUT = "workflows.bundle.js";

export const options = {
  workflows: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help: 'A module that exports workflows. Default: the modules under "temporalex": { "workflows": [...] } in package.json',
  },
  interceptors: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help: "A module that exports interceptors of workflows",
  },
  payloadConverter: {
    type: "text",
    value: "module",
    completes: "files",
    help: "The module that exports payloadConverter, if workers have one",
  },
  out: {
    type: "text",
    short: "o",
    value: "file",
    default: DEFAULT_OUT,
    completes: "files",
    help: "The file to write; - for standard output",
  },
} as const satisfies Options;

export type BuildCall = Call<typeof options>;
