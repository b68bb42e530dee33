// Probes of a worker over HTTP: /healthz (restart on a status other than 200), /readyz (accepts
// work), /metrics (for Prometheus). They work before the worker exists: a process that waits for
// its cluster is alive and not ready. Responses have no secrets, but http_guard.ts rejects web
// pages, and a Host that a page could have.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConnectionLimits } from "./bounded_connections.ts";

/** The worker's state as probes see it. */
export interface ProbedWorker {
  /** "stopped": the worker is no longer alive. Other states are the text of a failed /readyz. */
  readonly state: string;
  /** True while the worker accepts work. */
  readonly ready: boolean;
}

/** Options of `serveProbes`. */
export interface ProbesOptions {
  /** "host:port", "[::1]:9464", or a port on 127.0.0.1. Port 0: any free one. */
  readonly listen: string;
  readonly worker: ProbedWorker;
  /**
   * For /metrics: a `MetricsRegistry`, or anything that writes Prometheus text. Without it /metrics
   * does not exist.
   */
  readonly metrics?: { readonly contentType: string; text(): string | Promise<string> };
}

/** A server of probes. */
export interface Probes {
  /** The listening address: "127.0.0.1:9464". */
  readonly address: string;
  /** Accepts no more requests and closes its connections. */
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
/** Limits for probes: few callers with short requests. Metrics are scraped every minute at most. */
const LIMITS: Partial<ConnectionLimits> = { connections: 64, arrivalMs: 5000, idleMs: 90_000 };

/** Parses an address for `listen`. Throws a TypeError with the expected form. */
export function parseListen(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] =
    /^(?:(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]@?#]+)):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65535) {
    throw new TypeError(
      `${
        JSON.stringify(text.slice(0, 100))
      } is not a valid address: write host:port ("0.0.0.0:9464", "[::1]:9464"), or only a port for 127.0.0.1`,
    );
  }
  return { host: bracketed ?? plain ?? HOST, port };
}

/**
 * Serves /healthz, /readyz and /metrics of a worker over HTTP, in Node and Deno. Does not keep the
 * process alive. Rejects if it cannot listen. Throws a TypeError for an invalid address.
 *
 * @example
 * const probes = await serveProbes({ listen: "127.0.0.1:9464", worker, metrics });
 */
export async function serveProbes(options: ProbesOptions): Promise<Probes> {
  const { host, port } = parseListen(options.listen);
  const [{ listen }, { HttpGuard }] = await Promise.all([
    import("./listener.ts"),
    import("./http_guard.ts"),
  ]);
  let bound = port;
  try {
    const listener = await listen({
      at: { host, port },
      http: 1,
      guard: new HttpGuard({ port: () => bound, host }),
      limits: LIMITS,
      handler(request, response) {
        request.resume();
        answer(options, request as IncomingMessage, response as ServerResponse).catch(() =>
          response.destroy()
        );
      },
    });
    bound = listener.port;
    return {
      address: `${listener.host.includes(":") ? `[${listener.host}]` : listener.host}:${bound}`,
      close: () => listener.close(0),
    };
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    throw new Error(
      `probes and metrics cannot be served on ${host}:${port}: ${REASONS[code] ?? message}`,
      { cause: error },
    );
  }
}

const REASONS: { readonly [code: string]: string } = {
  EADDRINUSE: "the port is in use",
  EADDRNOTAVAIL: "this machine does not have this address",
  // Deno's code for the same error.
  EINVAL: "this machine does not have this address",
  EACCES: "permission denied",
  ENOTFOUND: "unknown host",
  EAI_AGAIN: "unknown host",
};

/** Errors become responses: a failing metric must not end the worker. */
async function answer(
  options: ProbesOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let [status, text, type = "text/plain; charset=utf-8"] = answerOf(options, request);
  if (typeof text === "function") {
    try {
      text = await text();
      if (typeof text !== "string") {
        throw new TypeError(`metrics.text() must return a string, not ${typeof text}`);
      }
    } catch (error) {
      [status, text, type] = [
        500,
        `cannot write the metrics: ${String(error)}\n`,
        "text/plain; charset=utf-8",
      ];
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

function answerOf({ worker, metrics }: ProbesOptions, request: IncomingMessage): Answer {
  if (request.method !== "GET" && request.method !== "HEAD") return [405, "only GET\n"];
  switch ((request.url ?? "").split("?")[0]) {
    case "/healthz":
      // A stopping worker is alive until its last activities have ended.
      return worker.state === "stopped" ? [503, "stopped\n"] : [200, "ok\n"];
    case "/readyz":
      return worker.ready ? [200, "ready\n"] : [503, `not ready: the worker is ${worker.state}\n`];
    case "/metrics":
      if (metrics !== undefined) return [200, () => metrics.text(), metrics.contentType];
      break;
  }
  return [
    404,
    `available paths: /healthz, /readyz${metrics === undefined ? "" : " and /metrics"}\n`,
  ];
}
