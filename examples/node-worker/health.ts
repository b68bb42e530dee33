// What the platform asks over HTTP: /healthz (restart me when this is not 200), /readyz (I am at work), /metrics (for Prometheus).
import { createServer, type Server } from "node:http";
import type { MetricsRegistry } from "temporalex/metrics";
import type { Worker } from "temporalex/worker";

/** Listens; rejects when it cannot. */
export async function serveHealth(address: string, worker: Worker, metrics: MetricsRegistry): Promise<Server> {
  const [, host, port] = /^(.*):(\d+)$/.exec(address) ?? [];
  if (host === undefined) throw new Error(`HEALTH_ADDRESS is written host:port, not "${address}"`);
  const answer = (path: string): [status: number, body: string, type?: string] => {
    switch (path) {
      case "/healthz":
        // A worker that stops is alive until it has stopped: its last activities have time to finish.
        return worker.state === "stopped" ? [503, "stopped\n"] : [200, "ok\n"];
      case "/readyz":
        // False at once when a stop begins, and while the cluster does not take the worker's polls.
        return worker.ready ? [200, "ready\n"] : [503, `not ready: the worker is ${worker.state}\n`];
      case "/metrics":
        return [200, metrics.text(), metrics.contentType];
      default:
        return [404, "there are /healthz, /readyz and /metrics\n"];
    }
  };
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0]!;
    const [status, body, type = "text/plain; charset=utf-8"] = request.method === "GET" ? answer(path) : [405, "only GET\n"];
    response.writeHead(status, { "content-type": type }).end(body);
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(Number(port), host, resolve));
  return server;
}
