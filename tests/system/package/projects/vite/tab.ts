// A tab with a durable store. The first load leaves the cart open and reloads; the second one
// continues it.
import { open } from "temporalex/browser";
import { silentLogger } from "temporalex/client";
import engine from "temporalex/engine.wasm?url";
import worker from "temporalex/worker.wasm?url";
import * as activities from "../app/activities.ts";
import { addItem, cart, checkout } from "../app/workflows.ts";

try {
  const app = await open({
    path: "shop",
    core: { worker: new URL(worker, location.href), engine: new URL(engine, location.href) },
    activities,
    logger: silentLogger,
    realm: () => new Worker(new URL("./realm.ts", import.meta.url), { type: "module" }),
    // Without `engineWorker` it is the package's own file, which Vite finds by itself.
    ...(location.hash === "#own" && {
      engineWorker: () => new Worker(new URL("./engine.ts", import.meta.url), { type: "module" }),
    }),
  });
  const handle = await app.client.start(cart, {
    id: "cart",
    args: ["ada"],
    idConflictPolicy: "USE_EXISTING",
  });
  if (sessionStorage.getItem("loaded") === null) {
    await handle.update(addItem, "tea");
    sessionStorage.setItem("loaded", "once");
    location.reload();
  } else {
    const count = await handle.update(addItem, "milk");
    await handle.signal(checkout);
    const result = await handle.result();
    await app.close();
    document.title = JSON.stringify({ counts: [count - 1, count], result });
  }
} catch (e) {
  document.title = `failed: ${(e as Error).stack}`;
}
