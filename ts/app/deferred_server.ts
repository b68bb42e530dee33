// Serves an opened store to other processes at no cost for the start: the server's code is loaded a
// moment later, and never if the application closes before that.
import type { EmbeddedEngine } from "../engine/embedded_engine.ts";
import { unrefTimer } from "../engine/clock.ts";
import { hasFiles } from "../platform/source_files.ts";
import type { Logger } from "../base/logger.ts";
import type { StoreServer } from "./serve_store.ts";

/** The server is loaded after the first tasks, which need the processor. */
const SERVE_AFTER_MS = 100;

export class DeferredServer {
  /** Address of the server; undefined if the store is not served. */
  readonly address: Promise<string | undefined>;
  #server: StoreServer | undefined;
  #serving: Promise<void> | undefined;
  #cancel = () => {};

  /** `wanted`: the store is a file, and the caller has not disabled serving. */
  constructor(engine: EmbeddedEngine, wanted: boolean, logger: Logger) {
    const path = (engine.store as { path?: unknown }).path;
    if (!wanted || typeof path !== "string" || !hasFiles()) {
      this.address = Promise.resolve(undefined);
      return;
    }
    this.address = new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#serving = serve(engine, path, logger).then((server) => {
          this.#server = server;
          resolve(server?.address);
        });
      }, SERVE_AFTER_MS);
      unrefTimer(timer);
      this.#cancel = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });
  }

  /** Makes the server undiscoverable. Pending calls continue. */
  async retire(): Promise<void> {
    this.#cancel();
    await this.#serving;
    this.#server?.retire();
  }

  async close(): Promise<void> {
    await this.retire();
    await this.#server?.close();
  }
}

async function serve(
  engine: EmbeddedEngine,
  path: string,
  logger: Logger,
): Promise<StoreServer | undefined> {
  try {
    const { serveEngineStore } = await import("./serve_store.ts");
    return await serveEngineStore(engine, path, {
      onError: (error) => logger.warn("the store's socket server failed", { error }),
    });
  } catch (error) {
    const level = (error as Error).name === "NotPermittedError" ? "debug" : "warn";
    logger[level](
      "other processes cannot reach the engine; the engine continues without the socket",
      { store: path, error },
    );
    return undefined;
  }
}
