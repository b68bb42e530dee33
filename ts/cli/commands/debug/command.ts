import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const debug = command({
  summary: "open histories in the replay debugger next to your code",
  description:
    `Serves the debugger's page on the loopback until Ctrl-C: exported histories (files and folders, in every shape that \`temporalex replay\` takes), or one run of a store or a cluster with -w.
With --workflows the histories are replayed against that code, and again whenever one of its files is saved; the page shows the new verdict at once, and a line that is clicked opens in your editor (VISUAL, EDITOR, or the one that is installed). Without it the page shows what the histories alone tell.
A file with a history that is written again, by a new export, is read again; a run of a store or a cluster that is open is followed: its new events come into the page.`,
  options,
  args: {
    name: "history",
    many: true,
    completes: "files",
    help: "Files with histories, and folders of such",
  },
  lines: true,
  drains: true,
  notes:
    `Keep the address secret: with it, any program on this machine can read the histories. It is valid until the command ends.
JSON lines have event: started (url, histories), verdict (version, and the fields of a line of \`temporalex replay --json\`), refused (version, problems: file, line, column, message; the code before it stays), stopped. Versions of the code count from 1. Payloads are never written.
The editor is the command in LAUNCH_EDITOR, VISUAL or EDITOR, unless it needs a terminal; else code, cursor, codium, windsurf, zed, subl, webstorm or idea, whichever is found first.`,
  exits: [
    "0 after Ctrl-C or SIGTERM",
    "1 when the port is taken",
    "2 for wrong usage, and when no history can be read",
  ],
  examples: [
    { line: "temporalex debug order-17.json --workflows src/workflows.ts" },
    {
      line: "temporalex debug --store shop.sqlite -w order-17 --workflows src/workflows.ts",
      what: "a run of a store, followed while it is open",
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
