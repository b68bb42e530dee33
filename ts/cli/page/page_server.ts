// Serves the debugger's page and its data to one browser on the loopback. Host and Origin must be
// this server's (server/http_guard.ts), against other sites and DNS rebinding. Each path begins
// with a secret token, against other users and programs of the machine; the page uses relative
// paths and never handles the token. Nothing is cached or logged, and files come from a map, never
// from disk.
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AnyHandler, Connections } from "../../server/bounded_connections.ts";
import { HttpGuard } from "../../server/http_guard.ts";
import { LIMITS, listen, type Listener } from "../../server/listener.ts";
import { CommandError, UsageError } from "../frame/errors.ts";
import { newToken } from "./kept_token.ts";
import type { PageFiles } from "./page_files.ts";

/** Handler of an address after the token. */
export interface DataRoute {
  readonly method: "GET" | "POST";
  /** Maximum size of a POST body. Default: 4 KiB. */
  readonly maxBytes?: number;
  handle(
    body: Uint8Array,
    request: IncomingMessage,
    response: ServerResponse,
  ): void | Promise<void>;
}

export interface PageServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Default: a new one. */
  readonly token?: string;
  readonly page: PageFiles;
  /** JSON in the page's head (`<meta name="temporalex-served">`): what serves it. */
  readonly about: object;
  /** Returns the route of an address after the token: "data/feed". */
  route(path: string): DataRoute | undefined;
  onError(error: Error): void;
}

export interface PageServer {
  /** Contains the token: a secret. */
  readonly url: string;
  close(): Promise<void>;
}

const BODY_BYTES = 4096;
/** Headers of files and data: no caching, no type guessing, no framing by other pages. */
const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};
/** The frame of workflow code has the rest of its policy in its own head. */
const FRAME_CSP = "sandbox allow-scripts; frame-ancestors 'self'";
/** The frame of a codec endpoint has the rest of its policy in its own head. */
const CODEC_CSP = "frame-ancestors 'self'";
const NOTHING = "not found; open the address that the command wrote, with all that is in it";

/** Returns a valid port. Throws a UsageError for others. */
export function checkPort(port: number): number {
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return port;
  throw new UsageError(`--port ${port}: a port is a number from 0 to 65535`);
}

/** Sends JSON. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  const body = new TextEncoder().encode(JSON.stringify(value));
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length })
    .end(body);
}

/** Sends bytes. */
export function sendBytes(
  response: ServerResponse,
  body: Uint8Array,
  type = "application/octet-stream",
): void {
  response.writeHead(200, { "content-type": type, "content-length": body.length }).end(body);
}

export async function startPageServer(options: PageServerOptions): Promise<PageServer> {
  const { token = newToken() } = options;
  let port = 0;
  const connections = new Connections({ ...LIMITS[1], connections: 64 });
  const guard = new HttpGuard({ port: () => port, ownPages: true });
  const secret = new HttpGuard({ port: () => port, token });
  const index = indexOf(options);
  const handler: AnyHandler = (any, anyResponse) => {
    const request = any as IncomingMessage;
    const response = anyResponse as ServerResponse;
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const [, given, path] = /^\/([^/?#]*)\/([^?#]*)/.exec(request.url ?? "") ?? [];
    // The same response for a wrong token and a wrong path.
    if (given === undefined || secret.refusesToken(given) !== undefined) {
      return refusePageRequest(request, response, 404, NOTHING);
    }
    connections.proves(request);
    const route = options.route(path!);
    if (route !== undefined) return void serveData(route, request, response, options.onError);
    if (!options.page.has(path === "" ? "index.html" : path!)) {
      return refusePageRequest(request, response, 404, NOTHING);
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      return refusePageRequest(request, response, 405, "GET only");
    }
    serveFile(path!, request, response, options.page, index);
  };
  let listener: Listener;
  try {
    listener = await listen({
      at: { host: "127.0.0.1", port: options.port },
      http: 1,
      handler,
      guard,
      untrusted: true,
      connections,
      keepsAlive: true,
      onError: options.onError,
    });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "EADDRINUSE") {
      throw new CommandError(`port ${options.port} is in use; choose another one with --port`);
    }
    if (code === "EACCES") {
      throw new CommandError(
        `this user may not listen on port ${options.port}; choose one above 1023 with --port`,
      );
    }
    throw error;
  }
  port = listener.port;
  return { url: `http://127.0.0.1:${port}/${token}/`, close: () => listener.close(300) };
}

/**
 * Adds `about` to the page's head. Its policy is sent with all files: workers take theirs from
 * their own response.
 */
function indexOf(
  { page, about }: PageServerOptions,
): { readonly html: Uint8Array; readonly csp: string } {
  const file = page.get("index.html");
  const text = file === undefined ? "" : new TextDecoder().decode(file.read());
  const csp = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(text)?.[1];
  if (csp === undefined) {
    throw new CommandError(
      "the debugger's page is damaged: its index.html has no policy; build it again",
    );
  }
  const served = JSON.stringify(about).replaceAll("&", "&amp;").replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;");
  const html = text.replace(
    /<meta charset="utf-8">/i,
    (meta) => `${meta}\n    <meta name="temporalex-served" content="${served}">`,
  );
  return { html: new TextEncoder().encode(html), csp: `${csp}; frame-ancestors 'none'` };
}

function serveFile(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  page: PageFiles,
  { html, csp }: ReturnType<typeof indexOf>,
): void {
  const name = path === "" ? "index.html" : path;
  const file = page.get(name)!;
  request.resume();
  response.setHeader(
    "content-security-policy",
    name === "sandbox.html" ? FRAME_CSP : name === "codec.html" ? CODEC_CSP : csp,
  );
  const body = name === "index.html" ? html : file.read();
  response.writeHead(200, { "content-type": file.type, "content-length": body.length });
  response.end(request.method === "HEAD" ? undefined : body);
}

async function serveData(
  route: DataRoute,
  request: IncomingMessage,
  response: ServerResponse,
  onError: (error: Error) => void,
): Promise<void> {
  response.setHeader("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  if (request.method !== route.method) {
    return refusePageRequest(request, response, 405, `${route.method} only`);
  }
  try {
    const body = await bodyOf(request, route.method === "GET" ? 0 : route.maxBytes ?? BODY_BYTES);
    if (body === undefined) {
      return refusePageRequest(request, response, 413, "the request is too large");
    }
    await route.handle(body, request, response);
  } catch (error) {
    onError(error as Error);
    if (response.headersSent) response.destroy();
    else refusePageRequest(request, response, 500, "internal error in the server");
  }
}

/** Returns undefined for a larger body, and keeps no more than the limit. */
async function bodyOf(request: IncomingMessage, most: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > most) return undefined;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > most) return undefined;
    parts.push(part);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Responds to an unknown path and reads no more of the request. */
export function refusePageRequest(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  message: string,
): void {
  request.resume();
  const body = new TextEncoder().encode(`${message}\n`);
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": body.length,
    connection: "close",
  }).end(body);
}
