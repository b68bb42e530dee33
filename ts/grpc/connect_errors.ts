// Why a connection was not made, in words that say which option to look at. Runtimes and TLS libraries have names of their own for the same
// mistake; a server that refuses a client's certificate may even say nothing and just close. What the runtime said stands in parentheses.
import type { LinkTarget } from "./link_target.ts";
import { ProxyError } from "./tunnel.ts";

/** How far an attempt to connect came; "proxy" and "tunnel" come instead of "tcp" where there is a proxy. */
export type Stage = "tcp" | "proxy" | "tunnel" | "tls" | "http2";

export interface FailedConnect {
  /** undefined: the connection was closed without a word, or the time was over. */
  readonly error: Error | undefined;
  readonly timedOut: boolean;
  readonly timeoutMs: number;
  /** How far it came. */
  readonly stage: Stage;
  readonly target: LinkTarget;
}

/** Codes of node:tls by what they mean here. OpenSSL's names; Deno takes them over. */
const UNTRUSTED =
  /^(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|CERT_UNTRUSTED|ERR_TLS_CERT_UNTRUSTED)$/;
const SELF_SIGNED = /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)$/;
const CERTIFICATE_WANTED = /CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE/;
const CERTIFICATE_REFUSED =
  /ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(?:EXPIRED|REVOKED|UNKNOWN)|ACCESS_DENIED|DECRYPT_ERROR)/;
const NOT_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL|HTTP_REQUEST/;

/**
 * The message, the code of the error behind it ("" for none), and whether what is given to the connection has to change: then trying again
 * does not help. A server that just closes may be a matter of options (`setup`: "perhaps") or be going down.
 */
export function explain(failed: FailedConnect): { message: string; code: string; setup: "yes" | "perhaps" | "no" } {
  const { error, timedOut, target } = failed;
  // A name with several addresses fails with one error for each.
  const first = (error as AggregateError | undefined)?.errors?.[0] as Error | undefined ?? error;
  const raw = (first as { code?: unknown } | undefined)?.code;
  const code = typeof raw === "string" ? raw : "";
  const why = timedOut ? slow(failed) : first === undefined ? silent(failed) : named(code, first.message, failed);
  const said = first === undefined ? "" : tidy(first.message);
  const more = said === "" || why.includes(said) ? "" : ` (${said})`;
  // Deno's own word for a missing --allow-net; its message says the rest.
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
  return { message: `cannot connect to ${target.address}${through}: ${why}${more}`, code: timedOut ? "TIMEOUT" : code, setup };
}

function isSetup(code: string): boolean {
  return code === "ENOTFOUND" ||
    /^ERR_(?:TLS|SSL|NO_ALPN|HTTP2|OSSL)|CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code);
}

/** One line without the addresses of memory and source files that OpenSSL writes. */
export function tidy(message: string): string {
  return message.replace(/^[0-9A-F]{8,}:error:[0-9A-F]+:/, "").replace(/:\.\.\/deps\/\S+\.c:\d+:/g, " ").replace(/\s+/g, " ")
    .trim();
}

function slow({ stage, timeoutMs, target }: FailedConnect): string {
  const within = `within ${timeoutMs} ms`;
  if (stage === "proxy") {
    return `no connection to the proxy ${within}; nothing may be there, or a firewall in between drops what is sent`;
  }
  if (stage === "tunnel") {
    return `the proxy took the connection, but made no tunnel ${within}; it may not reach the address, or be no HTTP proxy`;
  }
  if (stage === "tcp") return `no connection ${within}; nothing may be there, or a firewall in between drops what is sent`;
  if (stage === "tls") {
    return `the server did not finish the TLS handshake ${within}; it may not speak TLS (then leave \`tls\` out)`;
  }
  return target.tls === undefined
    ? `something accepts connections there, but did not greet ${within} as a gRPC server does; the server may want TLS (set \`tls\`)`
    : `something speaks TLS there, but did not greet ${within} as a gRPC server does`;
}

