import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const gateway = command({
  summary:
    "let a browser tab reach a cluster: a relay on this machine, for named pages and with a token",
  description:
    `Takes calls of web pages (connectGateway of temporalex/gateway) on the loopback and passes them on to a Temporal cluster until Ctrl-C. API keys and certificates stay in this process.
A tab can then be a client and a worker of the cluster. A caller must bring the token that is in the printed URL; pages must also be of an --allow-origin.`,
  options,
  lines: true,
  drains: true,
  notes:
    `The URL is a secret: with it, any program on this machine has the permissions of this process on the cluster. --namespace and --read-only restrict them.
Without --token-file every start has a token of its own.
JSON lines have event: started (url, address, origins, namespaces, readOnly), stopped. Each kind of rejection is logged once on standard error.`,
  exits: [
    "0 after Ctrl-C or SIGTERM",
    "1 when the port is taken or the token file cannot be used",
    "2 for wrong usage",
  ],
  examples: [
    { line: "temporalex gateway --address localhost:7233 --allow-origin http://localhost:5173" },
    {
      line:
        "temporalex gateway --profile prod --allow-origin https://app.example.com --namespace orders --read-only --token-file ~/.gateway-token",
      what: "one namespace to look at, and the same URL every day",
    },
  ],
  run: async (call) => (await import("./run.ts")).gatewayCommand(call),
});
