// Explains why a connection failed and which option to check. Runtimes and TLS libraries report the
// same mistake differently; a server that rejects a client certificate may just close. The
// runtime's message follows in parentheses.
import type { LinkTarget } from "./link_target.ts";
import { ProxyError } from "./tunnel.ts";

/** Progress of an attempt to connect; with a proxy, "proxy" and "tunnel" replace "tcp". */
export type Stage = "tcp" | "proxy" | "tunnel" | "tls" | "http2";

export interface FailedConnect {
  /** undefined: the connection was closed without an error, or timed out. */
  readonly error: Error | undefined;
  readonly timedOut: boolean;
  readonly timeoutMs: number;
  /** Last stage that was reached. */
  readonly stage: Stage;
  readonly target: LinkTarget;
}

/** Codes of node:tls by meaning: names of OpenSSL, also used by Deno. */
const UNTRUSTED =
  /^(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|CERT_UNTRUSTED|ERR_TLS_CERT_UNTRUSTED)$/;
const SELF_SIGNED = /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)$/;
const CERTIFICATE_WANTED = /CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE/;
const CERTIFICATE_REFUSED =
  /ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(?:EXPIRED|REVOKED|UNKNOWN)|ACCESS_DENIED|DECRYPT_ERROR)/;
const NOT_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL|HTTP_REQUEST/;

/**
 * Returns the message, the code of the underlying error ("" without one), and whether options must
 * change ("yes": a retry does not help). "perhaps": a server that just closes may have other
 * options or be shutting down.
 */
export function explain(
  failed: FailedConnect,
): { message: string; code: string; setup: "yes" | "perhaps" | "no" } {
  const { error, timedOut, target } = failed;
  // A host name with several addresses fails with one error for each.
  const first = (error as AggregateError | undefined)?.errors?.[0] as Error | undefined ?? error;
  const raw = (first as { code?: unknown } | undefined)?.code;
  const code = typeof raw === "string" ? raw : "";
  const why = timedOut
    ? slow(failed)
    : first === undefined
    ? silent(failed)
    : named(code, first.message, failed);
  const said = first === undefined ? "" : tidy(first.message);
  const more = said === "" || why.includes(said) ? "" : ` (${said})`;
  // Deno's error for a missing --allow-net; its message is sufficient.
  const denied = first?.name === "NotCapable";
  const setup = timedOut
    ? "no"
    : first instanceof ProxyError
    ? first.setup
    : denied || isSetup(code)
    ? "yes"
    : failed.stage === "tcp" || failed.stage === "proxy"
    ? "no"
    : "perhaps";
  const through = target.proxy === undefined ? "" : ` through the proxy ${target.proxy.address}`;
  return {
    message: `cannot connect to ${target.address}${through}: ${why}${more}`,
    code: timedOut ? "TIMEOUT" : code,
    setup,
  };
}

function isSetup(code: string): boolean {
  return code === "ENOTFOUND" ||
    /^ERR_(?:TLS|SSL|NO_ALPN|HTTP2|OSSL)|CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/
      .test(code);
}

/** Removes memory addresses and source files that OpenSSL writes, and line breaks. */
export function tidy(message: string): string {
  return message.replace(/^[0-9A-F]{8,}:error:[0-9A-F]+:/, "").replace(
    /:\.\.\/deps\/\S+\.c:\d+:/g,
    " ",
  ).replace(/\s+/g, " ")
    .trim();
}

function slow({ stage, timeoutMs, target }: FailedConnect): string {
  const within = `within ${timeoutMs} ms`;
  if (stage === "proxy") {
    return `no connection to the proxy ${within}; the server may be down, or a firewall drops the packets`;
  }
  if (stage === "tunnel") {
    return `the proxy accepted the connection, but opened no tunnel ${within}; it may not reach the address, or may not be an HTTP proxy`;
  }
  if (stage === "tcp") {
    return `no connection ${within}; the server may be down, or a firewall drops the packets`;
  }
  if (stage === "tls") {
    return `the server did not finish the TLS handshake ${within}; it may not support TLS (then omit \`tls\`)`;
  }
  return target.tls === undefined
    ? `the server accepts connections, but did not respond like a gRPC server ${within}; it may require TLS (set \`tls\`)`
    : `the server completed TLS, but did not respond like a gRPC server ${within}`;
}

