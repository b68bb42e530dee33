// Options of the command and the type of its call.
import type { Call, Options } from "../../frame/command.ts";

export const options = {
  port: {
    type: "number",
    short: "p",
    value: "n",
    default: 7233,
    help: "Port for gRPC; 0: any free one",
  },
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
      'Serve this namespace in addition to "default". Each has a separate store: with --db-filename dev.sqlite, "orders" is in dev.orders.sqlite',
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
    help:
      "Web pages that may call the HTTP port, as scheme, host and port: http://localhost:5173. Default: none",
  },
  retention: {
    type: "duration",
    value: "duration",
    help:
      "Remove closed runs with their histories this long after they closed, for instance 1d. Default: keep them",
  },
  timers: {
    type: "text",
    value: "how",
    choices: ["due", "manual"],
    default: "due",
    help:
      "manual, for tests: timers of workflows fire when workflow fire-timer says so. Timeouts and retries are as always",
  },
  logLevel: {
    type: "text",
    value: "level",
    choices: ["debug", "info", "warn", "error"],
    default: "warn",
    help: "Level of the log on standard error; debug logs every call, without its contents",
  },
} as const satisfies Options;

export type DevCall = Call<typeof options>;
