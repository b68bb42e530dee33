// Connection settings as for Temporal's own tools: environment variables and a TOML file with
// profiles. Rules of Temporal's environment configuration: the profile first, then variables
// override it. Three stricter rules prevent a connection to the wrong place: invalid booleans,
// wrong types in the file, and a missing file that the program names are errors. An empty variable
// means the file's value (Temporal's tools use the empty text).
import { builtin } from "../../platform/builtin.ts";
import { ClientConfigError, readClientConfigToml } from "./toml.ts";
import type { ConnectionOptions } from "../connection.ts";
import type { TlsOptions } from "../tls.ts";

export { ClientConfigError } from "./toml.ts";

/** A file, or its content. */
export type ConfigDataSource = { readonly path: string } | { readonly data: string };

/** TLS of a profile. */
export interface ClientConfigTls {
  /** True disables TLS, false enables it; undefined: decided by the other settings. */
  disabled?: boolean;
  /** Name expected in the server's certificate. */
  serverName?: string;
  /** The client's certificate (PEM). */
  clientCert?: ConfigDataSource;
  /** Key of the client's certificate (PEM). */
  clientKey?: ConfigDataSource;
  /** Certificates of trusted authorities (PEM). */
  serverCaCert?: ConfigDataSource;
  /**
   * Accept any server certificate. For tests: allows a machine in the middle to read everything.
   */
  disableHostVerification?: boolean;
}

/** A profile: one entry of the file with the environment variables applied. */
export interface ClientConfigProfile {
  /** `host:port`. */
  address?: string;
  /** The namespace to use. */
  namespace?: string;
  /** Sent as a bearer token; enables TLS unless the profile disables it. */
  apiKey?: string;
  /** TLS; an empty section enables it as well. */
  tls?: ClientConfigTls;
  /** A remote codec for Temporal's command line. Read but not used: codecs of programs are code. */
  codec?: { endpoint?: string; auth?: string };
  /** Headers of every request; names in lower case with hyphens. */
  grpcMeta?: { [name: string]: string };
}

/** Options of {@link loadClientConnectConfig} and {@link loadClientConfigProfile}. */
export interface LoadClientConfigOptions {
  /**
   * Name of the profile. Default: TEMPORAL_PROFILE, else "default", which may be missing in the
   * file.
   */
  profile?: string;
  /**
   * The file, which must exist, or its text. Default: TEMPORAL_CONFIG_FILE, else
   * `temporalio/temporal.toml` in the user's configuration folder.
   */
  configSource?: ConfigDataSource;
  /** Reject unknown keys and a missing TEMPORAL_CONFIG_FILE. Default: both are ignored. */
  configFileStrict?: boolean;
  /** Read no file. */
  disableFile?: boolean;
  /** Read no environment variables, including those for the file's location. */
  disableEnv?: boolean;
  /** Replaces the environment of the process. */
  overrideEnvVars?: { readonly [name: string]: string | undefined };
}

/** Options of a connection, and the namespace of clients and workers. */
export interface ClientConnectConfig {
  /** Options of `Connection.connect` and `Connection.lazy`. */
  connectionOptions: ConnectionOptions;
  /** Undefined if not configured: use "default". */
  namespace: string | undefined;
}

/**
 * The environment variables that are read, except TEMPORAL_GRPC_META_*: the list for Deno's
 * `--allow-env`. The last ones locate the user's configuration folder (APPDATA on Windows).
 */
export const CLIENT_CONFIG_VARIABLES: readonly string[] = [
  "TEMPORAL_CONFIG_FILE",
  "TEMPORAL_PROFILE",
  "TEMPORAL_ADDRESS",
  "TEMPORAL_NAMESPACE",
  "TEMPORAL_API_KEY",
  "TEMPORAL_TLS",
  "TEMPORAL_TLS_CLIENT_CERT_PATH",
  "TEMPORAL_TLS_CLIENT_CERT_DATA",
  "TEMPORAL_TLS_CLIENT_KEY_PATH",
  "TEMPORAL_TLS_CLIENT_KEY_DATA",
  "TEMPORAL_TLS_SERVER_CA_CERT_PATH",
  "TEMPORAL_TLS_SERVER_CA_CERT_DATA",
  "TEMPORAL_TLS_SERVER_NAME",
  "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION",
  "TEMPORAL_CODEC_ENDPOINT",
  "TEMPORAL_CODEC_AUTH",
  "XDG_CONFIG_HOME",
  "HOME",
];

