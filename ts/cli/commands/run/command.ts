import { codecOption } from "../../service/codec_option.ts";
import { type Call, command, type Options } from "../../frame/command.ts";
import { INPUT_OPTIONS } from "../../service/options.ts";

const options = {
  type: { type: "text", value: "name", aliases: ["name"], help: "Workflow type. Default: the only one that the modules define" },
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
  taskQueue: { type: "text", short: "t", value: "name", default: "default", help: "Queue of the workflow" },
  namespace: { type: "text", short: "n", default: "default", help: "Namespace" },
  executionTimeout: {
    type: "duration",
    value: "duration",
    help: "Limit of the workflow, with all its retries and continuations",
  },
  verbose: { type: "flag", short: "v", help: "Show the log of worker and workflow" },
} as const satisfies Options;

export type RunCall = Call<typeof options>;

export const run = command({
  summary: "run one workflow here, to its end",
  description:
    `Opens an engine, runs one workflow with the given modules to its end, and shows the result: no server, no worker to start.
With --store the run is kept. Ctrl-C (or a crash) leaves it there; the same command with the same --workflow-id goes on with it, as does any worker that opens the store.
Modules may be TypeScript; they need no build step.`,
  options,
  args: { name: "workflows", many: true, required: true, completes: "files", help: "Modules that export workflows" },
  drains: true,
  exits: [
    "0 the workflow completed",
    "1 it failed, was cancelled or terminated, timed out, or its code cannot go on",
    "2 wrong usage, or modules that do not load",
  ],
  examples: [
    { line: "temporalex run workflows.ts --activities activities.ts --type Report --input 2026" },
    {
      line: `temporalex run workflows.ts --activities activities.ts --type Cart -w cart-42 -i '"ada"' --store shop.sqlite`,
      what: "kept in a file: after Ctrl-C the same line goes on",
    },
  ],
  run: async (call) => (await import("./run.ts")).runCommand(call),
});
