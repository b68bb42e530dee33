// What the platform asks over HTTP: /healthz (restart me when this is not 200), /readyz (I am at work), /metrics (for Prometheus).
import type { MetricsRegistry } from "temporalex/metrics";
import type { Worker } from "temporalex/worker";

export function serveHealth(address: string, worker: Worker, metrics: MetricsRegistry): Deno.HttpServer {
  const [, hostname, port] = /^(.*):(\d+)$/.exec(address) ?? [];
  if (hostname === undefined) throw new Error(`HEALTH_ADDRESS is written host:port, not "${address}"`);
  const text = (status: number, body: string) => new Response(`${body}\n`, { status });
  return Deno.serve({ hostname, port: Number(port), onListen: () => {} }, (request) => {
    if (request.method !== "GET") return text(405, "only GET");
    switch (new URL(request.url).pathname) {
      case "/healthz":
        // A worker that stops is alive until it has stopped: its last activities have time to finish.
        return worker.state === "stopped" ? text(503, "stopped") : text(200, "ok");
      case "/readyz":
        // False at once when a stop begins, and while the cluster does not take the worker's polls.
        return worker.ready ? text(200, "ready") : text(503, `not ready: the worker is ${worker.state}`);
      case "/metrics":
        return new Response(metrics.text(), { headers: { "content-type": metrics.contentType } });
      default:
        return text(404, "there are /healthz, /readyz and /metrics");
    }
  });
}
