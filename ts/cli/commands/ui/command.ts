import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const ui = command({
  summary: "show the runs of a store or a cluster in the browser, live",
  description:
    `Serves a page on the loopback until Ctrl-C: the runs of a store of this machine or of a Temporal cluster, live, with list filters, counts, and what each run waits for. A run has its timeline, queries, signals and updates. You can cancel it, terminate it, and open it in the replay debugger.
With --workflows a run that you open is replayed against that code, and again whenever one of its files is saved.`,
  options,
  lines: true,
  drains: true,
  notes:
    `Keep the address secret: with it, any program on this machine can do what the page can, with the credentials of this process. With --read-only that is reading only. The page shows one namespace.
With --port N the address is the same at each start for the same store or cluster, and an open page finds the next start. Its secret part is kept in a file that only you can read: ~/.local/state/temporalex/ui (macOS: ~/Library/Application Support/temporalex/ui, Windows: %LOCALAPPDATA%\\temporalex\\ui). Delete the file to get a new address. Without --port the address is valid until the command ends.
Payloads are decoded by --codec in this process and never written.
JSON lines have event: started (url, where, namespace, readOnly), refused (version, problems: file, line, column, message; the code before it stays), stopped.`,
  exits: [
    "0 after Ctrl-C or SIGTERM",
    "1 when the port is taken or the store cannot be opened",
    "2 for wrong usage",
  ],
  examples: [
    { line: "temporalex ui --store shop.sqlite" },
    {
      line: "temporalex ui --store shop.sqlite --port 4000 --workflows src/workflows.ts",
      what: "each run next to its code, at an address that stays",
    },
    { line: "temporalex ui --address localhost:7233 --namespace orders --read-only" },
  ],
  run: async (call) => (await import("./run.ts")).uiCommand(call),
});
