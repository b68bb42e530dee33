// Options of the command and the type of its call.
import { codecOption } from "../../service/codec_option.ts";
import type { Call, Options } from "../../frame/command.ts";
import { INPUT_OPTIONS } from "../../service/options.ts";

export const options = {
  type: {
    type: "text",
    value: "name",
    aliases: ["name"],
    help: "Workflow type. Required if the modules define several",
  },
  workflowId: { type: "text", short: "w", value: "id", help: "Workflow ID. Default: random" },
  ...INPUT_OPTIONS,
  activities: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help: "Module whose exported functions are activities",
  },
  codec: codecOption,
  store: {
    type: "text",
    value: "file",
    completes: "files",
    help: "Store file. Default: in memory, lost at exit",
  },
  taskQueue: {
    type: "text",
    short: "t",
    value: "name",
    default: "default",
    help: "Task queue of the workflow",
  },
  namespace: { type: "text", short: "n", default: "default", help: "Namespace" },
  executionTimeout: {
    type: "duration",
    value: "duration",
    help: "Time limit of the workflow, including retries and continue-as-new",
  },
  verbose: { type: "flag", short: "v", help: "Print the log of the worker and the workflow" },
} as const satisfies Options;

export type RunCall = Call<typeof options>;
