import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const lint = command({
  summary: "find non-deterministic workflow code",
  description:
    `Checks workflow modules and the modules of your project that they import, without running them. Reports code that would fail a run or make a replay diverge: file, line and column, rule, reason and fix. Also reports errors of the workflow loader.`,
  options,
  args: {
    name: "module",
    many: true,
    completes: "files",
    help:
      'Workflow modules. Default: the modules in "temporalex": { "workflows": [...] } in package.json',
  },
  notes:
    `Comments disable rules for their line (or for the next line, if the comment is alone on its line), or for the file:
  // temporalex-ignore <rule> ... -- reason
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
