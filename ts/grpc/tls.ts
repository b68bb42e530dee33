// Converts TLS options (PEM texts) for node:tls. Invalid texts are reported here, before
// connecting: each runtime reports them differently during the handshake, or not at all.
import { nodeCrypto, nodeNet } from "./node_net.ts";

/** TLS as PEM texts. Without any: the system's certificates. */
export interface TlsOptions {
  /** Certificates of trusted authorities, instead of the system's. */
  serverRootCaCertificate?: string;
  /**
   * The client's certificate, if the server requires one (mTLS), followed by its intermediate
   * certificates.
   */
  clientCertificate?: string;
  /** The key of the client's certificate. */
  clientKey?: string;
  /** Name for SNI and expected in the server's certificate, instead of the address's. */
  serverName?: string;
  /**
   * Accept any server certificate. For tests: allows a machine in the middle to read everything.
   */
  disableHostVerification?: boolean;
}

const TYPES: { readonly [name: string]: string } = {
  serverRootCaCertificate: "string",
  clientCertificate: "string",
  clientKey: "string",
  serverName: "string",
  disableHostVerification: "boolean",
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Options of node:tls, declared here so that public types do not depend on Node's. */
interface NodeTls {
  ca?: string[];
  cert?: string;
  key?: string;
  servername?: string;
  rejectUnauthorized?: boolean;
}

/** Throws a TypeError that names the option. */
export function nodeTls(tls: true | TlsOptions, host: string): NodeTls {
  // SNI has names only, not addresses.
  const ofHost = nodeNet().isIP(host) === 0 ? { servername: host } : {};
  if (tls === true) return ofHost;
  const { serverRootCaCertificate, clientCertificate, clientKey, serverName } = tls;
  for (const [name, value] of Object.entries(tls)) {
    const type = TYPES[name];
    if (type === undefined) {
      throw new TypeError(
        `tls.${name} is not an option; known options: ${Object.keys(TYPES).join(", ")}`,
      );
    }
    if (value !== undefined && typeof value !== type) {
      throw new TypeError(`tls.${name} must be a ${type}, not ${typeof value}`);
    }
  }
  if ((clientCertificate === undefined) !== (clientKey === undefined)) {
    throw new TypeError(
      "set both tls.clientCertificate and tls.clientKey; one of them is missing",
    );
  }
  const ca = serverRootCaCertificate === undefined
    ? undefined
    : certificates("serverRootCaCertificate", serverRootCaCertificate);
  if (clientCertificate !== undefined) checkPair(clientCertificate, clientKey!);
  return {
    ...ofHost,
    ...(ca !== undefined && { ca }),
    ...(clientCertificate !== undefined && { cert: clientCertificate, key: clientKey! }),
    ...(serverName !== undefined && { servername: serverName }),
    ...(tls.disableHostVerification === true && { rejectUnauthorized: false }),
  };
}

function certificates(option: string, pem: string): string[] {
  const found = pem.match(CERTIFICATE);
  if (found === null) {
    throw new TypeError(
      `tls.${option} has no certificate: it must be the PEM text ("-----BEGIN CERTIFICATE-----..."), not a path`,
    );
  }
  const { X509Certificate } = nodeCrypto();
  for (const certificate of found) {
    try {
      new X509Certificate(certificate);
    } catch (cause) {
      throw new TypeError(`tls.${option} has an invalid certificate: ${(cause as Error).message}`, {
        cause,
      });
    }
  }
  return found;
}

function checkPair(certificate: string, key: string): void {
  const { createPrivateKey, X509Certificate } = nodeCrypto();
  const [own] = certificates("clientCertificate", certificate);
  let privateKey;
  try {
    privateKey = createPrivateKey(key);
  } catch (cause) {
    throw new TypeError(
      `tls.clientKey is not a key that can be read: it must be the PEM text ("-----BEGIN PRIVATE KEY-----..."), without a passphrase`,
      { cause },
    );
  }
  if (!new X509Certificate(own!).checkPrivateKey(privateKey)) {
    throw new TypeError("tls.clientKey is not the key of tls.clientCertificate");
  }
}
