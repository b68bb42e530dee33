// Who may call an HTTP server of this package. Any web page that is open in a browser of this machine can send requests to a server on its
// loopback, so binding to 127.0.0.1 alone keeps nobody out. Three things do, and each request is held against all of them:
//  - Host (or :authority) must be a name that no page has. A page that rebinds its own domain name to 127.0.0.1 passes the browser's
//    same-origin rule, but sends its own name. On the loopback these are loopback names with the port; on other addresses every name but
//    public ones, and the one that the server was told to listen on.
//  - Origin, which browsers add and pages cannot forge, must be on the list. Programs that are no browsers send none and pass. Requests of
//    pages that carry no Origin (images, links, forms by GET) are known by Sec-Fetch-Site.
//  - the token, where one is asked for: a secret of this start, compared in constant time. It is what keeps other programs and users of the
//    machine out, and it is never put into an answer or a log.
// Preflight questions are answered for listed origins only. The same guard serves HTTP/1.1, HTTP/2 and the upgrade to a WebSocket.
import { createHash, timingSafeEqual } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { AnyHandler, AnyRequest, AnyResponse } from "./bounded_connections.ts";

/** What the guard looks at; requests of node:http and node:http2 have this shape. */
export interface GuardedRequest {
  readonly method?: string | undefined;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
}

export interface HttpGuardOptions {
  /** The port that callers name, asked at each request: it may be known only once the server listens. */
  port(): number;
  /**
   * What the server listens on: a name or an address. Default: the loopback. "any": every Host is let in, for servers to which browsers have
   * no way of their own (HTTP/2 without TLS) and whose callers come by whatever name leads to them.
   */
  readonly host?: string;
  /** Origins of pages that may call, as `parseOrigin` writes them. Default: none, so no page of any browser. */
  origins?: readonly string[];
  /** What pages are told that are not let in. Default: that their origin is not on the list. */
  readonly pagesElsewhere?: string;
  /** Pages that this server itself serves may call it, too. Default: false. */
  ownPages?: boolean;
  /** What callers must send as `Authorization: Bearer ...`. Default: nothing is asked for. */
  token?: string;
}

/** What was wrong with a request. */
export type GuardReason = "host" | "origin" | "token";

export interface Refusal {
  readonly reason: GuardReason;
  /** The HTTP status: 401 for the token, 403 otherwise. */
  readonly status: 401 | 403;
  /** For people; holds no secret. What of it came from the caller is shortened and quoted. */
  readonly message: string;
}

/** An Origin may be as long as a header; in a message it is cut. */
const SHOWN = 100;
const isLoopback = (name: string): boolean => name === "localhost" || name === "::1" || /^127\.\d+\.\d+\.\d+$/.test(name);
/** Names that nobody can register, so that no page has one: of one label, and under the suffixes of clusters and private networks. */
const PRIVATE_NAME = /^[a-z0-9_-]+$|\.(?:svc|local|internal|localhost)$/;
const IP = /^\d+\.\d+\.\d+\.\d+$/;
/** What Connect, gRPC-web and gRPC put into headers of requests and of answers. */
const REQUEST_HEADERS =
  "authorization, content-type, connect-protocol-version, connect-timeout-ms, grpc-timeout, x-grpc-web, x-user-agent";
const ANSWER_HEADERS = "grpc-status, grpc-message, grpc-status-details-bin";
const PREFLIGHT_SECONDS = 600;

/**
 * An origin as browsers send it: scheme, host and port, without a path. Throws a TypeError with what to write for anything else; also for
 * "*" and "null", which are no origins: every site can make a frame whose origin is "null".
 */
export function parseOrigin(text: string): string {
  if (text === "*" || text === "null") {
    throw new TypeError(`"${text}" would allow pages of every site; list each origin, for example https://app.example.com`);
  }
  const example = 'write scheme, host and port, for instance "https://app.example.com" or "http://localhost:5173"';
  // Extensions have origins that URL calls opaque.
  const parts = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@*\s]+)\/?$/i.exec(text);
  if (parts === null) throw new TypeError(`"${text}" is not an origin; ${example}`);
  if (!/^https?$/i.test(parts[1]!)) return `${parts[1]!.toLowerCase()}://${parts[2]!.toLowerCase()}`;
  if (!URL.canParse(text)) throw new TypeError(`"${text}" is not an origin; ${example}`);
  return new URL(text).origin;
}

const shown = (text: string): string => JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);

/** One value of a header; lists, which none of these headers may be, are taken as no value that fits. */
function header(request: GuardedRequest, name: string): string | undefined {
  const value = request.headers[name];
  return value === undefined || typeof value === "string" ? value : value.join(", ");
}

export class HttpGuard {
  readonly #options: HttpGuardOptions;
  readonly #host: string;
  readonly #origins: ReadonlySet<string>;
  readonly #token: Uint8Array | undefined;

  constructor(options: HttpGuardOptions) {
    this.#options = options;
    this.#host = (options.host ?? "127.0.0.1").toLowerCase();
    this.#origins = new Set((options.origins ?? []).map(parseOrigin));
    this.#token = options.token === undefined ? undefined : digest(options.token);
  }

  /** Why this request is refused; undefined when it is let in. `token`: the caller's, where it does not come in the header. */
  refuses(request: GuardedRequest, token?: string): Refusal | undefined {
    return this.refusesSender(request) ?? this.refusesToken(token ?? bearer(request));
  }

