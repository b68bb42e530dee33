import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const dev = command({
  summary: "a Temporal server on this machine: the embedded engine for Temporal's SDKs and tools",
  description:
    `Serves Temporal's API on 127.0.0.1 until Ctrl-C, from this process: workers and clients of every Temporal SDK, Temporal's own command line, and temporalex --address.
It is for development and tests on one machine: no TLS, no accounts, nothing but the loopback.`,
  options,
  lines: true,
  drains: true,
  notes:
    `What the embedded engine does not have is refused with UNIMPLEMENTED and what to use instead: schedules, reset, Nexus, batch operations.
JSON lines have event: ready (address, port, httpAddress, namespaces, store, ms), stopped.`,
  exits: [
    "0 after Ctrl-C or SIGTERM",
    "1 when a port is taken or the store cannot be used",
    "2 for wrong usage",
  ],
  examples: [
    {
      line: "temporalex dev",
      what: "then: temporal workflow list, or any SDK with its default address",
    },
    {
      line: "temporalex dev --port 0 --json",
      what: "for scripts: any free port, told in the first line",
    },
    { line: "temporalex dev --db-filename dev.sqlite --namespace orders", what: "kept in files" },
  ],
  run: async (call) => (await import("./run.ts")).devCommand(call),
});
