import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const lint = command({
  summary: "look for what makes workflow code not deterministic",
  description:
    `Reads workflow modules and all modules of your project that they import, without running them, and reports code that would fail a run or make a replay diverge, with file, line and column, the rule, the reason and the fix. Includes errors of the workflow loader.`,
  options,
  args: {
    name: "module",
    many: true,
    completes: "files",
    help: 'Workflow modules. Default: those under "temporalex" in package.json',
  },
  notes:
    `A comment switches rules off: // temporalex-ignore <rule> ... -- reason   (this line, or the next one if it is alone on its line)
                             // temporalex-ignore-file <rule> ... -- reason`,
  exits: [
    "0 no errors (and no more warnings than --max-warnings)",
    "1 errors, or too many warnings",
    "2 wrong usage",
  ],
  examples: [
    { line: "temporalex lint ./workflows.ts" },
    { line: "temporalex lint src/workflows/*.ts --max-warnings 0 --json" },
    { line: "temporalex lint --rules" },
  ],
  run: async (call) => (await import("./run.ts")).lintCommand(call),
});
