// Access control of this package's HTTP servers. Any web page in a browser of this machine can send
// requests to the loopback interface, so each request is checked: see HttpGuard. HTTP/1.1, HTTP/2
// and WebSocket upgrades use the same guard.
import { createHash, timingSafeEqual } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { AnyHandler, AnyRequest, AnyResponse } from "./bounded_connections.ts";

/** The part of a request that is checked; same shape in node:http and node:http2. */
export interface GuardedRequest {
  readonly method?: string | undefined;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
}

export interface HttpGuardOptions {
  /**
   * Returns the port that callers name; called for each request, because it may be known only after
   * listening.
   */
  port(): number;
  /**
   * Name or address of the server. Default: the loopback. "any" accepts every Host, for servers
   * that browsers cannot reach (HTTP/2 without TLS).
   */
  readonly host?: string;
  /**
   * Origins of pages that may call, in the form of `parseOrigin`. Default: none, so no page may.
   */
  origins?: readonly string[];
  /** Message for pages that may not call. Default: their origin is not on the list. */
  readonly pagesElsewhere?: string;
  /** Allows pages of this server to call it. Default: false. */
  ownPages?: boolean;
  /** Token that callers must send as `Authorization: Bearer ...`. Default: not required. */
  token?: string;
}

/** The check that failed. */
export type GuardReason = "host" | "origin" | "token";

export interface Refusal {
  readonly reason: GuardReason;
  /** HTTP status: 401 for the token, 403 otherwise. */
  readonly status: 401 | 403;
  /** Message without secrets. Values of the caller are shortened and quoted. */
  readonly message: string;
}

/** Maximum characters of an Origin in a message. */
const SHOWN = 100;
const isLoopback = (name: string): boolean =>
  name === "localhost" || name === "::1" || /^127\.\d+\.\d+\.\d+$/.test(name);
/**
 * Names that cannot be registered, so no page has one: single labels, and suffixes of clusters and
 * private networks.
 */
const PRIVATE_NAME = /^[a-z0-9_-]+$|\.(?:svc|local|internal|localhost)$/;
const IP = /^\d+\.\d+\.\d+\.\d+$/;
/** Headers of Connect, gRPC-web and gRPC in requests and responses. */
const REQUEST_HEADERS =
  "authorization, content-type, connect-protocol-version, connect-timeout-ms, grpc-timeout, x-grpc-web, x-user-agent";
const ANSWER_HEADERS = "grpc-status, grpc-message, grpc-status-details-bin";
const PREFLIGHT_SECONDS = 600;

/**
 * Normalizes an origin as browsers send it: scheme, host and port, without a path. Throws a
 * TypeError with the expected form for anything else, including "*" and "null": every site can
 * create a frame with origin "null".
 */
export function parseOrigin(text: string): string {
  if (text === "*" || text === "null") {
    throw new TypeError(
      `"${text}" would allow pages of every site; list each origin, for example https://app.example.com`,
    );
  }
  const example =
    'write scheme, host and port, for instance "https://app.example.com" or "http://localhost:5173"';
  // The URL class does not report origins of browser extensions.
  const parts = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@*\s]+)\/?$/i.exec(text);
  if (parts === null) throw new TypeError(`"${text}" is not an origin; ${example}`);
  if (!/^https?$/i.test(parts[1]!)) {
    return `${parts[1]!.toLowerCase()}://${parts[2]!.toLowerCase()}`;
  }
  if (!URL.canParse(text)) throw new TypeError(`"${text}" is not an origin; ${example}`);
  return new URL(text).origin;
}

const shown = (text: string): string =>
  JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);

/** Returns the value of a header; undefined for lists, which are invalid in these headers. */
function header(request: GuardedRequest, name: string): string | undefined {
  const value = request.headers[name];
  return value === undefined || typeof value === "string" ? value : value.join(", ");
}

