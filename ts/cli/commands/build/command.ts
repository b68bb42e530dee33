import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const build = command({
  summary: "bundle workflow code into one file",
  description:
    `Bundles workflow modules and everything that they import, including npm packages, into one file.
Pass the bundle wherever workflow modules are expected: temporalex worker --workflows, temporalex replay --workflows, open(), Worker.create().
Stack traces and replays refer to the original files and lines. The same sources produce the same bytes on each machine.
Modules can be TypeScript and use "temporalex/workflow" or "@temporalio/workflow". The bundle is loaded once as a check before it is written.`,
  options,
  notes:
    `The JSON result has file, bytes, sha256, workflowTypes, takesAnyType, modules, packages (name, modules, bytes) and warnings.`,
  exits: [
    "0 the bundle is written",
    "1 the modules cannot be loaded; nothing is written",
    "2 wrong usage",
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
