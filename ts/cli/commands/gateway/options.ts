// Options of the command and the type of its call.
import type { Call, Options } from "../../frame/command.ts";
import { SERVICE_OPTIONS } from "../../service/options.ts";

const { timeout: _timeout, namespace: _namespace, codec: _codec, identity: _identity, ...WHERE } =
  SERVICE_OPTIONS;
export const options = {
  ...WHERE,
  store: {
    ...WHERE.store,
    help: "Local store file, instead of a cluster",
  },
  address: {
    ...WHERE.address,
    help: 'Address of the Temporal cluster; "unix:" and a path for a socket',
  },
  port: {
    type: "number",
    short: "p",
    value: "n",
    default: 8273,
    help: "Port on 127.0.0.1 and ::1; 0: any free port",
  },
  allowOrigin: {
    type: "text",
    value: "origin",
    many: true,
    aliases: ["origin"],
    help:
      "Origin of web pages that can call, for example http://localhost:5173. Default: none. Programs without an origin can always call",
  },
  tokenFile: {
    type: "text",
    value: "file",
    completes: "files",
    help:
      "File for the token, so that the URL stays the same after a restart. Created if missing, readable only for you",
  },
  namespace: {
    type: "text",
    short: "n",
    value: "name",
    many: true,
    help: "Reject calls for other namespaces. Default: all namespaces that this process can use",
  },
  readOnly: {
    type: "flag",
    help: "Reject calls that change data, including polls of workers",
  },
} as const satisfies Options;

export type GatewayCall = Call<typeof options>;