/**
 * Checks each request for:
 * - Host (or :authority): a name that no page can have. A page that rebinds its domain to 127.0.0.1
 *   passes the same-origin rule, but sends its own name. On the loopback, loopback names with the
 *   port are allowed; on other addresses all non-public names and the configured one.
 * - Origin: must be on the list. Browsers add it and pages cannot forge it; other programs send
 *   none and pass. Requests of pages without Origin (images, links, GET forms) have Sec-Fetch-Site.
 * - the token, if required: compared in constant time, never in a response or a log. It excludes
 *   other programs and users of the machine.
 *
 * CORS preflight requests succeed for listed origins only.
 */
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

  /**
   * Returns why a request is rejected; undefined if it is allowed. `token`: the caller's token, if
   * it is not in the header.
   */
  refuses(request: GuardedRequest, token?: string): Refusal | undefined {
    return this.refusesSender(request) ?? this.refusesToken(token ?? bearer(request));
  }

  /**
   * Checks only Host and Origin: for requests with a token elsewhere, and preflight requests, which
   * have none.
   */
  refusesSender(request: GuardedRequest): Refusal | undefined {
    for (const host of [header(request, ":authority"), header(request, "host")]) {
      if (host !== undefined && !this.#isOwnHost(host)) return this.#wrongHost(host);
    }
    const nameless = header(request, ":authority") === undefined &&
      header(request, "host") === undefined;
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
    if (site === "cross-site" || site === "same-site") {
      return refusal("origin", 403, "the page's origin is not allowed");
    }
    return undefined;
  }

  /** Takes the same time for every wrong token. */
  refusesToken(token: string | undefined): Refusal | undefined {
    if (
      this.#token === undefined ||
      (token !== undefined && timingSafeEqual(digest(token), this.#token))
    ) return undefined;
    return refusal(
      "token",
      401,
      token === undefined
        ? "the token is missing"
        : "the token is invalid, perhaps from an earlier start",
    );
  }

  allowsOrigin(origin: string): boolean {
    if (this.#origins.has(origin)) return true;
    return this.#options.ownPages === true && origin.startsWith("http://") &&
      this.#isOwnHost(origin.slice("http://".length));
  }

  /**
   * Returns headers that let the page of this request read the response; empty for other callers.
   */
  answerHeaders(request: GuardedRequest): { [name: string]: string } {
    const origin = header(request, "origin");
    // Caches must not use a response for another origin.
    if (origin === undefined || !this.allowsOrigin(origin)) return { vary: "origin" };
    return {
      vary: "origin",
      "access-control-allow-origin": origin,
      "access-control-expose-headers": ANSWER_HEADERS,
    };
  }

  /**
   * Returns headers of a preflight response; undefined for other requests. Call after
   * `refusesSender`.
   */
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

  /**
   * Returns a handler that is called only for allowed requests. `refused` is called for the others.
   */
  wrap(
    handler: AnyHandler,
    refused: (refusal: Refusal, request: GuardedRequest) => void = () => {},
  ): AnyHandler {
    return (request, response) => {
      const preflight = this.preflightHeaders(request);
      const refusal = preflight === undefined ? this.refuses(request) : this.refusesSender(request);
      if (refusal !== undefined) {
        refused(refusal, request);
        // A page's Host is not returned to it.
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
      for (const [name, value] of Object.entries(this.answerHeaders(request))) {
        response.setHeader(name, value);
      }
      handler(request, response);
    };
  }

  #isOwnHost(host: string): boolean {
    const own = this.#host;
    if (own === "any") return true;
    const [, bracketed, plain = "", digits = "80"] =
      /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d+))?$/.exec(host.toLowerCase()) ??
        [];
    const name = bracketed ?? plain;
    if (isLoopback(own)) return isLoopback(name) && Number(digits) === this.#options.port();
    return bracketed !== undefined || IP.test(name) || name === own || PRIVATE_NAME.test(name);
  }

  #wrongHost(host: string): Refusal {
    const own = this.#host.includes(":") ? `[${this.#host}]` : this.#host;
    return refusal(
      "host",
      403,
      `the request is for the host ${shown(host)}, and this is ${own}:${this.#options.port()}`,
    );
  }
}

/** Responds to a rejected request and reads no more of it. */
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
    // HTTP/2 has no such header; it closes the stream.
    ...(request.httpVersionMajor < 2 && { connection: "close" }),
  });
  response.end(text);
}

const refusal = (reason: GuardReason, status: 401 | 403, message: string): Refusal => ({
  reason,
  status,
  message,
});

/** Hashes, so that the comparison does not reveal the length of the token. */
const digest = (token: string): Uint8Array => createHash("sha256").update(token).digest();

function bearer(request: GuardedRequest): string | undefined {
  return /^Bearer ([^\s]+)$/i.exec(header(request, "authorization") ?? "")?.[1];
}
