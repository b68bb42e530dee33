// Services of a worker process: its store or cluster, and what it serves to others.
import { DeferredServer } from "../../../app/deferred_server.ts";
import type { Logger } from "../../../base/logger.ts";
import { EmbeddedEngine } from "../../../engine/mod.ts";
import { keepFor } from "../../../engine/retention.ts";
import { StoreLockedError } from "../../../engine/store_errors.ts";
import { warnOfTimeouts } from "../../../engine/timed_out.ts";
import { serveProbes } from "../../../server/probes.ts";
import type { RawService } from "../../../service/raw.ts";
import type { Worker } from "../../../worker/mod.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import { meansCluster, openCluster } from "../../service/cluster.ts";
import { storePath } from "../../service/open_service.ts";
import type { WorkerCall } from "./options.ts";

/**
 * From --listen: served before the cluster is contacted, so that a waiting worker does not look
 * dead.
 */
export async function openProbes({ options: { listen } }: WorkerCall, probed: { worker?: Worker }) {
  if (listen === undefined) return undefined;
  const { MetricsRegistry } = await import("../../../metrics/mod.ts");
  const metrics = new MetricsRegistry();
  const worker = {
    get state() {
      return probed.worker?.state ?? "starting";
    },
    get ready() {
      return probed.worker?.ready ?? false;
    },
  };
  const { address, close } = await serveProbes({ listen, worker, metrics }).catch(
    (error: Error) => {
      throw error instanceof TypeError
        ? new UsageError(`--listen: ${error.message}`)
        : new CommandError(error.message, { cause: error });
    },
  );
  return { metrics, address, close };
}

export interface Connected {
  readonly service: RawService;
  readonly namespace: string;
  /** Address of a cluster; undefined for a store. */
  readonly where?: string;
  /** The file of a store. */
  readonly store?: string | undefined;
  /** Address of the store for other processes. */
  readonly address?: Promise<string | undefined>;
  close(): Promise<void>;
}

export async function openService(call: WorkerCall, logger: Logger): Promise<Connected> {
  const { options, given } = call;
  if (meansCluster(options)) {
    if (given.has("store")) {
      throw new UsageError(
        "--store and --address cannot be used together: name a store or a cluster",
      );
    }
    if (options.retention !== undefined) {
      throw new UsageError(
        "--retention is for stores; how long a cluster keeps closed workflows is a setting of its namespace",
      );
    }
    return await openCluster(call);
  }
  if (options.crashNotes !== undefined) {
    throw new UsageError(
      "--crash-notes is for workers on a cluster; a worker on a store always keeps these notes next to the store",
    );
  }
  const store = storePath(call);
  const engine = await EmbeddedEngine.open({
    path: store,
    namespace: options.namespace,
    onError: (error) => logger.error("the engine failed", { error }),
    onActivityTimeout: warnOfTimeouts(logger),
  }).catch((error) => {
    if (!(error instanceof StoreLockedError)) throw error;
    const holder = error.holder === undefined ? "another process" : `process ${error.holder.pid}`;
    throw new CommandError(
      `${store} is open in ${holder}; a store has one worker at a time: end that one, name another --store, or give its workers a ` +
        "Temporal cluster (--address)",
    );
  });
  const served = new DeferredServer(engine, true, logger);
  const stop = options.retention === undefined
    ? () => {}
    : keepFor(options.retention, engine, logger);
  // The closing engine completes pending calls; the server sends the responses before it closes.
  const close = () =>
    Promise.resolve(stop()).then(() => served.retire()).then(() => engine.close()).then(() =>
      served.close()
    );
  return { service: engine, namespace: options.namespace, store, address: served.address, close };
}
