import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const build = command({
  summary: "put workflow code into one file for deployment",
  description:
    `Puts workflow modules and all that they import, npm packages included, into one file, a bundle.
It is loaded where the modules are named otherwise: temporalex worker --workflows, temporalex replay --workflows, open(), Worker.create().
Stack traces and replays name the sources' files and lines. The same sources make the same bytes, on every machine.
A module may be TypeScript, and of "temporalex/workflow" or "@temporalio/workflow". The bundle is loaded once before it is written.`,
  options,
  notes:
    `The JSON result has file, bytes, sha256, workflowTypes, takesAnyType, modules, packages (name, modules, bytes) and warnings.`,
  exits: [
    "0 when the bundle is written",
    "1 when the modules cannot be loaded; nothing is written",
    "2 for wrong usage",
  ],
  examples: [
    { line: "temporalex build --workflows src/workflows.ts" },
    { line: "temporalex build --workflows src/workflows.ts --out dist/workflows.js --json" },
    {
      line:
        "temporalex build && temporalex replay --workflows workflows.bundle.js histories/*.json",
    },
  ],
  run: async (call) => (await import("./run.ts")).buildCommand(call),
});
