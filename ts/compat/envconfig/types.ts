// Types of `@temporalio/envconfig`.

/** A file's path, or its content. */
export type ConfigDataSource = { path: string } | { data: string | Uint8Array };

/** TLS of a profile. */
export interface ClientConfigTLS {
  disabled?: boolean;
  serverName?: string;
  clientCert?: ConfigDataSource;
  clientKey?: ConfigDataSource;
  serverCACert?: ConfigDataSource;
}

/** What a profile of the file and the environment say. */
export interface ClientConfigProfile {
  address?: string;
  namespace?: string;
  apiKey?: string;
  tls?: ClientConfigTLS;
  grpcMeta?: Record<string, string>;
}

/** All profiles of a file. */
export interface ClientConfig {
  profiles: Record<string, ClientConfigProfile>;
}

/** TLS as connections take it. */
export interface ConfiguredTLS {
  serverNameOverride?: string;
  // deno-lint-ignore no-explicit-any
  serverRootCACertificate?: any;
  // deno-lint-ignore no-explicit-any
  clientCertPair?: { crt: any; key: any };
}

/** What `Connection.connect` and `NativeConnection.connect` take, and the namespace of clients and workers. */
export interface ClientConnectConfig {
  connectionOptions: {
    address?: string;
    apiKey?: string;
    tls?: ConfiguredTLS | boolean;
    metadata?: Record<string, string>;
  };
  namespace?: string;
}

/** Options of `loadClientConfig`. */
export interface LoadClientConfigOptions {
  /** The file, or its content. Default: TEMPORAL_CONFIG_FILE, else the file in the user's folder for configuration. */
  configSource?: ConfigDataSource;
  /** Unknown keys of the file are an error. */
  configFileStrict?: boolean;
  /** Stands in for the environment of the process. */
  overrideEnvVars?: Record<string, string>;
}

/** Options of `loadClientConfigProfile` and `loadClientConnectConfig`. */
export interface LoadClientProfileOptions extends LoadClientConfigOptions {
  /** Default: TEMPORAL_PROFILE, else "default". */
  profile?: string;
  /** Reads no file. */
  disableFile?: boolean;
  /** Reads no environment variables. */
  disableEnv?: boolean;
}

/** Options of `loadClientConfigFromToml`. */
export interface ClientConfigFromTomlOptions {
  strict: boolean;
}
