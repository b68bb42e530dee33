// Calls to the process that has a store open, over its socket, when that process is about to go.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { serveStore } from "../../../ts/app/serve_store.ts";
import { StoreService } from "../../../ts/app/store_service.ts";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine } from "../../../ts/engine/mod.ts";

test("the process that got a call completes it, also if a later call no longer finds that process", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-store-service-"));
  const path = join(folder, "shop.sqlite");
  const engine = await EmbeddedEngine.open({ path });
  const server = await serveStore(engine, path);
  const service = new StoreService({ path });
  try {
    const client = new Client({ service, taskQueue: "q", logger: silentLogger });
    const handle = await client.start("Order", { id: "order-1" });
    const result = handle.result();
    result.catch(() => {});
    // A process that ends removes its socket first, and still responds to earlier calls.
    for (const end of ["socket", "port"]) rmSync(`${path}-${end}`, { force: true });
    const look = new AbortController();
    const looking = handle.with({ signal: look.signal }).describe().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await new Client({ service: engine, logger: silentLogger }).getHandle(undefined, "order-1")
      .terminate("enough");
    await assert.rejects(result, /workflow order-1 was terminated: enough/);
    look.abort();
    await looking;
  } finally {
    await service.close();
    await engine.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
