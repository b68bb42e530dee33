// Types of `@temporalio/envconfig`.

/** A file's path, or its content. */
export type ConfigDataSource = { path: string } | { data: string | Uint8Array };

/** TLS of a profile. */
export interface ClientConfigTLS {
  /** True disables TLS. */
  disabled?: boolean;
  /** Name expected in the server's certificate. */
  serverName?: string;
  /** The client's certificate (PEM). */
  clientCert?: ConfigDataSource;
  /** The client's key (PEM). */
  clientKey?: ConfigDataSource;
  /** Trusted authorities (PEM). */
  serverCACert?: ConfigDataSource;
}

/** A profile of the file with the environment applied. */
export interface ClientConfigProfile {
  /** `host:port`. */
  address?: string;
  /** The namespace to work in. */
  namespace?: string;
  /** Sent as a bearer token; enables TLS. */
  apiKey?: string;
  /** TLS of the connection. */
  tls?: ClientConfigTLS;
  /** Headers of every request. */
  grpcMeta?: Record<string, string>;
}

/** All profiles of a file. */
export interface ClientConfig {
  profiles: Record<string, ClientConfigProfile>;
}

/** TLS options of a connection. */
export interface ConfiguredTLS {
  /** Name expected in the server's certificate. */
  serverNameOverride?: string;
  /** Trusted authorities (PEM), as bytes. */
  // deno-lint-ignore no-explicit-any
  serverRootCACertificate?: any;
  /** The client's certificate and key (PEM), as bytes. */
  // deno-lint-ignore no-explicit-any
  clientCertPair?: { crt: any; key: any };
}

/**
 * Options for `Connection.connect` and `NativeConnection.connect`, and the namespace of clients and
 * workers.
 */
export interface ClientConnectConfig {
  connectionOptions: {
    /** `host:port`. */
    address?: string;
    /** Sent as a bearer token; enables TLS. */
    apiKey?: string;
    /** TLS of the connection. */
    tls?: ConfiguredTLS | boolean;
    /** Headers of every request. */
    metadata?: Record<string, string>;
  };
  /** The namespace to work in. */
  namespace?: string;
}

/** Options of `loadClientConfig`. */
export interface LoadClientConfigOptions {
  /**
   * The file, or its content. Default: TEMPORAL_CONFIG_FILE, else the file in the user's
   * configuration folder.
   */
  configSource?: ConfigDataSource;
  /** Reject unknown keys of the file. */
  configFileStrict?: boolean;
  /** Replaces the environment of the process. */
  overrideEnvVars?: Record<string, string>;
}

/** Options of `loadClientConfigProfile` and `loadClientConnectConfig`. */
export interface LoadClientProfileOptions extends LoadClientConfigOptions {
  /** Default: TEMPORAL_PROFILE, else "default". */
  profile?: string;
  /** Read no file. */
  disableFile?: boolean;
  /** Read no environment variables. */
  disableEnv?: boolean;
}

/** Options of `loadClientConfigFromToml`. */
export interface ClientConfigFromTomlOptions {
  /** Reject unknown keys. */
  strict: boolean;
}
