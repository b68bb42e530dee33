import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const ui = command({
  summary: "show runs in the browser, live",
  description:
    `Serves a page on a loopback address until Ctrl-C: the runs of a local store or of a Temporal cluster, updated live, with list filters, counts, and what each run waits for. For each run, the page shows the timeline, published state, pending activities and call stack; it sends queries, signals and updates, resets, cancels or terminates the run, and opens it in the replay debugger. The page also starts runs, applies operations to all runs of a filter, and shows schedules and the workers of task queues.
With --workflows, an opened run is replayed against that code, and again each time one of its files is saved.`,
  options,
  lines: true,
  drains: true,
  notes:
    `Keep the URL secret: any program on this machine that knows it can do what the page can, with the credentials of this process. --read-only restricts it to reading. The page shows one namespace, or every namespace of the server with --all-namespaces.
With --port N, the URL is the same at each start for the same store or cluster, and an open page reconnects. The secret part of the URL is stored in a file that only you can read: ~/.local/state/temporalex/ui (macOS: ~/Library/Application Support/temporalex/ui, Windows: %LOCALAPPDATA%\\temporalex\\ui). Delete the file to get a new URL. Without --port, the URL is valid until the command ends.
Payloads are decoded with --codec in this process and never printed.
JSON lines have event: started (url, where, namespace, readOnly), refused (version, problems: file, line, column, message; the previous code stays in use), stopped.`,
  exits: [
    "0 Ctrl-C or SIGTERM",
    "1 the port is in use, or the store cannot be opened",
    "2 wrong usage",
  ],
  examples: [
    { line: "temporalex ui --store shop.sqlite" },
    {
      line: "temporalex ui --store shop.sqlite --port 4000 --workflows src/workflows.ts",
      what: "with workflow code, at a fixed URL",
    },
    { line: "temporalex ui --address localhost:7233 --namespace orders --read-only" },
    { line: "temporalex ui --address localhost:7233 --all-namespaces" },
  ],
  run: async (call) => (await import("./run.ts")).uiCommand(call),
});
