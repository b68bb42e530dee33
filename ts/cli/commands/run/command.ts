import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const run = command({
  summary: "run one workflow to its end, without a server",
  description:
    `Opens an engine in this process, runs one workflow with the given modules to its end, and prints the result.
With --store, the run is persistent. After Ctrl-C or a crash, the same command with the same --workflow-id continues the run; so does any worker of the store.
Modules can be TypeScript; no build step is needed.`,
  options,
  args: {
    name: "workflows",
    many: true,
    required: true,
    completes: "files",
    help: "Modules that export workflows",
  },
  drains: true,
  exits: [
    "0 the workflow completed",
    "1 the workflow failed, was canceled or terminated, timed out, or its code cannot continue",
    "2 wrong usage, or modules that do not load",
  ],
  examples: [
    { line: "temporalex run workflows.ts --activities activities.ts --type Report --input 2026" },
    {
      line:
        `temporalex run workflows.ts --activities activities.ts --type Cart -w cart-42 -i '"ada"' --store shop.sqlite`,
      what: "persistent: after Ctrl-C, the same command continues the run",
    },
  ],
  run: async (call) => (await import("./run.ts")).runCommand(call),
});
