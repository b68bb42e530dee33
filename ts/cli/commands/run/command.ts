import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const run = command({
  summary: "run one workflow here, to its end",
  description:
    `Opens an engine, runs one workflow with the given modules to its end, and shows the result: no server, no worker to start.
With --store the run is kept. Ctrl-C (or a crash) leaves it there; the same command with the same --workflow-id continues it, and so does any worker that opens the store.
Modules may be TypeScript; they need no build step.`,
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
    "1 it failed, was canceled or terminated, timed out, or its code cannot continue",
    "2 wrong usage, or modules that do not load",
  ],
  examples: [
    { line: "temporalex run workflows.ts --activities activities.ts --type Report --input 2026" },
    {
      line:
        `temporalex run workflows.ts --activities activities.ts --type Cart -w cart-42 -i '"ada"' --store shop.sqlite`,
      what: "kept in a file: after Ctrl-C, the same command continues",
    },
  ],
  run: async (call) => (await import("./run.ts")).runCommand(call),
});
