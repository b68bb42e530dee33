// Options of the command and the type of its call.
import { codecOption } from "../../service/codec_option.ts";
import type { Call, Options } from "../../frame/command.ts";
import { INPUT_OPTIONS } from "../../service/options.ts";

export const options = {
  type: {
    type: "text",
    value: "name",
    aliases: ["name"],
    help: "Workflow type. Default: the only one that the modules define",
  },
  workflowId: { type: "text", short: "w", value: "id", help: "Workflow id. Default: a random one" },
  ...INPUT_OPTIONS,
  activities: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help: "A module whose exported functions are activities",
  },
  codec: codecOption,
  store: {
    type: "text",
    value: "file",
    completes: "files",
    help: "Keep the run in this store file. Default: in memory, gone with the process",
  },
  taskQueue: {
    type: "text",
    short: "t",
    value: "name",
    default: "default",
    help: "Queue of the workflow",
  },
  namespace: { type: "text", short: "n", default: "default", help: "Namespace" },
  executionTimeout: {
    type: "duration",
    value: "duration",
    help: "Limit of the workflow, with all its retries and continuations",
  },
  verbose: { type: "flag", short: "v", help: "Show the log of worker and workflow" },
} as const satisfies Options;

export type RunCall = Call<typeof options>;