/** The other side closed, and that is all that is known. */
function silent({ stage, target: { tls } }: FailedConnect): string {
  if (stage === "proxy") return "the connection to the proxy was ended before it was made";
  if (stage === "tunnel") {
    return "the proxy ended the connection without an answer; it may be no HTTP proxy, or want TLS for itself";
  }
  if (stage === "tls") return "the server ended the connection in the TLS handshake; it may not speak TLS (then leave `tls` out)";
  if (stage === "tcp") return "the connection was ended before it was made";
  if (tls === undefined) {
    return "the server ended the connection at once, as one does that wants TLS (set `tls`), or that speaks no gRPC";
  }
  return tls.cert === undefined
    ? "the server ended the connection after the TLS handshake, as one does that asks for a client certificate: " +
      "give `tls.clientCertificate` and `tls.clientKey`"
    : "the server ended the connection after the TLS handshake, as one does that does not accept the client certificate: " +
      "is it signed by an authority that the server trusts?";
}

function named(code: string, message: string, failed: FailedConnect): string {
  const { stage, target } = failed;
  const { at, tls, proxy } = target;
  if (stage === "proxy" && code === "ECONNREFUSED") return `no proxy listens there (${message})`;
  if (stage === "proxy" && /^(?:ENOTFOUND|EAI_AGAIN)$/.test(code)) return `the proxy's name is not known (${message})`;
  if (stage === "tunnel" && (code === "ECONNRESET" || code === "EPIPE")) return silent(failed);
  if (code === "ECONNREFUSED") return `nothing listens there (${message})`;
  if (code === "ENOENT" && "path" in at) return `there is no such socket (${message})`;
  if (code === "EACCES" && "path" in at) return `the socket belongs to another user (${message})`;
  if ((code === "ENOTFOUND" || code === "EAI_AGAIN") && "host" in at) return `the name "${at.host}" is not known (${message})`;
  if (code === "ERR_NO_ALPN") {
    return "the server speaks TLS but no HTTP/2, so it is no gRPC server" +
      (proxy === undefined ? "" : "; or the proxy opens TLS and speaks no HTTP/2 itself");
  }
  if (UNTRUSTED.test(code) || SELF_SIGNED.test(code)) {
    return "the server's certificate is not signed by an authority that is trusted here" +
      (tls?.ca === undefined
        ? "; give that authority's certificate as `tls.serverRootCaCertificate`"
        : ": not by the one given as `tls.serverRootCaCertificate`") +
      (proxy === undefined ? "" : " (a proxy that opens TLS shows certificates of its own authority)") +
      // Deno's library has one error for all that is wrong with a certificate.
      (code === "UNABLE_TO_VERIFY_LEAF_SIGNATURE" && "Deno" in globalThis ? ", or it has expired" : "");
  }
  if (code === "CERT_HAS_EXPIRED") return "the server's certificate has expired";
  if (code === "CERT_NOT_YET_VALID") return "the server's certificate is not valid yet; is this machine's clock right?";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return `the server's certificate is for other names; \`tls.serverName\` says which name to expect instead of the address's (${
      tidy(message)
    })`;
  }
  if (NOT_TLS.test(code)) return "the server does not speak TLS; leave `tls` out, or set it to false";
  if (CERTIFICATE_WANTED.test(code) && tls?.cert === undefined) {
    return "the server asks for a client certificate: give `tls.clientCertificate` and `tls.clientKey`";
  }
  if (CERTIFICATE_WANTED.test(code) || CERTIFICATE_REFUSED.test(code)) {
    return "the server does not accept the client certificate; is it signed by an authority that the server trusts, and not expired?";
  }
  if (stage === "http2" && /^ERR_HTTP2_(?:ERROR|SESSION_ERROR|STREAM_ERROR)$/.test(code)) {
    return `the server does not speak HTTP/2, so it is no gRPC server`;
  }
  if ((stage === "http2" || stage === "tls") && (code === "ECONNRESET" || code === "EPIPE")) return silent(failed);
  return tidy(message);
}
