import { type Call, command, type Options } from "../../frame/command.ts";
import { SERVICE_OPTIONS } from "../../service/options.ts";

const { timeout: _timeout, namespace: _namespace, codec: _codec, identity: _identity, ...WHERE } = SERVICE_OPTIONS;
const options = {
  ...WHERE,
  store: {
    ...WHERE.store,
    help: "Store file of this machine, instead of a cluster; workers and clients reach it through its holder",
  },
  address: { ...WHERE.address, help: 'The Temporal cluster to which calls go; "unix:" and a path for a socket' },
  port: { type: "number", short: "p", value: "n", default: 8273, help: "Port on 127.0.0.1 and ::1; 0: any free one" },
  allowOrigin: {
    type: "text",
    value: "origin",
    many: true,
    aliases: ["origin"],
    help:
      "Web pages that may call, as scheme, host and port: http://localhost:5173. Default: none; programs, which have no origin, may always",
  },
  tokenFile: {
    type: "text",
    value: "file",
    completes: "files",
    help: "Keep the token in this file, so that the URL is the same after a restart; it is made when missing, for you alone",
  },
  namespace: {
    type: "text",
    short: "n",
    value: "name",
    many: true,
    help: "Refuse calls that are about another namespace. Default: all that the cluster lets this process use",
  },
  readOnly: { type: "flag", help: "Refuse calls that change something; workers are among them, because they take tasks" },
} as const satisfies Options;

export type GatewayCall = Call<typeof options>;

export const gateway = command({
  summary: "let a browser tab reach a cluster: a relay on this machine, for named pages and with a token",
  description:
    `Takes calls of web pages (connectGateway of temporalex/gateway) on the loopback and passes them on to a Temporal cluster until Ctrl-C. API keys and certificates stay in this process.
A tab can then be a client and a worker of the cluster. Whoever calls must bring the token that is in the printed URL; pages must also be of an --allow-origin.`,
  options,
  lines: true,
  drains: true,
  notes:
    `The URL is a secret: whoever has it can do on the cluster, from this machine, what this process may. --namespace and --read-only narrow that.
Without --token-file every start has a token of its own.
JSON lines have event: started (url, address, origins, namespaces, readOnly), stopped. What is refused is told on standard error, once for each thing.`,
  exits: ["0 after Ctrl-C or SIGTERM", "1 when the port is taken or the token file cannot be used", "2 for wrong usage"],
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
