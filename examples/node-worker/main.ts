// A worker of a Temporal cluster as a service: configured by Temporal's own variables and files,
// watched over HTTP, and stopped by SIGTERM without losing work. Node 22.18 and later run this file
// as it is.
import process from "node:process";
import { MetricsRegistry } from "temporalex/metrics";
import { Connection, loadClientConnectConfig, serveProbes } from "temporalex/temporal";
import { Worker } from "temporalex/worker";
import * as activities from "./activities.ts";
import { jsonLogger } from "./log.ts";
import { readOptions } from "./options.ts";

const options = readOptions();
const logger = jsonLogger(options.logLevel);

/** The process supervisor finds the reason for the exit in the log. */
function fail(error: unknown): never {
  logger.error("the worker could not start", { error });
  process.exit(1);
}

function configuration() {
  // Where the cluster is: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS...,
  // or a profile of a TOML file.
  try {
    return loadClientConnectConfig(
      options.profile === undefined ? {} : { profile: options.profile },
    );
  } catch (error) {
    return fail(error);
  }
}

const { connectionOptions, namespace = "default" } = configuration();
logger.info("connecting", { address: connectionOptions.address, namespace });
// In a cluster that starts, or restarts, everything starts at once: the Temporal service may come
// later than this.
const connecting = Connection.connect({
  ...connectionOptions,
  namespace,
  connectTimeout: "1m",
  onRetry: ({ message }) => logger.info("waiting for the cluster", { why: message }),
});
const metrics = new MetricsRegistry({ labels: { service_name: "node-worker" } });
const worker = await Worker.create({
  service: connecting, // the workflows are loaded meanwhile
  namespace,
  taskQueue: options.taskQueue,
  workflows: new URL("./workflows.ts", import.meta.url),
  activities,
  logger,
  metrics,
  // Grace period before running activities are canceled at a stop, and time to wait for them
  // afterwards. Both together must fit into terminationGracePeriodSeconds of the pod.
  shutdownGraceMs: options.grace * 1000,
  shutdownForceMs: 3000,
}).catch(fail);
// /healthz, /readyz and /metrics, for the platform.
const probes = await serveProbes({
  listen: process.env["HEALTH_ADDRESS"] ?? "127.0.0.1:9464",
  worker,
  metrics,
}).catch(fail);
const connection = await connecting;
const running = worker.run();
logger.info("started", {
  address: connection.address,
  namespace,
  taskQueue: worker.taskQueue,
  workflows: worker.workflowTypes,
});

let stopping = false;
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    // A second signal means: do not wait. Unfinished tasks go to another worker.
    if (stopping) process.exit(1);
    stopping = true;
    logger.info("stopping", { signal, runningActivities: worker.runningActivities });
    void worker.shutdown();
  });
}

let code = 0;
try {
  await running;
} catch (error) {
  // The cluster rejects this worker permanently (its namespace is gone, its key is wrong): report
  // it to the process supervisor.
  logger.error("the worker has stopped", { error });
  code = 1;
}
await connection.close();
await probes.close();
logger.info("stopped", { uptimeSeconds: Math.round(process.uptime()) });
process.exit(code);