const META_PREFIX = "TEMPORAL_GRPC_META_";

/**
 * Reads profile, environment and certificate files, and returns options for `Connection.connect`.
 * Does not connect.
 *
 * Throws a {@link ClientConfigError} with the variable, or the file and the key, and the problem.
 *
 * @example
 * const { connectionOptions, namespace = "default" } = loadClientConnectConfig();
 * const connection = await Connection.connect({ ...connectionOptions, namespace });
 */
export function loadClientConnectConfig(
  options: LoadClientConfigOptions = {},
): ClientConnectConfig {
  const profile = loadClientConfigProfile(options);
  return { connectionOptions: connectionOptionsOf(profile), namespace: profile.namespace };
}

/**
 * Reads profile and environment, but not the certificate files. Throws a {@link ClientConfigError}.
 */
export function loadClientConfigProfile(
  options: LoadClientConfigOptions = {},
): ClientConfigProfile {
  const { disableFile = false, disableEnv = false } = options;
  if (disableFile && disableEnv) {
    throw new ClientConfigError(
      "disableFile and disableEnv exclude every source; set only one of them",
    );
  }
  const env = new Environment(disableEnv ? {} : options.overrideEnvVars);
  const profile = disableFile ? {} : profileOfFile(options, env);
  if (!disableEnv) applyEnvironment(profile, env);
  return profile;
}

/**
 * Reads all profiles of the file; empty for a missing default file. Throws a {@link
 * ClientConfigError}.
 */
export function loadClientConfigProfiles(
  options: Pick<LoadClientConfigOptions, "configSource" | "configFileStrict" | "overrideEnvVars"> =
    {},
): { [name: string]: ClientConfigProfile } {
  const strict = options.configFileStrict === true;
  const { name, text } = configFile(options, new Environment(options.overrideEnvVars), strict);
  return text === undefined ? {} : readClientConfigToml(text, { file: name, strict });
}

/**
 * Returns options for a connection; reads the profile's certificate files. Throws a {@link
 * ClientConfigError}.
 */
export function connectionOptionsOf(profile: ClientConfigProfile): ConnectionOptions {
  const { address, apiKey, grpcMeta } = profile;
  // An API key without TLS would be sent in clear text, so it enables TLS.
  const tls = profile.tls === undefined
    ? (apiKey === undefined ? undefined : true)
    : tlsOf(profile.tls);
  return {
    ...(address !== undefined && { address }),
    ...(apiKey !== undefined && { apiKey }),
    ...(tls !== undefined && { tls }),
    ...(grpcMeta !== undefined && Object.keys(grpcMeta).length > 0 && { metadata: grpcMeta }),
  };
}

function tlsOf(tls: ClientConfigTls): boolean | TlsOptions {
  if (tls.disabled === true) return false;
  const serverRootCaCertificate = contentOf(tls.serverCaCert, "the server's CA certificate");
  const clientCertificate = contentOf(tls.clientCert, "the client certificate");
  const clientKey = contentOf(tls.clientKey, "the client key");
  if ((clientCertificate === undefined) !== (clientKey === undefined)) {
    const [given, missing] = clientKey === undefined
      ? ["client certificate", "key"]
      : ["client key", "certificate"];
    throw new ClientConfigError(`the profile has a ${given} but no ${missing}; set both`);
  }
  const options: TlsOptions = {
    ...(serverRootCaCertificate !== undefined && { serverRootCaCertificate }),
    ...(clientCertificate !== undefined && { clientCertificate }),
    ...(clientKey !== undefined && { clientKey }),
    ...(tls.serverName !== undefined && { serverName: tls.serverName }),
    ...(tls.disableHostVerification === true && { disableHostVerification: true }),
  };
  return Object.keys(options).length === 0 ? true : options;
}

function contentOf(source: ConfigDataSource | undefined, what: string): string | undefined {
  if (source === undefined) return undefined;
  if ("data" in source) return source.data;
  try {
    return readText(source.path);
  } catch (cause) {
    throw new ClientConfigError(
      `the file "${source.path}" with ${what} cannot be read: ${(cause as Error).message}`,
      { cause },
    );
  }
}

