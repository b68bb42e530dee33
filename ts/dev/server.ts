// The embedded engine as a Temporal server on loopback: gRPC (HTTP/2 without TLS) for Temporal's
// SDKs and CLI, and HTTP/1.1 with JSON, Connect and gRPC-web for pages and curl. Like Temporal's
// development server, the gRPC port needs no authentication. Web pages cannot call it: browsers
// speak HTTP/2 only over TLS, and requests with an Origin are rejected. Pages can reach the HTTP
// port, so it has the guard.
import type { Clock } from "../engine/clock.ts";
import { EmbeddedEngine } from "../engine/mod.ts";
import { MemoryStore } from "../engine/memory_store.ts";
import { notOffered } from "../engine/not_offered.ts";
import type { NamespaceOptions } from "../engine/server_description.ts";
import { keepFor } from "../engine/retention.ts";
import { warnOfTimeouts } from "../engine/timed_out.ts";
import { containedLogger } from "../base/contained.ts";
import type { Logger } from "../base/logger.ts";
import {
  type CallOptions,
  Code,
  type MethodName,
  type RawService,
  ServiceError,
} from "../service/raw.ts";
import { HttpGuard, type Refusal } from "../server/http_guard.ts";
import type { ExtraMethod } from "../server/extra_methods.ts";
import { listen, type Listener } from "../server/listener.ts";
import { serviceHandler } from "../server/grpc_handlers.ts";
import { SERVICE_NAME } from "../api/raw_methods.ts";
import { Health } from "./health.ts";
import { type InitialNamespace, Namespaces, type NamespacesHost } from "./namespaces.ts";
import type { NexusEndpoint } from "./nexus/endpoints.ts";
import { operatorMethods } from "./operator.ts";

export interface DevServerOptions {
  /** Port of gRPC; 0: any free port. */
  readonly port: number;
  /** Port of HTTP/1.1; 0: any free port. Undefined: not served. */
  readonly httpPort?: number | undefined;
  /** Origins of pages that may call the HTTP port. */
  readonly origins?: readonly string[];
  /** Not empty. The first is the default for requests without a namespace. */
  readonly namespaces: readonly string[];
  /** Time in milliseconds after which closed runs are removed. Undefined: they are kept. */
  readonly retentionMs?: number | undefined;
  /** Search attributes to register in each namespace, with numbers of IndexedValueType. */
  readonly searchAttributes?: { readonly [name: string]: number };
  /** Returns the path of a namespace's store; undefined: in memory. */
  storeOf(namespace: string): string | undefined;
  readonly logger: Logger;
  /** Default: the wall clock. */
  readonly clock?: Clock;
  /** "manual": workflow timers fire only when requested. */
  readonly timers?: "due" | "manual";
  /** Keeps registered and changed namespaces over restarts. Undefined: they end with the server. */
  readonly registry?: NamespaceRegistry | undefined;
  /** Called for each engine that was opened: announces its store to other processes. */
  announce?(engine: EmbeddedEngine): Announcement;
  /** Additional methods, made with the open namespaces. */
  extra?(namespaces: Namespaces): readonly ExtraMethod[];
  /** Wraps the served service. */
  around?(service: Namespaces): RawService;
  /** Maximum size of a request in bytes. Default: 64 MiB. */
  readonly maxRequestBytes?: number;
}

/** Where registered and changed namespaces are kept, with their options. */
export interface NamespaceRegistry {
  load(): ReadonlyMap<string, NamespaceOptions>;
  /** Returns the Nexus endpoints. */
  loadEndpoints(): readonly NexusEndpoint[];
  save(
    registered: ReadonlyMap<string, NamespaceOptions>,
    endpoints: readonly NexusEndpoint[],
  ): void;
  /** Removes the closed store of a deleted namespace. */
  discard(namespace: string): Promise<void>;
}

/** An announced store: retired before its engine closes, closed after it. */
export interface Announcement {
  retire(): Promise<void>;
  close(): Promise<void>;
}

export interface DevServer {
  readonly port: number;
  readonly httpPort: number | undefined;
  readonly namespaces: Namespaces;
  /** Rejects new calls, completes open ones and closes the stores. */
  close(): Promise<void>;
}

const SERVICES = [SERVICE_NAME, "temporal.api.operatorservice.v1.OperatorService"];

const codeName = (code: number) =>
  Object.entries(Code).find(([, number]) => number === code)?.[0] ?? String(code);

