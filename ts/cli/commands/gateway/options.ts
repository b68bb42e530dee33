// Options of the command and the type of its call.
import type { Call, Options } from "../../frame/command.ts";
import { SERVICE_OPTIONS } from "../../service/options.ts";

const { timeout: _timeout, namespace: _namespace, codec: _codec, identity: _identity, ...WHERE } =
  SERVICE_OPTIONS;
export const options = {
  ...WHERE,
  store: {
    ...WHERE.store,
    help:
      "Store file of this machine, instead of a cluster; workers and clients reach it through its holder",
  },
  address: {
    ...WHERE.address,
    help: 'The Temporal cluster to which calls go; "unix:" and a path for a socket',
  },
  port: {
    type: "number",
    short: "p",
    value: "n",
    default: 8273,
    help: "Port on 127.0.0.1 and ::1; 0: any free one",
  },
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
    help:
      "Keep the token in this file, so that the URL is the same after a restart; it is made when missing, for you alone",
  },
  namespace: {
    type: "text",
    short: "n",
    value: "name",
    many: true,
    help:
      "Refuse calls that are about another namespace. Default: all that the cluster lets this process use",
  },
  readOnly: {
    type: "flag",
    help: "Refuse calls that change something; workers are among them, because they take tasks",
  },
} as const satisfies Options;

export type GatewayCall = Call<typeof options>;
