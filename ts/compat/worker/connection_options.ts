// Converts options of `NativeConnection.connect` for a connection of this package.
import { hasAuthorization } from "../client/call_context.ts";
import type { Duration } from "../common/mod.ts";
import type { ConnectOptions } from "../../grpc/connection.ts";
import type { ProxyOptions } from "../../grpc/proxy.ts";
import type { TlsOptions } from "../../grpc/tls.ts";
import { refuseOption } from "./runtime_options.ts";

/** A certificate with its key, as PEM texts. */
export interface ClientCertPair {
  /** The certificate. */
  crt: Uint8Array;
  /** Key of the certificate. */
  key: Uint8Array;
  /** Not supported. */
  passphrase?: string;
}

/** TLS of a connection. */
export interface TLSConfig {
  /** Name expected in the server's certificate. */
  serverNameOverride?: string;
  /** Trusted certificates instead of the system's, as PEM text. */
  serverRootCACertificate?: Uint8Array;
  /** The client's certificate. */
  clientCertPair?: ClientCertPair;
}

/** An HTTP proxy. */
export interface ProxyConfig {
  /** The only supported type. */
  type: "http-connect";
  /** `host:port` of the proxy. */
  targetHost: string;
  /** Credentials for the proxy. */
  basicAuth?: { username: string; password: string };
}

/** Not supported. */
export interface DNSLoadBalancingConfig {
  resolutionInterval: Duration;
}

/** Compression of requests. */
export type GrpcCompressionConfig = { codec: "gzip" } | { codec: "none" };

/** Payload sizes that cause a warning. */
export interface PayloadLimitsConfig {
  /** Bytes of one set of payloads. */
  payloadsWarnSize?: number;
  /** Bytes of a memo. */
  memoWarnSize?: number;
}

/** Metadata of every call. */
export type Metadata = Record<string, string | Uint8Array>;

/** Plugin for the options of connections, and of workers that use them. */
export interface NativeConnectionPlugin {
  /** Name of the plugin. */
  get name(): string;
  /** Returns changed options of a connection. */
  configureNativeConnection?(options: NativeConnectionOptions): NativeConnectionOptions;
}

/** Options of `NativeConnection.connect`. */
export interface NativeConnectionOptions {
  /** `host:port`. Default: "localhost:7233". */
  address?: string;
  /** TLS; true: trust the system's certificates. Default: only with an API key. */
  tls?: TLSConfig | boolean | null;
  /** An HTTP proxy. */
  proxy?: ProxyConfig;
  /** Not supported. */
  dnsLoadBalancingConfig?: DNSLoadBalancingConfig | null;
  /** Compression of requests. Default: none. */
  grpcCompression?: GrpcCompressionConfig;
  /** Sent with every call. */
  metadata?: Metadata;
  /** Sent as a bearer token. */
  apiKey?: string;
  /** No effect: such tags do not exist here. */
  disableErrorCodeMetricTags?: boolean;
  /** Payload sizes that cause a warning. */
  payloadLimits?: PayloadLimitsConfig;
  plugins?: NativeConnectionPlugin[];
}

/** Converts a PEM text, which the official SDK takes as bytes. */
function pem(text: Uint8Array | string): string {
  return typeof text === "string" ? text : new TextDecoder().decode(text);
}

function toTlsOptions(tls: TLSConfig | boolean): boolean | TlsOptions {
  if (typeof tls === "boolean") return tls;
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = tls;
  if (clientCertPair?.passphrase !== undefined) {
    refuseOption(
      "NativeConnectionOptions.tls.clientCertPair.passphrase",
      "decrypt the key first, with `openssl pkey`",
    );
  }
  return {
    ...(serverNameOverride !== undefined && { serverName: serverNameOverride }),
    ...(serverRootCACertificate !== undefined &&
      { serverRootCaCertificate: pem(serverRootCACertificate) }),
    ...(clientCertPair !== undefined &&
      { clientCertificate: pem(clientCertPair.crt), clientKey: pem(clientCertPair.key) }),
  };
}

/** Returns `host:port`: like the official SDK, accepts a URL and adds the default port. */
function addDefaultPort(address: string): string {
  const plain = address.replace(/^https?:\/\//, "").replace(/\/$/, "");
  return /:\d+$/.test(plain) ? plain : `${plain}:7233`;
}

/**
 * Returns options for `Connection.connect`; the API key is read for each call. Throws a TypeError
 * that names an unsupported option.
 */
export function connectOptions(
  options: NativeConnectionOptions,
  apiKey: () => string,
): ConnectOptions {
  const { address, tls, proxy, dnsLoadBalancingConfig, grpcCompression, metadata } = options;
  if (dnsLoadBalancingConfig) {
    refuseOption(
      "NativeConnectionOptions.dnsLoadBalancingConfig",
      "a connection uses one address of its host name; omit it",
    );
  }
  if (grpcCompression?.codec === "gzip") {
    refuseOption(
      "NativeConnectionOptions.grpcCompression with gzip",
      'requests are not compressed; omit it, or pass { codec: "none" }',
    );
  }
  // Like the official SDK: rejects only this spelling. With any other, the header is sent in place
  // of the key.
  if (options.apiKey && metadata?.["Authorization"]) {
    throw new TypeError(
      "Both `apiKey` option and `Authorization` header were provided. Only one makes sense to use at a time.",
    );
  }
  return {
    ...(address !== undefined && { address: addDefaultPort(address) }),
    ...(tls !== undefined && tls !== null && { tls: toTlsOptions(tls) }),
    ...(proxy !== undefined && { proxy: proxy as ProxyOptions }),
    ...(metadata !== undefined && { metadata }),
    ...(options.apiKey !== undefined && !hasAuthorization(metadata) && { apiKey }),
  };
}
