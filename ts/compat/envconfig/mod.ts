// `@temporalio/envconfig`: client configuration from environment variables and a TOML file with
// profiles. Rules of the native `loadClientConnectConfig`, with names and types of the official
// package.
import { stringify } from "smol-toml";
import * as native from "../../grpc/config/client_config.ts";
import { readClientConfigToml } from "../../grpc/config/toml.ts";
import { builtin } from "../../platform/builtin.ts";
import { toTomlConfig } from "./toml_shapes.ts";
import type {
  ClientConfig,
  ClientConfigFromTomlOptions,
  ClientConfigProfile,
  ClientConfigTLS,
  ClientConnectConfig,
  ConfigDataSource,
  ConfiguredTLS,
  LoadClientConfigOptions,
  LoadClientProfileOptions,
} from "./types.ts";

export {
  fromTomlConfig,
  fromTomlProfile,
  type TomlClientConfig,
  type TomlClientConfigProfile,
  type TomlClientConfigTLS,
  toTomlConfig,
  toTomlProfile,
} from "./toml_shapes.ts";
export type * from "./types.ts";

/** Returns the profiles of the file; empty if it does not exist. */
export function loadClientConfig(options: LoadClientConfigOptions = {}): ClientConfig {
  return toConfig(native.loadClientConfigProfiles(nativeOptions(options)));
}

/** Returns the profiles in a file's bytes. */
export function loadClientConfigFromToml(
  tomlData: Uint8Array,
  options: ClientConfigFromTomlOptions,
): ClientConfig {
  return toConfig(
    readClientConfigToml(new TextDecoder().decode(tomlData), {
      file: "configuration given",
      strict: options.strict,
    }),
  );
}

/** Returns the bytes of a file with these profiles. */
export function clientConfigToToml(config: ClientConfig): Uint8Array {
  return new TextEncoder().encode(stringify(toTomlConfig(config)));
}

/** Returns a profile of the file with the environment applied. */
export function loadClientConfigProfile(
  options: LoadClientProfileOptions = {},
): ClientConfigProfile {
  return toProfile(native.loadClientConfigProfile(nativeOptions(options)));
}

/** Returns options for `Connection.connect` and `NativeConnection.connect`, and the namespace. */
export function loadClientConnectConfig(
  options: LoadClientProfileOptions = {},
): ClientConnectConfig {
  return toClientOptions(loadClientConfigProfile(options));
}

/** Returns the connection options of a profile; reads the files that it names. */
export function toClientOptions(
  { address, apiKey, tls, grpcMeta, namespace }: ClientConfigProfile,
): ClientConnectConfig {
  const secured = tls === undefined ? (apiKey === undefined ? undefined : true) : readTls(tls);
  return { namespace, connectionOptions: { address, apiKey, tls: secured, metadata: grpcMeta } };
}

/** Returns the bytes of a source; undefined without one. */
export function loadConfigData(source?: ConfigDataSource): Uint8Array | undefined {
  if (source === undefined) return undefined;
  if ("data" in source) {
    return typeof source.data === "string" ? new TextEncoder().encode(source.data) : source.data;
  }
  const fs = builtin<typeof import("node:fs")>("node:fs");
  if (fs === undefined) {
    throw new Error(`the file ${source.path} cannot be read: this runtime has no file system`);
  }
  return Uint8Array.from(fs.readFileSync(source.path));
}

function readTls(tls: ClientConfigTLS): ConfiguredTLS | false {
  if (tls.disabled === true) return false;
  const crt = loadConfigData(tls.clientCert);
  const key = loadConfigData(tls.clientKey);
  return {
    serverNameOverride: tls.serverName,
    serverRootCACertificate: loadConfigData(tls.serverCACert),
    clientCertPair: crt && key ? { crt, key } : undefined,
  };
}

/** Converts bytes to text for the native loader. */
function nativeOptions<Options extends LoadClientConfigOptions>(
  { configSource, ...rest }: Options,
) {
  if (configSource === undefined || "path" in configSource) {
    return { ...rest, ...(configSource && { configSource }) };
  }
  const { data } = configSource;
  return {
    ...rest,
    configSource: { data: typeof data === "string" ? data : new TextDecoder().decode(data) },
  };
}

function toConfig(profiles: { readonly [name: string]: native.ClientConfigProfile }): ClientConfig {
  return {
    profiles: Object.fromEntries(
      Object.entries(profiles).map(([name, profile]) => [name, toProfile(profile)]),
    ),
  };
}

function toProfile(
  { codec: _codec, tls, ...profile }: native.ClientConfigProfile,
): ClientConfigProfile {
  if (tls === undefined) return profile;
  const { serverCaCert, disableHostVerification: _trusting, ...same } = tls;
  const bytes = (source: native.ConfigDataSource | undefined): ConfigDataSource | undefined =>
    source === undefined || "path" in source
      ? source
      : { data: new TextEncoder().encode(source.data) };
  const sources = {
    clientCert: bytes(same.clientCert),
    clientKey: bytes(same.clientKey),
    serverCACert: bytes(serverCaCert),
  };
  const found = Object.entries({ ...same, ...sources }).filter(([, value]) => value !== undefined);
  return { ...profile, tls: Object.fromEntries(found) };
}
