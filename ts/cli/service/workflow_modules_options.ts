// Options for the modules of workflow code, shared by all commands that load it.
import type { Options } from "../frame/command.ts";

export const WORKFLOW_MODULES = {
  workflows: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help:
      'Module that exports workflows. Default: the modules in "temporalex": { "workflows": [...] } in package.json',
  },
  interceptors: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help: "Module that exports interceptors for programs of @temporalio/workflow",
  },
} as const satisfies Options;

/**
 * For commands whose workflow code exchanges no values with activities or clients in this process.
 */
export const PAYLOAD_CONVERTER = {
  type: "text",
  value: "module",
  completes: "files",
  help: "Module that exports payloadConverter, if the workers use one",
} as const satisfies Options[string];
