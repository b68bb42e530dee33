// What platforms ask a worker over HTTP: /healthz (restart me when this is not 200), /readyz (I take work), /metrics (for Prometheus). The
// worker need not be there yet: a process that waits for its cluster is alive and not ready.
//
// Nothing secret is told: states, and metrics, whose labels are names of types and queues. Still, a page in a browser of this machine or
// network shall not read them: what comes from a page (Origin, Sec-Fetch-Site) is refused, and so is a Host that could be a page's own
// name, rebound to this address: on the loopback everything but loopback names with the port; on other addresses every public name but the
// one that the server was told to listen on.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** The worker, as far as probes look at it. */
export interface ProbedWorker {
  /** "stopped": it is alive no more. Everything else is told to whoever asks why it is not ready. */
  readonly state: string;
  /** It takes work. */
  readonly ready: boolean;
}

/** What is served, and where. */
export interface ProbesOptions {
  /** "host:port", "[::1]:9464", or a port alone, which is on 127.0.0.1. Port 0: any free one. */
  readonly listen: string;
  /** The worker. */
  readonly worker: ProbedWorker;
  /** For /metrics: a `MetricsRegistry`, or anything that writes a text for Prometheus. Without it /metrics is not there. */
  readonly metrics?: { readonly contentType: string; text(): string | Promise<string> };
}

/** A server of probes. */
export interface Probes {
  /** Where it listens: "127.0.0.1:9464". */
  readonly address: string;
  /** Takes no more questions and closes its connections. */
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** More than this many callers at once are no probes. */
const MAX_CONNECTIONS = 64;
/** A caller that has not sent its few lines by then is none. */
const HEADERS_MS = 5000;

/** Reads an address as `listen` takes it. Throws a TypeError with what to write. */
export function parseListen(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] = /^(?:(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]@?#]+)):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65535) {
    throw new TypeError(
      `${
        JSON.stringify(text.slice(0, 100))
      } is no address to listen on: write host:port ("0.0.0.0:9464", "[::1]:9464"), or a port alone for 127.0.0.1`,
    );
  }
  return { host: bracketed ?? plain ?? HOST, port };
}

/**
 * Serves /healthz, /readyz and /metrics of a worker over HTTP, in Node and Deno. It keeps no process alive. Rejects when it cannot listen,
 * and throws a TypeError for an address that is none.
 *
 * @example
 * const probes = await serveProbes({ listen: "127.0.0.1:9464", worker, metrics });
 */
export async function serveProbes(options: ProbesOptions): Promise<Probes> {
  const { host, port } = parseListen(options.listen);
  const { createServer } = await import("node:http");
  let bound = port;
  const lets = hostRule(host, () => bound);
  const server = createServer((request, response) => {
    request.resume();
    answer(options, lets, request, response).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.headersTimeout = server.requestTimeout = HEADERS_MS;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.unref();
  });
  const address = await listening(server, host, port);
  bound = address.port;
  return {
    address: `${address.family === "IPv6" ? `[${address.address}]` : address.address}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function listening(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const refused = (error: Error & { code?: string }) => {
      const why = REASONS[error.code ?? ""] ?? error.message;
      reject(new Error(`probes and metrics cannot be served on ${host}:${port}: ${why}`, { cause: error }));
    };
    server.once("error", refused);
    server.listen({ host, port, exclusive: true }, () => {
      server.off("error", refused);
      server.on("error", () => {});
      server.unref();
      resolve(server.address() as AddressInfo);
    });
  });
}

const REASONS: { readonly [code: string]: string } = {
  EADDRINUSE: "another process listens there",
  EADDRNOTAVAIL: "this machine has no such address",
  // Deno's word for the same.
  EINVAL: "this machine has no such address",
  EACCES: "this user may not listen there",
  ENOTFOUND: "no such host is known",
  EAI_AGAIN: "no such host is known",
};

/** Whatever fails is an answer: a metric that does must not end the worker. */
async function answer(
  options: ProbesOptions,
  lets: (host: string) => boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let [status, text, type = "text/plain; charset=utf-8"] = answerOf(options, lets, request);
  if (typeof text === "function") {
    try {
      text = await text();
      if (typeof text !== "string") throw new TypeError(`metrics.text() gave no text but ${typeof text}`);
    } catch (error) {
      [status, text, type] = [500, `the metrics cannot be written: ${String(error)}\n`, "text/plain; charset=utf-8"];
    }
  }
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(status === 405 && { allow: "GET, HEAD" }),
  });
  response.end(request.method === "HEAD" ? undefined : text);
}

type Answer = [status: number, text: string | (() => string | Promise<string>), type?: string];

function answerOf({ worker, metrics }: ProbesOptions, lets: (host: string) => boolean, request: IncomingMessage): Answer {
  const { host = "", origin, "sec-fetch-site": site } = request.headers;
  if (!lets(host.toLowerCase())) return [403, "the request is for another host\n"];
  if (origin !== undefined || site === "cross-site" || site === "same-site") return [403, "pages may not call\n"];
  if (request.method !== "GET" && request.method !== "HEAD") return [405, "only GET\n"];
  switch ((request.url ?? "").split("?")[0]) {
    case "/healthz":
      // A worker that stops is alive until it has stopped: its last activities have time to finish.
      return worker.state === "stopped" ? [503, "stopped\n"] : [200, "ok\n"];
    case "/readyz":
      return worker.ready ? [200, "ready\n"] : [503, `not ready: the worker is ${worker.state}\n`];
    case "/metrics":
      if (metrics !== undefined) return [200, () => metrics.text(), metrics.contentType];
      break;
  }
  return [404, `there are /healthz, /readyz${metrics === undefined ? "" : " and /metrics"}\n`];
}

const isLoopback = (name: string) => name === "localhost" || name === "::1" || /^127\.\d+\.\d+\.\d+$/.test(name);
/** Names that nobody can register, so that no page has one: of one label, and under the suffixes of clusters and private networks. */
const PRIVATE_NAME = /^[a-z0-9_-]+$|\.(?:svc|local|internal|localhost)$/;
const IP = /^\d+\.\d+\.\d+\.\d+$/;

/** Which Host headers (in lower case) are let in. */
function hostRule(listen: string, port: () => number): (host: string) => boolean {
  const own = listen.toLowerCase();
  return (host) => {
    const [, bracketed, plain = "", digits = "80"] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d+))?$/.exec(host) ?? [];
    const name = bracketed ?? plain;
    if (isLoopback(own)) return isLoopback(name) && Number(digits) === port();
    return bracketed !== undefined || IP.test(name) || name === own || PRIVATE_NAME.test(name);
  };
}
