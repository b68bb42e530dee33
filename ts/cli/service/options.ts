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
      `Store file. If another process has it open, the command connects to that process. Default: ./${DEFAULT_STORE}`,
  },
  address: {
    section: WHERE,
    type: "text",
    value: "host:port",
    help: "Address of a Temporal cluster, instead of a store",
  },
  profile: {
    section: WHERE,
    type: "text",
    value: "name",
    help:
      "Profile in Temporal's configuration file; options and TEMPORAL_ variables take precedence",
  },
  configFile: {
    section: WHERE,
    type: "text",
    value: "file",
    completes: "files",
    help:
      "File with profiles. Default: TEMPORAL_CONFIG_FILE, else temporalio/temporal.toml in your configuration folder",
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
    help: "API key, with --address; enables TLS",
  },
  proxy: {
    section: WHERE,
    type: "text",
    value: "host:port",
    help:
      "HTTP proxy (CONNECT) for the connection; TEMPORALEX_PROXY_AUTH is its user:password. Default: HTTPS_PROXY, except for hosts in NO_PROXY",
  },
  tls: { section: WHERE, type: "flag", help: "Use TLS, with --address" },
  tlsCaPath: {
    section: WHERE,
    type: "text",
    value: "file",
    completes: "files",
    help: "Certificate of the CA to trust (PEM)",
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
    help: "Private key of the client certificate (PEM)",
  },
  tlsServerName: {
    section: WHERE,
    type: "text",
    value: "name",
    help: "Expected name in the server's certificate",
  },
  grpcMeta: {
    section: WHERE,
    type: "text",
    value: "key=value",
    many: true,
    help: "Header of each request, with --address",
  },
  codec: { section: WHERE, ...codecOption },
  identity: {
    section: WHERE,
    type: "text",
    value: "name",
    help: "Identity of the caller, recorded in histories",
  },
  timeout: {
    section: WHERE,
    type: "duration",
    value: "duration",
    aliases: ["commandTimeout"],
    help:
      "Time limit of the command; 0: none. Includes waiting for another process that is opening the store. Default: 30s for queries, none for results and updates, else 10s",
  },
} as const satisfies Options;

/** Arguments of a workflow, signal, update or query. */
export const INPUT_OPTIONS = {
  input: { type: "text", short: "i", value: "json", many: true, help: "Argument, as JSON" },
  inputFile: {
    type: "text",
    value: "file",
    many: true,
    completes: "files",
    help: 'File with an argument, as JSON; "-": standard input',
  },
  inputMeta: {
    type: "text",
    value: "key=value",
    many: true,
    help:
      'Metadata of the argument payloads. With "encoding", the input can be something else than JSON',
  },
  inputBase64: { type: "flag", help: "The input is base64-encoded" },
} as const satisfies Options;

export const WORKFLOW_ID = {
  type: "text",
  short: "w",
  value: "id",
  required: true,
  help: "Workflow ID",
} as const;
export const RUN_ID = {
  type: "text",
  short: "r",
  value: "id",
  help: "Run ID. Default: the current run",
} as const;
export const TIME_FORMAT = {
  type: "text",
  value: "format",
  choices: ["relative", "iso"],
  default: "relative",
  help: "Format of times",
} as const;