/** The peer closed the connection without an error. */
function silent({ stage, target: { tls } }: FailedConnect): string {
  if (stage === "proxy") return "the connection to the proxy was closed during connect";
  if (stage === "tunnel") {
    return "the proxy closed the connection without a response; it may not be an HTTP proxy, or may require TLS";
  }
  if (stage === "tls") {
    return "the server closed the connection during the TLS handshake; it may not support TLS (then omit `tls`)";
  }
  if (stage === "tcp") return "the connection was closed during connect";
  if (tls === undefined) {
    return "the server closed the connection immediately; it may require TLS (set `tls`), or may not be a gRPC server";
  }
  return tls.cert === undefined
    ? "the server closed the connection after the TLS handshake; it may require a client certificate: " +
      "set `tls.clientCertificate` and `tls.clientKey`"
    : "the server closed the connection after the TLS handshake; it may have rejected the client certificate: " +
      "check that it is signed by an authority that the server trusts";
}

function named(code: string, message: string, failed: FailedConnect): string {
  const { stage, target } = failed;
  const { at, tls, proxy } = target;
  if (stage === "proxy" && code === "ECONNREFUSED") {
    return `no proxy listens on this address (${message})`;
  }
  if (stage === "proxy" && /^(?:ENOTFOUND|EAI_AGAIN)$/.test(code)) {
    return `unknown host name of the proxy (${message})`;
  }
  if (stage === "tunnel" && (code === "ECONNRESET" || code === "EPIPE")) return silent(failed);
  if (code === "ECONNREFUSED") return `no server listens on this address (${message})`;
  if (code === "ENOENT" && "path" in at) return `the socket does not exist (${message})`;
  if (code === "EACCES" && "path" in at) return `the socket belongs to another user (${message})`;
  if ((code === "ENOTFOUND" || code === "EAI_AGAIN") && "host" in at) {
    return `unknown host name "${at.host}" (${message})`;
  }
  if (code === "ERR_NO_ALPN") {
    return "the server supports TLS but not HTTP/2, so it is not a gRPC server" +
      (proxy === undefined ? "" : "; or the proxy intercepts TLS and does not support HTTP/2");
  }
  if (UNTRUSTED.test(code) || SELF_SIGNED.test(code)) {
    return "the server's certificate is not signed by a trusted authority" +
      (tls?.ca === undefined
        ? "; set `tls.serverRootCaCertificate` to the certificate of that authority"
        : ": not by the one in `tls.serverRootCaCertificate`") +
      (proxy === undefined ? "" : " (a proxy that intercepts TLS presents its own certificates)") +
      // Deno's library has one error for all certificate problems.
      (code === "UNABLE_TO_VERIFY_LEAF_SIGNATURE" && "Deno" in globalThis
        ? ", or it has expired"
        : "");
  }
  if (code === "CERT_HAS_EXPIRED") return "the server's certificate has expired";
  if (code === "CERT_NOT_YET_VALID") {
    return "the server's certificate is not valid yet; check the clock of this machine";
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return `the server's certificate is for other names; set \`tls.serverName\` to the expected name if it differs from the address (${
      tidy(message)
    })`;
  }
  if (NOT_TLS.test(code)) return "the server does not support TLS; omit `tls`, or set it to false";
  if (CERTIFICATE_WANTED.test(code) && tls?.cert === undefined) {
    return "the server requires a client certificate: set `tls.clientCertificate` and `tls.clientKey`";
  }
  if (CERTIFICATE_WANTED.test(code) || CERTIFICATE_REFUSED.test(code)) {
    return "the server rejected the client certificate; check that it is signed by a trusted authority and not expired";
  }
  if (stage === "http2" && /^ERR_HTTP2_(?:ERROR|SESSION_ERROR|STREAM_ERROR)$/.test(code)) {
    return `the server does not support HTTP/2, so it is not a gRPC server`;
  }
  if ((stage === "http2" || stage === "tls") && (code === "ECONNRESET" || code === "EPIPE")) {
    return silent(failed);
  }
  return tidy(message);
}
