// Types of `@temporalio/envconfig`.

/** A file's path, or its content. */
export type ConfigDataSource = { path: string } | { data: string | Uint8Array };

/** TLS of a profile. */
export interface ClientConfigTLS {
  /** True: no TLS. */
  disabled?: boolean;
  /** Name to expect in the server's certificate. */
  serverName?: string;
  /** The client's certificate (PEM). */
  clientCert?: ConfigDataSource;
  /** The client's key (PEM). */
  clientKey?: ConfigDataSource;
  /** The authorities to trust (PEM). */
  serverCACert?: ConfigDataSource;
}

/** What a profile of the file and the environment say. */
export interface ClientConfigProfile {
  /** `host:port`. */
  address?: string;
  /** The namespace to work in. */
  namespace?: string;
  /** Sent as a bearer token; switches TLS on. */
  apiKey?: string;
  /** Security of the connection. */
  tls?: ClientConfigTLS;
  /** Headers of every request. */
  grpcMeta?: Record<string, string>;
}

/** All profiles of a file. */
export interface ClientConfig {
  /** Profiles by name. */
  profiles: Record<string, ClientConfigProfile>;
}

/** TLS as connections take it. */
export interface ConfiguredTLS {
  /** Name to expect in the server's certificate. */
  serverNameOverride?: string;
  /** The authorities to trust (PEM), as bytes. */
  // deno-lint-ignore no-explicit-any
  serverRootCACertificate?: any;
  /** The client's certificate and key (PEM), as bytes. */
  // deno-lint-ignore no-explicit-any
  clientCertPair?: { crt: any; key: any };
}

/** What `Connection.connect` and `NativeConnection.connect` take, and the namespace of clients and workers. */
export interface ClientConnectConfig {
  /** Options of the connection. */
  connectionOptions: {
    /** `host:port`. */
    address?: string;
    /** Sent as a bearer token; switches TLS on. */
    apiKey?: string;
    /** Security of the connection. */
    tls?: ConfiguredTLS | boolean;
    /** Headers of every request. */
    metadata?: Record<string, string>;
  };
  /** The namespace to work in. */
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
  /** Unknown keys are an error. */
  strict: boolean;
}