/** Logs calls, without their payloads. */
function logged(service: RawService, logger: Logger): RawService {
  return {
    async call(method: MethodName, request: Uint8Array, options?: CallOptions) {
      const began = performance.now();
      const ms = () => Math.round(performance.now() - began);
      try {
        const response = await service.call(method, request, options);
        logger.debug("call completed", { method, ms: ms(), bytes: response.length });
        return response;
      } catch (error) {
        const code = error instanceof ServiceError ? codeName(error.code) : "INTERNAL";
        logger.debug("call failed", { method, ms: ms(), code, reason: (error as Error).message });
        throw error;
      }
    },
  };
}

/** The namespaces of the options, and those that were registered before. */
function initialNamespaces(
  { namespaces, registry, retentionMs }: DevServerOptions,
): InitialNamespace[] {
  const registered = registry?.load() ?? new Map<string, NamespaceOptions>();
  return [...new Set([...namespaces, ...registered.keys()])].map((name) => ({
    name,
    options: registered.get(name) ?? (retentionMs === undefined ? {} : { retentionMs }),
    registered: registered.has(name),
  }));
}

/** Opens and closes the engines of namespaces. */
function hostOf(options: DevServerOptions, logger: Logger): NamespacesHost {
  const { registry, searchAttributes = {} } = options;
  const announced = new Map<EmbeddedEngine, Announcement>();
  return {
    async open(namespace, nexus) {
      const path = options.storeOf(namespace);
      const engine = await EmbeddedEngine.open({
        namespace,
        nexus,
        // Workers are other processes: they may still complete tasks that they polled before a
        // restart.
        remoteWorkers: true,
        ...(options.clock !== undefined && { clock: options.clock }),
        ...(options.timers !== undefined && { timers: options.timers }),
        onError: (error) => logger.error("the engine failed", { namespace, error }),
        onActivityTimeout: warnOfTimeouts(logger),
        ...(path === undefined ? { store: new MemoryStore() } : { path }),
      });
      if (Object.keys(searchAttributes).length > 0) engine.registerAttributes(searchAttributes);
      const announcement = options.announce?.(engine);
      if (announcement !== undefined) announced.set(engine, announcement);
      return engine;
    },
    async close(_namespace, engine) {
      const announcement = announced.get(engine);
      announced.delete(engine);
      await announcement?.retire();
      await engine.close();
      await announcement?.close();
    },
    keepFor: (retentionMs, engine) => keepFor(retentionMs, engine, logger),
    ...(registry !== undefined && {
      save: (registered, endpoints) => registry.save(registered, endpoints),
      discard: (namespace) => registry.discard(namespace),
    }),
  };
}

export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const logger = containedLogger(options.logger);
  const namespaces = await Namespaces.open(
    initialNamespaces(options),
    hostOf(options, logger),
    options.registry?.loadEndpoints(),
  );
  const health = new Health(SERVICES);
  const onError = (error: Error) => logger.error("the server failed", { error });
  const handler = serviceHandler(logged(options.around?.(namespaces) ?? namespaces, logger), {
    extra: [
      ...health.methods,
      ...operatorMethods(namespaces),
      ...options.extra?.(namespaces) ?? [],
    ],
    unknown: (service, method) => {
      logger.debug("call failed", { service, method, code: "UNIMPLEMENTED" });
      return SERVICES.includes(service)
        ? notOffered(method)
        : `temporalex dev does not have the service ${service}`;
    },
    onError,
    ...(options.maxRequestBytes !== undefined && { maxRequestBytes: options.maxRequestBytes }),
  });
  const opened: { close(): Promise<void> }[] = [];
  // Health first, so that watchers are notified. Closing the engines completes open calls, and the
  // listeners send these responses before they close.
  const close = async () => {
    health.stop();
    const closing = opened.map((each) => each.close());
    await namespaces.close();
    await Promise.all(closing);
  };
  try {
    const serve = async (http: 1 | 2, port: number, guard: HttpGuard) => {
      const refused = ({ reason, message }: Refusal) =>
        logger.warn("a request was rejected", { http, reason, message });
      const listener = await listen({
        at: { port },
        http,
        handler,
        guard,
        refused,
        keepsAlive: true,
        onError,
      });
      opened.push(listener);
      return listener;
    };
    const pagesElsewhere =
      "web pages cannot call this port; open one with temporalex dev --http-port";
    const grpc = await serve(
      2,
      options.port,
      new HttpGuard({ port: () => options.port, host: "any", pagesElsewhere }),
    );
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
