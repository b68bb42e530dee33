// Serves an engine's WorkflowService next to its store file, for the command line and other
// processes of the same user. Node and Deno; loaded only when a store is opened there.
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import type { EmbeddedEngine } from "../engine/embedded_engine.ts";
import { callFromOutside } from "../engine/outside_calls.ts";
import type { RawService } from "../service/raw.ts";
import { HttpGuard } from "../server/http_guard.ts";
import type { ExtraMethod } from "../server/extra_methods.ts";
import { listen, type Listener } from "../server/listener.ts";
import { serviceHandler } from "../server/grpc_handlers.ts";
import { fireTimerMethod } from "./fire_timer.ts";
import { functionMethod } from "./function_method.ts";
import { sqlMethod } from "./sql/sql_method.ts";
import {
  fileId,
  fitsSocket,
  placePort,
  placeSocket,
  portPath,
  removePort,
  removeSocket,
  socketPath,
} from "./socket_path.ts";

export interface StoreServer {
  /** The socket's path, or `127.0.0.1:<port>`. */
  readonly address: string;
  /** Removes the files next to the store, so that no process finds the server. */
  retire(): void;
  /** Waits at most `graceMs` for open calls, then closes. */
  close(graceMs?: number): Promise<void>;
}

export interface ServeStoreOptions {
  onError?(error: Error): void;
  /** Maximum size of a request in bytes. Default: 64 MiB. */
  readonly maxRequestBytes?: number;
  /** Methods in addition to WorkflowService: SQL, timers by hand. */
  readonly extra?: readonly ExtraMethod[];
}

/**
 * Serves `service` next to the store at `path` (absolute). Only the process that holds the store's
 * fence may call this, because files of a killed holder are replaced. Throws if serving is not
 * possible; the store is not affected.
 */
export async function serveStore(
  service: RawService,
  path: string,
  options: ServeStoreOptions = {},
): Promise<StoreServer> {
  const handler = serviceHandler(service, options);
  removePort(path);
  if (fitsSocket(path)) {
    try {
      const listener = await placeSocket(path, (at) => {
        askDeno(`unix:${at}`, "--allow-net");
        return listen({ at: { path: at }, handler, ...options });
      });
      return closing(socketPath(path), socketPath(path), listener);
    } catch (error) {
      // Some file systems do not support sockets (shared folders of virtual machines, network
      // drives).
      if (
        !["ENOTSUP", "EOPNOTSUPP", "EPERM", "EINVAL"].includes(
          (error as { code?: string }).code ?? "",
        )
      ) throw error;
    }
  }
  removeSocket(path);
  askDeno("127.0.0.1", "--allow-net=127.0.0.1");
  const secret = randomBytes(32).toString("base64url");
  let port = 0;
  // Requires the secret, and rejects web pages.
  const guard = new HttpGuard({ port: () => port, token: secret });
  const listener = await listen({ at: { port: 0 }, handler, guard, ...options });
  port = listener.port;
  try {
    placePort(path, port, secret);
  } catch (e) {
    await listener.close(0);
    throw e;
  }
  return closing(portPath(path), `127.0.0.1:${port}`, listener);
}

/** Same as `serveStore` for an engine, with SQL queries, manual timers and functions. */
export function serveEngineStore(
  engine: EmbeddedEngine,
  path: string,
  options: Omit<ServeStoreOptions, "extra"> = {},
): Promise<StoreServer> {
  const service: RawService = {
    call: (method, request, call) => callFromOutside(engine, method, request, call),
  };
  return serveStore(service, path, {
    ...options,
    extra: [
      sqlMethod(() => engine.store),
      fireTimerMethod(() => engine),
      functionMethod(engine),
    ],
  });
}

function closing(file: string, address: string, listener: Listener): StoreServer {
  const id = fileId(file);
  // Keeps files that the next holder has put there.
  const retire = () => {
    if (id !== undefined && fileId(file) === id) rmSync(file, { force: true });
  };
  return {
    address,
    retire,
    async close(graceMs) {
      retire();
      await listener.close(graceMs);
    },
  };
}

/** The program has no permission to listen there: a decision of the user. */
export class NotPermittedError extends Error {
  override name = "NotPermittedError";
}

/** Checks Deno's permission first: an unpermitted use would open a prompt on a terminal. */
function askDeno(host: string, flag: string): void {
  const { Deno } = globalThis as {
    Deno?: {
      permissions?: { querySync(descriptor: { name: "net"; host: string }): { state: string } };
    };
  };
  const state = Deno?.permissions?.querySync({ name: "net", host }).state ?? "granted";
  if (state !== "granted") {
    throw new NotPermittedError(`Deno denied permission to listen; run with ${flag}`);
  }
}
