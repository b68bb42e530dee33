// The embedded engine as a Temporal server on the loopback: gRPC (HTTP/2 without TLS) for Temporal's SDKs and command line, and HTTP/1.1
// with JSON, Connect and gRPC-web for pages and curl.
//
// The gRPC port asks nobody for a name or a secret, as Temporal's own development server does not: every program of this machine may call,
// and no web page can, because browsers speak HTTP/2 over TLS only (what carries an Origin is refused all the same). The HTTP port is
// within reach of pages, so it has the guard.
import type { Clock } from "../engine/clock.ts";
import { EmbeddedEngine } from "../engine/mod.ts";
import { MemoryStore } from "../engine/memory_store.ts";
import { notOffered } from "../engine/not_offered.ts";
import { keepFor } from "../engine/retention.ts";
import { warnOfTimeouts } from "../engine/timed_out.ts";
import { containedLogger } from "../base/contained.ts";
import type { Logger } from "../base/logger.ts";
import { type CallOptions, Code, type MethodName, type RawService, ServiceError } from "../service/raw.ts";
import { HttpGuard, type Refusal } from "../server/http_guard.ts";
import type { ExtraMethod } from "../server/extra_methods.ts";
import { listen, type Listener } from "../server/listener.ts";
import { serviceHandler } from "../server/grpc_handlers.ts";
import { SERVICE_NAME } from "../api/raw_methods.ts";
import { Health } from "./health.ts";
import { Namespaces } from "./namespaces.ts";
import { operatorMethods } from "./operator.ts";

export interface DevServerOptions {
  /** For gRPC; 0: any free one. */
  readonly port: number;
  /** For HTTP/1.1; 0: any free one. Undefined: not served. */
  readonly httpPort?: number | undefined;
  /** Origins of pages that may call the HTTP port. */
  readonly origins?: readonly string[];
  /** Not empty; the first is meant where a request names none. */
  readonly namespaces: readonly string[];
  /** Runs of these namespaces are removed so long after they closed, in milliseconds; absent: they are kept. */
  readonly retentionMs?: number | undefined;
  /** The store file of a namespace; undefined: in memory. */
  storeOf(namespace: string): string | undefined;
  readonly logger: Logger;
  /** Default: the wall clock. */
  readonly clock?: Clock;
  /** "manual": timers of workflows fire by hand alone. */
  readonly timers?: "due" | "manual";
  /** More methods, with the namespaces that are open. */
  extra?(namespaces: Namespaces): readonly ExtraMethod[];
  /** Puts something around the service that is served. */
  around?(service: Namespaces): RawService;
  /** The largest request that is read, in bytes. Default: 64 MiB. */
  readonly maxRequestBytes?: number;
}

export interface DevServer {
  readonly port: number;
  readonly httpPort: number | undefined;
  readonly namespaces: Namespaces;
  /** Takes no more calls, answers those that wait, and closes the stores. */
  close(): Promise<void>;
}

const SERVICES = [SERVICE_NAME, "temporal.api.operatorservice.v1.OperatorService"];

const codeName = (code: number) => Object.entries(Code).find(([, number]) => number === code)?.[0] ?? String(code);

/** The calls in the log, without what they carry. */
function logged(service: RawService, logger: Logger): RawService {
  return {
    async call(method: MethodName, request: Uint8Array, options?: CallOptions) {
      const began = performance.now();
      const ms = () => Math.round(performance.now() - began);
      try {
        const response = await service.call(method, request, options);
        logger.debug("answered", { method, ms: ms(), bytes: response.length });
        return response;
      } catch (error) {
        const code = error instanceof ServiceError ? codeName(error.code) : "INTERNAL";
        logger.debug("refused", { method, ms: ms(), code, reason: (error as Error).message });
        throw error;
      }
    },
  };
}

export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const logger = containedLogger(options.logger);
  const { retentionMs } = options;
  const namespaces = await Namespaces.open(options.namespaces, retentionMs === undefined ? {} : { retentionMs }, {
    async open(namespace) {
      const path = options.storeOf(namespace);
      return await EmbeddedEngine.open({
        namespace,
        // Workers are other processes: what they hold at a restart, they may still answer.
        remoteWorkers: true,
        ...(options.clock !== undefined && { clock: options.clock }),
        ...(options.timers !== undefined && { timers: options.timers }),
        onError: (error) => logger.error("the engine failed", { namespace, error }),
        onActivityTimeout: warnOfTimeouts(logger),
        ...(path === undefined ? { store: new MemoryStore() } : { path }),
      });
    },
    keepFor: (retentionMs, engine) => keepFor(retentionMs, engine, logger),
  });
  const health = new Health(SERVICES);
  const onError = (error: Error) => logger.error("the server failed", { error });
  const handler = serviceHandler(logged(options.around?.(namespaces) ?? namespaces, logger), {
    extra: [
      ...health.methods,
      ...operatorMethods((name, options) => namespaces.register(name, options)),
      ...options.extra?.(namespaces) ?? [],
    ],
    unknown: (service, method) => {
      logger.debug("refused", { service, method, code: "UNIMPLEMENTED" });
      return SERVICES.includes(service) ? notOffered(method) : `temporalex dev does not have the service ${service}`;
    },
    onError,
    ...(options.maxRequestBytes !== undefined && { maxRequestBytes: options.maxRequestBytes }),
  });
  const opened: { close(): Promise<void> }[] = [];
  // Health first: who watches is told. The engines' end answers the calls that wait, and the listeners pass that on before they close.
  const close = async () => {
    health.stop();
    const closing = opened.map((each) => each.close());
    await namespaces.close();
    await Promise.all(closing);
  };
  try {
    const serve = async (http: 1 | 2, port: number, guard: HttpGuard) => {
      const refused = ({ reason, message }: Refusal) => logger.warn("a request was rejected", { http, reason, message });
      const listener = await listen({ at: { port }, http, handler, guard, refused, keepsAlive: true, onError });
      opened.push(listener);
      return listener;
    };
    const pagesElsewhere = "web pages cannot call this port; open one with temporalex dev --http-port";
    const grpc = await serve(2, options.port, new HttpGuard({ port: () => options.port, host: "any", pagesElsewhere }));
    let http: Listener | undefined;
    if (options.httpPort !== undefined) {
      const guard = new HttpGuard({ port: () => http?.port ?? 0, origins: options.origins ?? [] });
      http = await serve(1, options.httpPort, guard);
    }
    return { port: grpc.port, httpPort: http?.port, namespaces, close };
  } catch (error) {
    await close();
    throw error;
  }
}
