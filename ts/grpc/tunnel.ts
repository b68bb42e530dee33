// Requests a tunnel from an HTTP proxy (CONNECT, RFC 9110 section 9.3.6). Separate from proxy.ts,
// because public types must not depend on sockets. Credentials are only in the request to the
// proxy, never in messages or errors; texts of the proxy, which may repeat them, are not used
// either. The response is read up to its empty line and has a maximum size.
import type { Socket } from "node:net";
import { VERSION } from "../base/version.ts";
import { nodeNet } from "./node_net.ts";
import type { Proxy } from "./proxy.ts";

/** An error of the proxy. The code identifies its kind. */
export class ProxyError extends Error {
  override name = "ProxyError";
  readonly code: "ERR_PROXY_REFUSED" | "ERR_PROXY_ANSWER";
  /** Whether options must change before a retry. */
  readonly setup: "yes" | "perhaps" | "no";

  constructor(message: string, code: ProxyError["code"], setup: ProxyError["setup"]) {
    super(message);
    this.code = code;
    this.setup = setup;
  }
}

/** Maximum size of the response's header fields. */
const MAX_ANSWER_BYTES = 16 * 1024;
const HEAD_END = Buffer.from("\r\n\r\n", "latin1");
const TLS_ALERT = 0x15;

/**
 * Requests a tunnel from the proxy at the other end of `socket`. Calls `done` once, with an error
 * or with the bytes after the response; the socket is then paused without listeners. The caller
 * watches the socket's end, errors and time.
 */
export function enterTunnel(
  socket: Socket,
  proxy: Proxy,
  to: { readonly host: string; readonly port: number },
  done: (error: ProxyError | undefined, early: Uint8Array) => void,
): void {
  let read: Buffer = Buffer.alloc(0);
  const finish = (error: ProxyError | undefined) => {
    socket.off("data", onData);
    socket.pause();
    done(error, read);
  };
  const onData = (chunk: Uint8Array) => {
    read = read.length === 0 ? Buffer.from(chunk) : Buffer.concat([read, chunk]);
    for (;;) {
      const rubbish = notHttp(read);
      if (rubbish !== undefined) return finish(rubbish);
      const end = read.indexOf(HEAD_END);
      if (end > MAX_ANSWER_BYTES || (end < 0 && read.length > MAX_ANSWER_BYTES)) {
        return finish(
          answer(
            `the proxy's response has more than ${MAX_ANSWER_BYTES / 1024} KiB of header fields`,
          ),
        );
      }
      if (end < 0) return;
      const head = read.toString("latin1", 0, end);
      read = read.subarray(end + HEAD_END.length);
      const status = /^HTTP\/1\.[01] ([1-5][0-9]{2})(?: |\r|$)/.exec(head)?.[1];
      if (status === undefined) return finish(answer(NO_PROXY));
      // Informational response; the final one follows.
      if (status[0] === "1" && status !== "101") continue;
      return finish(status[0] === "2" ? undefined : refusal(Number(status), head, proxy));
    }
  };
  socket.on("data", onData);
  const host = `${nodeNet().isIPv6(to.host) ? `[${to.host}]` : to.host}:${to.port}`;
  const authorization = proxy.authorization === undefined
    ? ""
    : `proxy-authorization: ${proxy.authorization}\r\n`;
  socket.write(
    `CONNECT ${host} HTTP/1.1\r\nhost: ${host}\r\n${authorization}user-agent: temporalex-ts/${VERSION}\r\n\r\n`,
    "latin1",
  );
}

const NO_PROXY = "the address does not respond like an HTTP proxy";

/** Returns an error for data that cannot begin an HTTP response; otherwise undefined. */
function notHttp(read: Buffer): ProxyError | undefined {
  const begin = "HTTP/1.".slice(0, read.length);
  if (read.toString("latin1", 0, begin.length) === begin) return undefined;
  if (read[0] === TLS_ALERT) {
    return new ProxyError(
      "the proxy requires TLS, which is not supported for proxies",
      "ERR_PROXY_ANSWER",
      "yes",
    );
  }
  return answer(NO_PROXY);
}

const answer = (message: string) => new ProxyError(message, "ERR_PROXY_ANSWER", "perhaps");

/** Known authentication schemes; others are not repeated in messages. */
const KINDS: readonly string[] = ["Basic", "Bearer", "Digest", "Kerberos", "Negotiate", "NTLM"];

function refusal(status: number, head: string, { authorization }: Proxy): ProxyError {
  const refused = (message: string, setup: ProxyError["setup"]) =>
    new ProxyError(`${message} (HTTP ${status})`, "ERR_PROXY_REFUSED", setup);
  if (status === 407) {
    const offered = [...head.matchAll(/^proxy-authenticate:[ \t]*([^\r\n]*)/gim)].map((match) =>
      match[1]!
    ).join(", ");
    const kinds = KINDS.filter((kind) =>
      new RegExp(`(?:^|,)\\s*${kind}(?=[\\s,]|$)`, "i").test(offered)
    );
    if (kinds.length > 0 && !kinds.includes("Basic")) {
      return refused(
        `the proxy requires unsupported credentials (${kinds.join(", ")}); only Basic is supported`,
        "yes",
      );
    }
    return authorization === undefined
      ? refused("the proxy requires credentials: set `proxy.basicAuth`", "yes")
      : refused("the proxy rejected the credentials in `proxy.basicAuth`", "yes");
  }
  if (status === 401 || status === 403) {
    return refused("the proxy does not allow connections to this address", "yes");
  }
  if (status === 400 || status === 404 || status === 405 || status === 501) {
    return refused("the proxy does not support tunnels (CONNECT) to this address and port", "yes");
  }
  if (status === 502 || status === 503 || status === 504) {
    return refused("the proxy could not reach the address, or is too busy", "no");
  }
  return refused(
    "the proxy opened no tunnel",
    status === 408 || status === 429 || status >= 500 ? "no" : "perhaps",
  );
}
