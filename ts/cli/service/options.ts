// Options of commands for a service: a local store file, or a Temporal cluster.
import { codecOption } from "./codec_option.ts";
import type { Options } from "../frame/command.ts";

export const DEFAULT_STORE = "temporalex.sqlite";

const WHERE = "Store or cluster";

export const SERVICE_OPTIONS = {
  store: {
    section: WHERE,
    type: "text",
    value: "file",
    env: "TEMPORALEX_STORE",
    completes: "files",
    help:
      `Store file. While a process has it open, that process is asked; otherwise it is opened for a moment. Default: ./${DEFAULT_STORE}`,
  },
  address: {
    section: WHERE,
    type: "text",
    value: "host:port",
    help: "A Temporal cluster instead of a store",
  },
  profile: {
    section: WHERE,
    type: "text",
    value: "name",
    help:
      "A cluster by its profile in Temporal's configuration file; other options and TEMPORAL_ variables go before what it says",
  },
  configFile: {
    section: WHERE,
    type: "text",
    value: "file",
    completes: "files",
    help:
      "The file with profiles. Default: TEMPORAL_CONFIG_FILE, else temporalio/temporal.toml in the user's configuration folder",
  },
  namespace: {
    section: WHERE,
    type: "text",
    short: "n",
    value: "name",
    default: "default",
    env: "TEMPORALEX_NAMESPACE",
    help: "Namespace",
  },
  apiKey: {
    section: WHERE,
    type: "text",
    value: "key",
    env: "TEMPORAL_API_KEY",
    help: "API key, with --address; switches TLS on",
  },
  proxy: {
    section: WHERE,
    type: "text",
    value: "host:port",
    help:
      "HTTP proxy (CONNECT) on the way to the cluster; TEMPORALEX_PROXY_AUTH has its user:password. Default: HTTPS_PROXY, but for what NO_PROXY lists",
  },
  tls: { section: WHERE, type: "flag", help: "TLS, with --address" },
  tlsCaPath: {
    section: WHERE,
    type: "text",
    value: "file",
    completes: "files",
    help: "Certificate (PEM) of the authority to trust",
  },
  tlsCertPath: {
    section: WHERE,
    type: "text",
    value: "file",
    completes: "files",
    help: "Client certificate (PEM)",
  },
  tlsKeyPath: {
    section: WHERE,
    type: "text",
    value: "file",
    completes: "files",
    help: "Key (PEM) of the client certificate",
  },
  tlsServerName: {
    section: WHERE,
    type: "text",
    value: "name",
    help: "Name to expect in the server's certificate",
  },
  grpcMeta: {
    section: WHERE,
    type: "text",
    value: "key=value",
    many: true,
    help: "Header of every request, with --address",
  },
  codec: { section: WHERE, ...codecOption },
  identity: {
    section: WHERE,
    type: "text",
    value: "name",
    help: "Identity of the caller in histories",
  },
  timeout: {
    section: WHERE,
    type: "duration",
    value: "duration",
    aliases: ["commandTimeout"],
    help:
      "Give up after this time, with 0 never; until then, also wait for a process that opens the store. Default: 10s for what needs no worker, 30s for queries, none for results and updates",
  },
} as const satisfies Options;

/** Arguments of a workflow, signal, update or query. */
export const INPUT_OPTIONS = {
  input: { type: "text", short: "i", value: "json", many: true, help: "An argument, as JSON" },
  inputFile: {
    type: "text",
    value: "file",
    many: true,
    completes: "files",
    help: 'A file with an argument, as JSON; "-" is standard input',
  },
  inputMeta: {
    type: "text",
    value: "key=value",
    many: true,
    help:
      'Metadata of the arguments\' payloads; "encoding" replaces json/plain, and the input need not be JSON then',
  },
  inputBase64: { type: "flag", help: "The input is base64" },
} as const satisfies Options;

export const WORKFLOW_ID = {
  type: "text",
  short: "w",
  value: "id",
  required: true,
  help: "Workflow id",
} as const;
export const RUN_ID = {
  type: "text",
  short: "r",
  value: "id",
  help: "Run id. Default: the current run",
} as const;
export const TIME_FORMAT = {
  type: "text",
  value: "format",
  choices: ["relative", "iso"],
  default: "relative",
  help: "How times are shown",
} as const;
