import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const debug = command({
  summary: "open histories in the replay debugger",
  description:
    `Serves the debugger on a loopback address until Ctrl-C, for exported histories (files and folders in each format that \`temporalex replay\` reads) or, with -w, for one run of a store or a cluster.
With --workflows, the histories are replayed against that code, and again each time one of its files is saved. Click a line to open it in your editor (VISUAL, EDITOR, or an installed one). Without --workflows, the page shows only what the histories contain.
A history file that changes is read again. An open run of a store or a cluster is followed: new events appear on the page.`,
  options,
  args: {
    name: "history",
    many: true,
    completes: "files",
    help: "History files, or folders that contain them",
  },
  lines: true,
  drains: true,
  notes:
    `Keep the URL secret: any program on this machine that knows it can read the histories. The URL is valid until the command ends.
JSON lines have event: started (url, histories), verdict (version, and the fields of a line of \`temporalex replay --json\`), refused (version, problems: file, line, column, message; the previous code stays in use), stopped. Versions of the code are numbered from 1. Payloads are never printed.
Editor: the command in LAUNCH_EDITOR, VISUAL or EDITOR, unless it needs a terminal; else the first one found of code, cursor, codium, windsurf, zed, subl, webstorm and idea.`,
  exits: [
    "0 Ctrl-C or SIGTERM",
    "1 the port is in use",
    "2 wrong usage, or no history can be read",
  ],
  examples: [
    { line: "temporalex debug order-17.json --workflows src/workflows.ts" },
    {
      line: "temporalex debug --store shop.sqlite -w order-17 --workflows src/workflows.ts",
      what: "a run of a store, followed while the run is open",
    },
    {
      line: "temporalex debug --address localhost:7233 -w order-17",
      what: "a run of a cluster, without its code",
    },
    {
      line: "temporalex debug --port 0 --no-open --json histories/ --workflows src/workflows.ts",
      what: "for scripts",
    },
  ],
  run: async (call) => (await import("./run.ts")).debugCommand(call),
});