// The file.

function profileOfFile(options: LoadClientConfigOptions, env: Environment): ClientConfigProfile {
  const strict = options.configFileStrict === true;
  const named = options.profile ?? (env.get("TEMPORAL_PROFILE") || undefined);
  const file = configFile(options, env, strict);
  const profiles = file.text === undefined
    ? {}
    : readClientConfigToml(file.text, { file: file.name, strict });
  const name = named ?? "default";
  if (Object.hasOwn(profiles, name)) return profiles[name]!;
  if (named === undefined) return {};
  const by = options.profile === undefined ? " (TEMPORAL_PROFILE)" : "";
  const known = Object.keys(profiles);
  const there = file.text === undefined
    ? `${file.name} does not exist`
    : known.length === 0
    ? `${file.name} has no profiles`
    : `${file.name} has: ${known.join(", ")}`;
  throw new ClientConfigError(`profile "${name}"${by} was not found; ${there}`);
}

function configFile(
  { configSource }: LoadClientConfigOptions,
  env: Environment,
  strict: boolean,
): { name: string; text: string | undefined } {
  if (configSource !== undefined && "data" in configSource) {
    return { name: "the configuration given", text: configSource.data };
  }
  const fromEnv = env.get("TEMPORAL_CONFIG_FILE") || undefined;
  const named = configSource?.path ?? fromEnv;
  const path = named ?? defaultConfigFile(env);
  if (path === undefined) {
    return { name: "configuration file (its folder is unknown)", text: undefined };
  }
  const name = `configuration file ${path}`;
  try {
    return { name, text: readText(path) };
  } catch (cause) {
    const missing = (cause as { code?: unknown }).code === "ENOENT";
    // A default file counts as missing if it may not be read (Deno's permissions).
    const optional = configSource === undefined && !strict;
    if (named === undefined ? missing || isRefused(cause) : missing && optional) {
      return { name, text: undefined };
    }
    const by = configSource === undefined ? " (TEMPORAL_CONFIG_FILE)" : "";
    throw new ClientConfigError(`the ${name}${by} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/**
 * Returns `temporalio/temporal.toml` in the user's configuration folder; undefined if that is not
 * known.
 */
function defaultConfigFile(env: Environment): string | undefined {
  const platform = builtin<typeof import("node:os")>("node:os")?.platform();
  const path = builtin<typeof import("node:path")>("node:path");
  if (platform === undefined || path === undefined) return undefined;
  const under = (folder: string | undefined, ...rest: string[]) =>
    folder ? path.join(folder, ...rest, "temporalio", "temporal.toml") : undefined;
  if (platform === "win32") return under(env.ifAllowed("APPDATA"));
  if (platform === "darwin") return under(env.ifAllowed("HOME"), "Library", "Application Support");
  const xdg = env.ifAllowed("XDG_CONFIG_HOME");
  // The XDG specification ignores relative paths.
  if (xdg) return path.isAbsolute(xdg) ? under(xdg) : undefined;
  return under(env.ifAllowed("HOME"), ".config");
}

function readText(path: string): string {
  const fs = builtin<typeof import("node:fs")>("node:fs");
  if (fs === undefined) throw new Error("this runtime has no file system");
  return fs.readFileSync(path, "utf8");
}

// The variables.

class Environment {
  readonly #variables: { readonly [name: string]: string | undefined };

  constructor(variables: { readonly [name: string]: string | undefined } | undefined) {
    this.#variables = variables ??
      (globalThis as { process?: { env?: NodeJS.ProcessEnv } }).process?.env ?? {};
  }

  /** Returns a variable's value; undefined if not set. Throws if it may not be read. */
  get(name: string): string | undefined {
    try {
      return this.#variables[name];
    } catch (cause) {
      throw new ClientConfigError(
        `the environment variable ${name} cannot be read: ${
          (cause as Error).message
        }; allow all of CLIENT_CONFIG_VARIABLES, or use ` +
          "disableEnv",
        { cause },
      );
    }
  }

  /** Returns a variable that is not a setting; undefined if it may not be read. */
  ifAllowed(name: string): string | undefined {
    try {
      return this.#variables[name];
    } catch {
      return undefined;
    }
  }

  /**
   * Returns names with a prefix; empty if names may not be listed. Deno lists them only with full
   * permission.
   */
  names(prefix: string): string[] {
    try {
      return Object.keys(this.#variables).filter((name) => name.startsWith(prefix));
    } catch {
      return [];
    }
  }
}

function applyEnvironment(profile: ClientConfigProfile, env: Environment): void {
  setText(profile, "address", env.get("TEMPORAL_ADDRESS"));
  setText(profile, "namespace", env.get("TEMPORAL_NAMESPACE"));
  setText(profile, "apiKey", env.get("TEMPORAL_API_KEY"));
  const tls: ClientConfigTls = { ...profile.tls };
  const enabled = truth("TEMPORAL_TLS", env);
  if (enabled !== undefined) tls.disabled = !enabled;
  setSource(tls, "clientCert", "TEMPORAL_TLS_CLIENT_CERT", env);
  setSource(tls, "clientKey", "TEMPORAL_TLS_CLIENT_KEY", env);
  setSource(tls, "serverCaCert", "TEMPORAL_TLS_SERVER_CA_CERT", env);
  setText(tls, "serverName", env.get("TEMPORAL_TLS_SERVER_NAME"));
  const trusting = truth("TEMPORAL_TLS_DISABLE_HOST_VERIFICATION", env);
  if (trusting !== undefined) tls.disableHostVerification = trusting;
  if (profile.tls !== undefined || Object.keys(tls).length > 0) profile.tls = tls;
  const codec = { ...profile.codec };
  setText(codec, "endpoint", env.get("TEMPORAL_CODEC_ENDPOINT"));
  setText(codec, "auth", env.get("TEMPORAL_CODEC_AUTH"));
  if (Object.keys(codec).length > 0) profile.codec = codec;
  else delete profile.codec;
  for (const variable of env.names(META_PREFIX)) {
    const name = metaName(variable.slice(META_PREFIX.length));
    const meta = profile.grpcMeta ??= {};
    const value = env.get(variable);
    if (value) meta[name] = value;
    else delete meta[name];
  }
}

/** Converts a name: HTTP/2 headers have no capitals, variables no hyphens. */
export function metaName(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}

function setText<K extends string>(
  into: { [key in K]?: string },
  key: K,
  value: string | undefined,
): void {
  if (value === undefined) return;
  if (value === "") delete into[key];
  else into[key] = value;
}

function truth(name: string, env: Environment): boolean | undefined {
  const text = env.get(name);
  if (text === undefined || text === "") return undefined;
  switch (text.toLowerCase()) {
    case "true":
    case "1":
      return true;
    case "false":
    case "0":
      return false;
  }
  throw new ClientConfigError(
    `the environment variable ${name} must be "true" or "false" (or 1 or 0), not "${text}"`,
  );
}

function setSource(
  tls: ClientConfigTls,
  key: "clientCert" | "clientKey" | "serverCaCert",
  variable: string,
  env: Environment,
): void {
  const path = env.get(`${variable}_PATH`) || undefined;
  const data = env.get(`${variable}_DATA`) || undefined;
  if (path === undefined && data === undefined) return;
  if (path !== undefined && data !== undefined) {
    throw new ClientConfigError(
      `the environment variables ${variable}_PATH and ${variable}_DATA contradict each other; set one of them`,
    );
  }
  const before = tls[key];
  if (before !== undefined && ("path" in before) !== (path !== undefined)) {
    const [set, has] = path !== undefined ? ["PATH", "data"] : ["DATA", "path"];
    throw new ClientConfigError(
      `the environment variable ${variable}_${set} contradicts the file's profile, which has ${
        variable.slice(13).toLowerCase()
      }_${has}; ` +
        "use one form in both places",
    );
  }
  tls[key] = path !== undefined ? { path } : { data: data! };
}

/** Returns whether the error is a denied permission of Deno or the file system. */
function isRefused(error: unknown): boolean {
  const { name, code } = error as { name?: unknown; code?: unknown };
  return name === "NotCapable" || name === "PermissionDenied" || code === "EACCES" ||
    code === "EPERM" || code === "ENOTDIR";
}
