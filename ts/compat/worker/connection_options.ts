// Options of `NativeConnection.connect` as a connection of this package takes them.
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
  /** Its key. */
  key: Uint8Array;
  /** Not supported. */
  passphrase?: string;
}

/** TLS of a connection. */
export interface TLSConfig {
  /** Name to expect in the server's certificate. */
  serverNameOverride?: string;
  /** Certificates to trust instead of the system's, as PEM text. */
  serverRootCACertificate?: Uint8Array;
  /** The client's own certificate. */
  clientCertPair?: ClientCertPair;
}

/** An HTTP proxy. */
export interface ProxyConfig {
  /** The one kind there is. */
  type: "http-connect";
  /** Its `host:port`. */
  targetHost: string;
  /** What the proxy is told of who asks. */
  basicAuth?: { username: string; password: string };
}

/** Not supported. */
export interface DNSLoadBalancingConfig {
  /** How often the name is resolved. */
  resolutionInterval: Duration;
}

/** How requests are compressed. */
export type GrpcCompressionConfig = { codec: "gzip" } | { codec: "none" };

/** Sizes that are warned of. */
export interface PayloadLimitsConfig {
  /** Bytes of one set of payloads. */
  payloadsWarnSize?: number;
  /** Bytes of a memo. */
  memoWarnSize?: number;
}

/** What every call is sent with. */
export type Metadata = Record<string, string | Uint8Array>;

/** Changes the options of connections, and those of workers that have them. */
export interface NativeConnectionPlugin {
  /** Its name. */
  get name(): string;
  /** Changes the options of a connection. */
  configureNativeConnection?(options: NativeConnectionOptions): NativeConnectionOptions;
}

/** Options of `NativeConnection.connect`. */
export interface NativeConnectionOptions {
  /** `host:port`. Default: "localhost:7233". */
  address?: string;
  /** TLS; true: with the system's certificates. Default: only with an API key. */
  tls?: TLSConfig | boolean | null;
  /** An HTTP proxy on the way. */
  proxy?: ProxyConfig;
  /** Not supported. */
  dnsLoadBalancingConfig?: DNSLoadBalancingConfig | null;
  /** How requests are compressed. Default: not at all. */
  grpcCompression?: GrpcCompressionConfig;
  /** Sent with every call. */
  metadata?: Metadata;
  /** Sent as a bearer token. */
  apiKey?: string;
  /** Without effect: there are no such tags. */
  disableErrorCodeMetricTags?: boolean;
  /** Sizes that are warned of. */
  payloadLimits?: PayloadLimitsConfig;
  /** Plugins. */
  plugins?: NativeConnectionPlugin[];
}

/** A PEM text, which the official SDK takes as bytes. */
function pem(text: Uint8Array | string): string {
  return typeof text === "string" ? text : new TextDecoder().decode(text);
}

function tlsOf(tls: TLSConfig | boolean): boolean | TlsOptions {
  if (typeof tls === "boolean") return tls;
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = tls;
  if (clientCertPair?.passphrase !== undefined) {
    refuseOption("NativeConnectionOptions.tls.clientCertPair.passphrase", "decrypt the key first, with `openssl pkey`");
  }
  return {
    ...(serverNameOverride !== undefined && { serverName: serverNameOverride }),
    ...(serverRootCACertificate !== undefined && { serverRootCaCertificate: pem(serverRootCACertificate) }),
    ...(clientCertPair !== undefined && { clientCertificate: pem(clientCertPair.crt), clientKey: pem(clientCertPair.key) }),
  };
}

/** `host:port`: the official SDK takes a URL, too, and adds the port. */
function addressOf(address: string): string {
  const plain = address.replace(/^https?:\/\//, "").replace(/\/$/, "");
  return /:\d+$/.test(plain) ? plain : `${plain}:7233`;
}

/** The options for `Connection.connect`, with the API key as it is at each call. Throws a TypeError that names what cannot be honoured. */
export function connectOptions(options: NativeConnectionOptions, apiKey: () => string): ConnectOptions {
  const { address, tls, proxy, dnsLoadBalancingConfig, grpcCompression, metadata } = options;
  if (dnsLoadBalancingConfig) {
    refuseOption("NativeConnectionOptions.dnsLoadBalancingConfig", "a connection keeps to one address of its name; leave it out");
  }
  if (grpcCompression?.codec === "gzip") {
    refuseOption(
      "NativeConnectionOptions.grpcCompression with gzip",
      'requests are not compressed; leave it out, or give { codec: "none" }',
    );
  }
  // As the official SDK: it rejects this spelling alone. With any other spelling the header is sent, and not the key.
  if (options.apiKey && metadata?.["Authorization"]) {
    throw new TypeError("Both `apiKey` option and `Authorization` header were provided. Only one makes sense to use at a time.");
  }
  return {
    ...(address !== undefined && { address: addressOf(address) }),
    ...(tls !== undefined && tls !== null && { tls: tlsOf(tls) }),
    ...(proxy !== undefined && { proxy: proxy as ProxyOptions }),
    ...(metadata !== undefined && { metadata }),
    ...(options.apiKey !== undefined && !hasAuthorization(metadata) && { apiKey }),
  };
}
