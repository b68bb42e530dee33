// The TOML file of Temporal's environment configuration: `[profile.NAME]` with `tls`, `codec` and
// `grpc_meta`. Errors name the file and the key. A wrong type is always an error; an unknown key
// only in strict mode, because other programs and newer versions use the same file.
import { parse, TomlError } from "smol-toml";
import type { ClientConfigProfile, ClientConfigTls, ConfigDataSource } from "./client_config.ts";

/**
 * Invalid environment or file of Temporal's client configuration; the message names the variable,
 * or file and key.
 */
export class ClientConfigError extends Error {
  override name = "ClientConfigError";
}

interface ReadOptions {
  /** Name for messages: "configuration file /path". */
  readonly file: string;
  readonly strict: boolean;
}

/** A table with its path, for messages. */
class Table {
  readonly #values: { readonly [key: string]: unknown };
  readonly #path: string;
  readonly #options: ReadOptions;
  readonly #read = new Set<string>();

  constructor(value: unknown, path: string, options: ReadOptions) {
    if (
      typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Date
    ) {
      throw new ClientConfigError(
        `invalid ${options.file}: "${path}" must be a table, not ${kindOf(value)}`,
      );
    }
    this.#values = value as { [key: string]: unknown };
    this.#path = path;
    this.#options = options;
  }

  get keys(): string[] {
    return Object.keys(this.#values);
  }

  #take(key: string): unknown {
    this.#read.add(key);
    return Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
  }

  #wrong(key: string, value: unknown, wanted: string): ClientConfigError {
    return new ClientConfigError(
      `invalid ${this.#options.file}: "${this.#at(key)}" must be ${wanted}, not ${kindOf(value)}`,
    );
  }

  #at(key: string): string {
    return this.#path === "" ? key : `${this.#path}.${key}`;
  }

  text(key: string): string | undefined {
    const value = this.#take(key);
    if (value === undefined || typeof value === "string") return value;
    throw this.#wrong(key, value, "a quoted string");
  }

  flag(key: string): boolean | undefined {
    const value = this.#take(key);
    if (value === undefined || typeof value === "boolean") return value;
    throw this.#wrong(key, value, "true or false");
  }

  table(key: string): Table | undefined {
    const value = this.#take(key);
    return value === undefined ? undefined : new Table(value, this.#at(key), this.#options);
  }

  /** Reads a file name or content: `NAME_path` or `NAME_data`. */
  source(name: string): ConfigDataSource | undefined {
    const path = this.text(`${name}_path`) || undefined;
    const data = this.text(`${name}_data`) || undefined;
    if (path !== undefined && data !== undefined) {
      throw new ClientConfigError(
        `invalid ${this.#options.file}: "${this.#at(`${name}_path`)}" and "${
          this.#at(`${name}_data`)
        }" contradict each other; ` +
          "keep one of them",
      );
    }
    return path !== undefined ? { path } : data !== undefined ? { data } : undefined;
  }

  /** Rejects unread keys in strict mode. */
  done(known: readonly string[] = []): void {
    if (!this.#options.strict) return;
    const left = this.keys.filter((key) => !this.#read.has(key) && !known.includes(key));
    if (left.length === 0) return;
    const names = left.map((key) => `"${this.#at(key)}"`).join(", ");
    throw new ClientConfigError(
      `the ${this.#options.file} has ${
        left.length === 1 ? "an unknown key" : "unknown keys"
      }: ${names}; known keys: ${[...this.#read].join(", ")}`,
    );
  }
}

/** Returns only the type, because the value may be a secret. */
function kindOf(value: unknown): string {
  if (value instanceof Date) return "a date";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a table";
  return typeof value === "string"
    ? "text"
    : typeof value === "boolean"
    ? "true or false"
    : "a number";
}

/** Returns the profiles of a file by name. Throws a ClientConfigError. */
export function readClientConfigToml(
  text: string,
  options: ReadOptions,
): { [name: string]: ClientConfigProfile } {
  let parsed: unknown;
  try {
    parsed = parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    // The library's message quotes lines around the error, which may contain a secret.
    const what = cause.message.split("\n")[0]!.replace(/^Invalid TOML document:\s*/, "");
    throw new ClientConfigError(
      `the ${options.file} is not valid TOML: line ${cause.line}, column ${cause.column}: ${what}`,
    );
  }
  const root = new Table(parsed, "", options);
  const profiles: { [name: string]: ClientConfigProfile } = Object.create(null);
  const table = root.table("profile");
  root.done();
  for (const name of table?.keys ?? []) profiles[name] = profileOf(table!.table(name)!);
  return profiles;
}

function profileOf(table: Table): ClientConfigProfile {
  const profile: ClientConfigProfile = {};
  for (
    const [key, name] of [["address", "address"], ["namespace", "namespace"], [
      "apiKey",
      "api_key",
    ]] as const
  ) {
    const value = table.text(name);
    if (value) profile[key] = value;
  }
  const tls = table.table("tls");
  const codec = table.table("codec");
  const meta = table.table("grpc_meta");
  table.done();
  if (tls !== undefined) profile.tls = tlsOf(tls);
  if (codec !== undefined) {
    const endpoint = codec.text("endpoint");
    const auth = codec.text("auth");
    codec.done();
    profile.codec = { ...(endpoint && { endpoint }), ...(auth && { auth }) };
  }
  for (const key of meta?.keys ?? []) {
    (profile.grpcMeta ??= {})[key.toLowerCase().replaceAll("_", "-")] = meta!.text(key)!;
  }
  return profile;
}

function tlsOf(table: Table): ClientConfigTls {
  const tls: ClientConfigTls = {};
  const disabled = table.flag("disabled");
  const serverName = table.text("server_name");
  const disableHostVerification = table.flag("disable_host_verification");
  const sources = {
    clientCert: table.source("client_cert"),
    clientKey: table.source("client_key"),
    serverCaCert: table.source("server_ca_cert"),
  };
  table.done();
  if (disabled !== undefined) tls.disabled = disabled;
  if (serverName) tls.serverName = serverName;
  if (disableHostVerification !== undefined) tls.disableHostVerification = disableHostVerification;
  for (const [key, source] of Object.entries(sources)) {
    if (source !== undefined) tls[key as keyof typeof sources] = source;
  }
  return tls;
}
