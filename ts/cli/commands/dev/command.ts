import { type Call, command, type Options } from "../../frame/command.ts";

const options = {
  port: { type: "number", short: "p", value: "n", default: 7233, help: "Port for gRPC; 0: any free one" },
  dbFilename: {
    type: "text",
    short: "f",
    value: "file",
    aliases: ["store"],
    completes: "files",
    help:
      "SQLite file in which everything is kept, created when missing; other temporalex commands reach it with --store. Default: in memory",
  },
  namespace: {
    type: "text",
    short: "n",
    value: "name",
    many: true,
    help:
      'Serve this namespace, too; "default" is always there. Each has a store of its own: with --db-filename dev.sqlite that of "orders" is dev.orders.sqlite',
  },
  httpPort: {
    type: "number",
    value: "n",
    help:
      "Port for HTTP/1.1 with JSON, Connect and gRPC-web: for curl, and for pages of --origin; 0: any free one. Default: none",
  },
  origin: {
    type: "text",
    value: "origin",
    many: true,
    help: "Web pages that may call the HTTP port, as scheme, host and port: http://localhost:5173. Default: none",
  },
  retention: {
    type: "duration",
    value: "duration",
    help: "Remove closed runs with their histories this long after they closed, for instance 1d. Default: keep them",
  },
  logLevel: {
    type: "text",
    value: "level",
    choices: ["debug", "info", "warn", "error"],
    default: "warn",
    help: "What is told on standard error; debug names every call, never what it carries",
  },
} as const satisfies Options;

export type DevCall = Call<typeof options>;

export const dev = command({
  summary: "a Temporal server on this machine: the embedded engine for Temporal's SDKs and tools",
  description:
    `Serves Temporal's API on 127.0.0.1 until Ctrl-C, from this process: workers and clients of every Temporal SDK, Temporal's own command line, and temporalex --address.
It is for development and tests on one machine: no TLS, no accounts, nothing but the loopback.`,
  options,
  lines: true,
  drains: true,
  notes:
    `What the embedded engine does not have is refused with UNIMPLEMENTED and what to use instead: schedules, reset, Nexus, batch operations, search attributes of your own.
JSON lines have event: ready (address, port, httpAddress, namespaces, store, ms), stopped.`,
  exits: ["0 after Ctrl-C or SIGTERM", "1 when a port is taken or the store cannot be used", "2 for wrong usage"],
  examples: [
    { line: "temporalex dev", what: "then: temporal workflow list, or any SDK with its default address" },
    { line: "temporalex dev --port 0 --json", what: "for scripts: any free port, told in the first line" },
    { line: "temporalex dev --db-filename dev.sqlite --namespace orders", what: "kept in files" },
  ],
  run: async (call) => (await import("./run.ts")).devCommand(call),
});
