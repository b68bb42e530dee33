import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const dev = command({
  summary: "start a local Temporal server for development",
  description:
    `Serves Temporal's API on 127.0.0.1 until Ctrl-C, with the embedded engine. Workers and clients of all Temporal SDKs, the temporal CLI and temporalex --address can connect.
For development and tests on one machine only: no TLS, no authentication, loopback addresses only.`,
  options,
  lines: true,
  drains: true,
  notes:
    `Not supported: versioning by build id, and Nexus beyond this server. Such calls fail with UNIMPLEMENTED and a message that names an alternative.
With --json, the field event of each line is ready (with address, port, httpAddress, namespaces, store and ms) or stopped.`,
  exits: [
    "0 Ctrl-C or SIGTERM",
    "1 a port is in use, or the store cannot be used",
    "2 wrong usage",
  ],
  examples: [
    {
      line: "temporalex dev",
      what: "then: temporal workflow list, or any SDK with its default address",
    },
    {
      line: "temporalex dev --port 0 --json",
      what: "for scripts: any free port, printed in the first line",
    },
    {
      line: "temporalex dev --db-filename dev.sqlite --namespace orders",
      what: "persistent, one file per namespace",
    },
  ],
  run: async (call) => (await import("./run.ts")).devCommand(call),
});
