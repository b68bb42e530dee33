// Retention: closed runs are removed after a time.
import type { EmbeddedEngine } from "./embedded_engine.ts";
import type { Logger } from "../base/logger.ts";

const RETENTION_MS = 60_000;

/**
 * Purges runs closed for longer than `retentionMs`, now and every minute. Returns a function that
 * stops it.
 */
export function keepFor(retentionMs: number, engine: EmbeddedEngine, logger: Logger): () => void {
  let purging = false;
  const purge = async () => {
    if (purging) return;
    purging = true;
    try {
      const removed = await engine.purge({ closedBefore: Date.now() - retentionMs });
      if (removed > 0) logger.info("closed runs were removed", { removed });
    } catch (error) {
      logger.warn("closed runs could not be removed; retrying later", { error });
    } finally {
      purging = false;
    }
  };
  void purge();
  const timer = setInterval(() => void purge(), RETENTION_MS);
  return () => clearInterval(timer);
}