  /** Host and Origin alone: for what carries its token elsewhere, and for preflight questions, which carry none. */
  refusesSender(request: GuardedRequest): Refusal | undefined {
    for (const host of [header(request, ":authority"), header(request, "host")]) {
      if (host !== undefined && !this.#isOwnHost(host)) return this.#wrongHost(host);
    }
    const nameless = header(request, ":authority") === undefined && header(request, "host") === undefined;
    if (nameless && this.#host !== "any") return this.#wrongHost("");
    const origin = header(request, "origin");
    if (origin !== undefined) {
      if (this.allowsOrigin(origin)) return undefined;
      return refusal(
        "origin",
        403,
        this.#options.pagesElsewhere ?? `the origin ${shown(origin)} is not allowed`,
      );
    }
    const site = header(request, "sec-fetch-site");
    if (site === "cross-site" || site === "same-site") return refusal("origin", 403, "the page's origin is not allowed");
    return undefined;
  }

  /** Takes the same time for every wrong token. */
  refusesToken(token: string | undefined): Refusal | undefined {
    if (this.#token === undefined || (token !== undefined && timingSafeEqual(digest(token), this.#token))) return undefined;
    return refusal(
      "token",
      401,
      token === undefined ? "the token is missing" : "the token is invalid, perhaps from an earlier start",
    );
  }

  allowsOrigin(origin: string): boolean {
    if (this.#origins.has(origin)) return true;
    return this.#options.ownPages === true && origin.startsWith("http://") && this.#isOwnHost(origin.slice("http://".length));
  }

  /** Headers that let the page of this request read the answer; none for a caller that is no page. */
  answerHeaders(request: GuardedRequest): { [name: string]: string } {
    const origin = header(request, "origin");
    // Caches must not hand an answer for one origin to another.
    if (origin === undefined || !this.allowsOrigin(origin)) return { vary: "origin" };
    return { vary: "origin", "access-control-allow-origin": origin, "access-control-expose-headers": ANSWER_HEADERS };
  }

  /** Headers of the answer to a preflight question that `refusesSender` lets pass; undefined for a request that is none. */
  preflightHeaders(request: GuardedRequest): { [name: string]: string } | undefined {
    if (request.method !== "OPTIONS" || header(request, "origin") === undefined) return undefined;
    if (header(request, "access-control-request-method") === undefined) return undefined;
    const asked = header(request, "access-control-request-private-network");
    return {
      ...this.answerHeaders(request),
      vary: "origin, access-control-request-private-network",
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": REQUEST_HEADERS,
      "access-control-max-age": String(PREFLIGHT_SECONDS),
      ...(asked === "true" && { "access-control-allow-private-network": "true" }),
    };
  }

  /** A handler that is called only for requests that are let in. `refused` is told of the others. */
  wrap(handler: AnyHandler, refused: (refusal: Refusal, request: GuardedRequest) => void = () => {}): AnyHandler {
    return (request, response) => {
      const preflight = this.preflightHeaders(request);
      const refusal = preflight === undefined ? this.refuses(request) : this.refusesSender(request);
      if (refusal !== undefined) {
        refused(refusal, request);
        // What a page puts into its Host is not given back to it.
        const { reason, status, message } = refusal;
        return refuseRequest(request, response, {
          status,
          message: reason === "host" ? "the request is for another host" : message,
        });
      }
      if (preflight !== undefined) {
        request.resume();
        (response as ServerResponse).writeHead(204, preflight);
        response.end();
        return;
      }
      for (const [name, value] of Object.entries(this.answerHeaders(request))) response.setHeader(name, value);
      handler(request, response);
    };
  }

  #isOwnHost(host: string): boolean {
    const own = this.#host;
    if (own === "any") return true;
    const [, bracketed, plain = "", digits = "80"] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d+))?$/.exec(host.toLowerCase()) ??
      [];
    const name = bracketed ?? plain;
    if (isLoopback(own)) return isLoopback(name) && Number(digits) === this.#options.port();
    return bracketed !== undefined || IP.test(name) || name === own || PRIVATE_NAME.test(name);
  }

  #wrongHost(host: string): Refusal {
    const own = this.#host.includes(":") ? `[${this.#host}]` : this.#host;
    return refusal("host", 403, `the request is for the host ${shown(host)}, and this is ${own}:${this.#options.port()}`);
  }
}

/** Answers a refused request, and reads no more of it than has arrived. */
export function refuseRequest(
  request: AnyRequest,
  response: AnyResponse,
  { status, message }: { readonly status: number; readonly message: string },
): void {
  request.resume();
  const text = `${message}\n`;
  (response as ServerResponse).writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": String(new TextEncoder().encode(text).length),
    "x-content-type-options": "nosniff",
    ...(status === 401 && { "www-authenticate": "Bearer" }),
    // HTTP/2 has no such header, and ends a stream by itself.
    ...(request.httpVersionMajor < 2 && { connection: "close" }),
  });
  response.end(text);
}

const refusal = (reason: GuardReason, status: 401 | 403, message: string): Refusal => ({ reason, status, message });

/** Equal lengths for every token, so that comparing tells nothing of the length either. */
const digest = (token: string): Uint8Array => createHash("sha256").update(token).digest();

function bearer(request: GuardedRequest): string | undefined {
  return /^Bearer ([^\s]+)$/i.exec(header(request, "authorization") ?? "")?.[1];
}
