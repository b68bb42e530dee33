// Profiles of `@temporalio/envconfig` with the names of the TOML file, and their conversion.
import { ClientConfigError } from "../../grpc/config/toml.ts";
import type {
  ClientConfig,
  ClientConfigProfile,
  ClientConfigTLS,
  ConfigDataSource,
} from "./types.ts";

/** TLS of a profile in the file. */
export interface TomlClientConfigTLS {
  /** True disables TLS. */
  disabled?: boolean;
  /** File with the client's certificate (PEM). */
  client_cert_path?: string;
  /** The client's certificate (PEM). */
  client_cert_data?: string;
  /** File with the client's key (PEM). */
  client_key_path?: string;
  /** The client's key (PEM). */
  client_key_data?: string;
  /** File with trusted authorities (PEM). */
  server_ca_cert_path?: string;
  /** Trusted authorities (PEM). */
  server_ca_cert_data?: string;
  /** Name expected in the server's certificate. */
  server_name?: string;
  /** Accept any server certificate. */
  disable_host_verification?: boolean;
}

/** A profile in the file. */
export interface TomlClientConfigProfile {
  /** `host:port`. */
  address?: string;
  /** The namespace to work in. */
  namespace?: string;
  /** Sent as a bearer token. */
  api_key?: string;
  /** TLS of the connection. */
  tls?: TomlClientConfigTLS;
  /** A remote codec; not used here. */
  codec?: { endpoint?: string; auth?: string };
  /** Headers of every request. */
  grpc_meta?: { [name: string]: string };
}

/** The file. */
export interface TomlClientConfig {
  profile: { [name: string]: TomlClientConfigProfile };
}

const SOURCES = [["clientCert", "client_cert"], ["clientKey", "client_key"], [
  "serverCACert",
  "server_ca_cert",
]] as const;

/** Returns a copy without undefined values. */
function omitUndefined<T extends object>(object: T): T {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined && value !== null),
  ) as T;
}

const mapped = <A, B>(
  object: { readonly [name: string]: A },
  map: (value: A) => B,
): { [name: string]: B } =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));

const headers = (meta: { readonly [name: string]: string } | undefined) =>
  meta &&
  Object.fromEntries(
    Object.entries(meta).map(([name, value]) => [name.toLowerCase().replaceAll("_", "-"), value]),
  );

const decodeText = (data: string | Uint8Array): string =>
  typeof data === "string" ? data : new TextDecoder().decode(data);

/** Returns a file's profile with the names of TypeScript. */
export function fromTomlProfile(
  { address, namespace, api_key, tls, grpc_meta }: TomlClientConfigProfile,
): ClientConfigProfile {
  return omitUndefined({
    address,
    namespace,
    apiKey: api_key,
    tls: fromTomlTLS(tls),
    grpcMeta: headers(grpc_meta),
  });
}

/** Returns a profile with the names of the file. */
export function toTomlProfile(
  { address, namespace, apiKey, tls, grpcMeta }: ClientConfigProfile,
): TomlClientConfigProfile {
  return omitUndefined({
    address,
    namespace,
    api_key: apiKey,
    tls: toTomlTLS(tls),
    grpc_meta: headers(grpcMeta),
  });
}

/** Returns all profiles of a file with the names of TypeScript. */
export function fromTomlConfig({ profile }: TomlClientConfig): ClientConfig {
  return { profiles: mapped(profile, fromTomlProfile) };
}

/** Returns all profiles with the names of the file. */
export function toTomlConfig({ profiles }: ClientConfig): TomlClientConfig {
  return { profile: mapped(profiles, toTomlProfile) };
}

function fromTomlTLS(tls: TomlClientConfigTLS | undefined): ClientConfigTLS | undefined {
  if (tls === undefined) return undefined;
  const sources = SOURCES.map(([key, name]): [string, ConfigDataSource | undefined] => {
    const path = tls[`${name}_path`];
    const data = tls[`${name}_data`];
    if (path !== undefined && data !== undefined) {
      throw new ClientConfigError(
        `a profile has both "${name}_path" and "${name}_data"; leave one out`,
      );
    }
    return [
      key,
      path !== undefined
        ? { path }
        : data !== undefined
        ? { data: new TextEncoder().encode(data) }
        : undefined,
    ];
  });
  return omitUndefined({
    disabled: tls.disabled,
    serverName: tls.server_name,
    ...Object.fromEntries(sources),
  });
}

function toTomlTLS(tls: ClientConfigTLS | undefined): TomlClientConfigTLS | undefined {
  if (tls === undefined) return undefined;
  const sources = SOURCES.flatMap(([key, name]): [string, string][] => {
    const source = tls[key];
    if (source === undefined) return [];
    return "path" in source
      ? [[`${name}_path`, source.path]]
      : [[`${name}_data`, decodeText(source.data)]];
  });
  return omitUndefined({
    disabled: tls.disabled,
    server_name: tls.serverName,
    ...Object.fromEntries(sources),
  });
}
