// What platforms ask a worker over HTTP: /healthz (restart me when this is not 200), /readyz (I take work), /metrics (for Prometheus). The
// worker need not be there yet: a process that waits for its cluster is alive and not ready.
//
// Nothing secret is told: states, and metrics, whose labels are names of types and queues. Still, a page in a browser of this machine or
// network shall not read them: http_guard.ts refuses what comes from a page, and a Host that could be a page's own name.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConnectionLimits } from "./bounded_connections.ts";

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
/** More than this many callers at once are no probes, and one that has not sent its few lines by then is none. Metrics are asked for every minute at most. */
const LIMITS: Partial<ConnectionLimits> = { connections: 64, arrivalMs: 5000, idleMs: 90_000 };

/** Reads an address as `listen` takes it. Throws a TypeError with what to write. */
export function parseListen(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] = /^(?:(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]@?#]+)):)?(\d{1,5})$/.exec(text) ?? [];
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
 * Serves /healthz, /readyz and /metrics of a worker over HTTP, in Node and Deno. It keeps no process alive. Rejects when it cannot listen,
 * and throws a TypeError for an address that is none.
 *
 * @example
 * const probes = await serveProbes({ listen: "127.0.0.1:9464", worker, metrics });
 */
export async function serveProbes(options: ProbesOptions): Promise<Probes> {
  const { host, port } = parseListen(options.listen);
  const [{ listen }, { HttpGuard }] = await Promise.all([import("./listener.ts"), import("./http_guard.ts")]);
  let bound = port;
  try {
    const listener = await listen({
      at: { host, port },
      http: 1,
      guard: new HttpGuard({ port: () => bound, host }),
      limits: LIMITS,
      handler(request, response) {
        request.resume();
        answer(options, request as IncomingMessage, response as ServerResponse).catch(() => response.destroy());
      },
    });
    bound = listener.port;
    return {
      address: `${listener.host.includes(":") ? `[${listener.host}]` : listener.host}:${bound}`,
      close: () => listener.close(0),
    };
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    throw new Error(`probes and metrics cannot be served on ${host}:${port}: ${REASONS[code] ?? message}`, { cause: error });
  }
}

const REASONS: { readonly [code: string]: string } = {
  EADDRINUSE: "the port is in use",
  EADDRNOTAVAIL: "this machine does not have this address",
  // Deno's word for the same.
  EINVAL: "this machine does not have this address",
  EACCES: "permission denied",
  ENOTFOUND: "unknown host",
  EAI_AGAIN: "unknown host",
};

/** Whatever fails is an answer: a metric that does must not end the worker. */
async function answer(options: ProbesOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let [status, text, type = "text/plain; charset=utf-8"] = answerOf(options, request);
  if (typeof text === "function") {
    try {
      text = await text();
      if (typeof text !== "string") throw new TypeError(`metrics.text() must return a string, not ${typeof text}`);
    } catch (error) {
      [status, text, type] = [500, `cannot write the metrics: ${String(error)}\n`, "text/plain; charset=utf-8"];
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
      // A worker that stops is alive until it has stopped: its last activities have time to finish.
      return worker.state === "stopped" ? [503, "stopped\n"] : [200, "ok\n"];
    case "/readyz":
      return worker.ready ? [200, "ready\n"] : [503, `not ready: the worker is ${worker.state}\n`];
    case "/metrics":
      if (metrics !== undefined) return [200, () => metrics.text(), metrics.contentType];
      break;
  }
  return [404, `available paths: /healthz, /readyz${metrics === undefined ? "" : " and /metrics"}\n`];
}
