import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const ui = command({
  summary: "look at the runs of a store or a cluster in the browser, live",
  description:
    `Serves a page on the loopback until Ctrl-C: the runs of a store of this machine or of a Temporal cluster, as they are started and as they end, with list filters, counts, and for each what it waits for. One run has its timeline, which grows, its queries, signals and updates; it can be cancelled, terminated, and opened in the replay debugger.`,
  options,
  lines: true,
  drains: true,
  notes:
    `The address is a secret: who has it, on this machine, can do with the runs what the page can, from this process with its credentials. With --read-only that is to look. It is about one namespace, and good until the command ends.
Payloads are decoded by --codec in this process, and are never written.
JSON lines have event: started (url, where, namespace, readOnly), stopped.`,
  exits: ["0 after Ctrl-C or SIGTERM", "1 when the port is taken or the store cannot be opened", "2 for wrong usage"],
  examples: [
    { line: "temporalex ui --store shop.sqlite" },
    { line: "temporalex ui --address localhost:7233 --namespace orders --read-only" },
  ],
  run: async (call) => (await import("./run.ts")).uiCommand(call),
});
