// Options of the commands that serve the debugger's page.
import type { Options } from "../frame/command.ts";

export const PAGE_OPTIONS = {
  port: {
    type: "number",
    short: "p",
    value: "n",
    default: 0,
    help: "Port on 127.0.0.1; 0: any free port",
  },
  noOpen: {
    type: "flag",
    help: "Do not open the browser. Without a terminal, the browser is never opened",
  },
} as const satisfies Options;
