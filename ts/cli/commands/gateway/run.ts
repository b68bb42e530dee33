// `temporalex gateway`: ts/gateway as a process.
import { resolve } from "node:path";
import { StoreService } from "../../../app/store_service.ts";
import { type Gateway, PortError, startGateway } from "../../../gateway/server.ts";
import type { LogFields, Logger } from "../../../base/logger.ts";
import type { RawService } from "../../../service/raw.ts";
import { parseOrigin } from "../../../server/http_guard.ts";
import { meansCluster, openCluster } from "../../service/cluster.ts";
import { Exit } from "../../frame/exit.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import type { GatewayCall } from "./options.ts";
import { tokenOf } from "./token_file.ts";

/** Time that a call that needs a worker waits for a process that opens the store. */
const STORE_PATIENCE_MS = 30_000;
const PROBE_MS = 5000;

export async function gatewayCommand(call: GatewayCall): Promise<number> {
  const { options, print, signal, io } = call;
  const origins = options.allowOrigin.map(originOf);
  if (!Number.isInteger(options.port) || options.port < 0 || options.port > 65535) {
    throw new UsageError(`--port ${options.port}: a port is a number from 0 to 65535`);
  }
  const token = options.tokenFile === undefined
    ? undefined
    : tokenOf(resolve(io.cwd, options.tokenFile));
  const { service, where, close } = await openService(call);
  let gateway: Gateway | undefined;
  try {
    gateway = await startGateway({
      service,
      origins,
      port: options.port,
      readOnly: options.readOnly,
      logger: tell(call),
      ...(token !== undefined && { token }),
      ...(options.namespace.length > 0 && { namespaces: options.namespace }),
    }).catch((error: Error) => {
      throw error instanceof PortError ? new CommandError(`${error.message} with --port`) : error;
    });
    const { url } = gateway;
    const started = {
      event: "started",
      url,
      address: where,
      origins,
      namespaces: options.namespace,
      readOnly: options.readOnly,
    };
    print.result(started, () =>
      print.fields([
        ["gateway to", where],
        ["url", url],
        [
          "pages",
          origins.length > 0
            ? origins
            : "none; let one in with --allow-origin http://localhost:5173",
        ],
        ["namespaces", options.namespace],
        ["read only", options.readOnly ? "yes" : undefined],
      ]));
    void probe(service, where, call);
    await new Promise<void>((resolve) =>
      signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve())
    );
    print.note("stopping after the running calls; press Ctrl-C again to stop now");
    await gateway.close();
    print.result({ event: "stopped" }, () => "stopped\n");
    return Exit.ok;
  } finally {
    await gateway?.close(0);
    await close();
  }
}

function originOf(text: string): string {
  try {
    return parseOrigin(text);
  } catch (error) {
    throw new UsageError(`--allow-origin: ${(error as Error).message}`);
  }
}

interface Opened {
  readonly service: RawService;
  readonly where: string;
  close(): Promise<void>;
}

async function openService(call: GatewayCall): Promise<Opened> {
  const { options, io, given } = call;
  if (meansCluster(options)) {
    if (given.has("store")) {
      throw new UsageError("--store and --address cannot be used together: calls go to one place");
    }
    return await openCluster({ ...call, options: { ...options, namespace: "default" } });
  }
  if (options.store === undefined) {
    throw new UsageError(
      "where do calls go? Name a cluster with --address host:port or --profile, or a store with --store",
    );
  }
  const path = resolve(io.cwd, options.store);
  const service = new StoreService({
    path,
    namespace: options.namespace[0] ?? "default",
    create: false,
    patienceMs: STORE_PATIENCE_MS,
  });
  return { service, where: `store ${path}`, close: () => service.close() };
}

/** Warns about a cluster that does not respond yet; the gateway runs nevertheless. */
async function probe(
  service: RawService,
  where: string,
  { options, print, signal }: GatewayCall,
): Promise<void> {
  if (!meansCluster(options)) return;
  try {
    await service.call("getSystemInfo", new Uint8Array(0), { timeoutMs: PROBE_MS, signal });
  } catch (error) {
    if (!signal.aborted) {
      print.warn(
        `${where} does not answer yet (${
          (error as Error).message
        }); calls are passed on to it as they come`,
      );
    }
  }
}

/** Logs events in text output only, and problems always. */
function tell({ print }: GatewayCall): Logger {
  const text = (message: string, { origin, why, reason, error }: LogFields) => {
    const hint = reason === "origin" ? "; --allow-origin lets pages in" : "";
    const what = why ?? (error instanceof Error ? error.message : error);
    return `${message}${origin === undefined ? "" : ` (${origin})`}${
      what === undefined ? "" : `: ${what}${hint}`
    }`;
  };
  const note = (message: string, fields: LogFields = {}) => print.note(text(message, fields));
  const warn = (message: string, fields: LogFields = {}) => print.warn(text(message, fields));
  return { debug: () => {}, info: note, warn, error: warn };
}
