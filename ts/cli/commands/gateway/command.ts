import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const gateway = command({
  summary: "relay calls of web pages to a cluster",
  description:
    `Accepts calls of web pages (connectGateway of temporalex/gateway) on a loopback address and forwards them to a Temporal cluster until Ctrl-C. API keys and certificates stay in this process.
A browser tab can then be a client and a worker of the cluster. Each caller must send the token in the printed URL, and the origin of a page must be listed with --allow-origin.`,
  options,
  lines: true,
  drains: true,
  notes:
    `Keep the URL secret: any program on this machine that knows it has the permissions of this process on the cluster. Restrict them with --namespace and --read-only.
Without --token-file, each start creates a new token.
JSON lines have event: started (url, address, origins, namespaces, readOnly), stopped. Each kind of rejection is logged once on standard error.`,
  exits: [
    "0 Ctrl-C or SIGTERM",
    "1 the port is in use, or the token file cannot be used",
    "2 wrong usage",
  ],
  examples: [
    { line: "temporalex gateway --address localhost:7233 --allow-origin http://localhost:5173" },
    {
      line:
        "temporalex gateway --profile prod --allow-origin https://app.example.com --namespace orders --read-only --token-file ~/.gateway-token",
      what: "read-only access to one namespace, with the same URL at each start",
    },
  ],
  run: async (call) => (await import("./run.ts")).gatewayCommand(call),
});
