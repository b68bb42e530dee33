// Options of the command and the type of its call.
import type { Call, Options } from "../../frame/command.ts";

export const options = {
  port: {
    type: "number",
    short: "p",
    value: "n",
    default: 7233,
    help: "Port for gRPC; 0: any free port",
  },
  dbFilename: {
    type: "text",
    short: "f",
    value: "file",
    aliases: ["store"],
    completes: "files",
    help:
      "SQLite store file, created if missing; other temporalex commands open it with --store. Default: in memory",
  },
  namespace: {
    type: "text",
    short: "n",
    value: "name",
    many: true,
    help:
      'Additional namespace. Each namespace has a separate store: with --db-filename dev.sqlite, "orders" is in dev.orders.sqlite',
  },
  searchAttribute: {
    type: "text",
    value: "name=type",
    many: true,
    help:
      "Register a search attribute in all namespaces: Text, Keyword, Int, Double, Bool, Datetime or KeywordList. Then other names are rejected. Default: every name is accepted",
  },
  httpPort: {
    type: "number",
    value: "n",
    help:
      "Port for HTTP/1.1 (JSON, Connect and gRPC-web), for curl and for pages of --origin; 0: any free port. Default: none",
  },
  origin: {
    type: "text",
    value: "origin",
    many: true,
    help:
      "Origin of web pages that can call the HTTP port, for example http://localhost:5173. Default: none",
  },
  retention: {
    type: "duration",
    value: "duration",
    help:
      "Remove closed runs and their histories this long after they closed, for example 1d. Default: never",
  },
  timers: {
    type: "text",
    value: "how",
    choices: ["due", "manual"],
    default: "due",
    help:
      "manual, for tests: timers of workflows fire only with workflow fire-timer. Timeouts and retries are not affected",
  },
  logLevel: {
    type: "text",
    value: "level",
    choices: ["debug", "info", "warn", "error"],
    default: "warn",
    help: "Log level on standard error; debug logs each call without its payloads",
  },
} as const satisfies Options;

export type DevCall = Call<typeof options>;
