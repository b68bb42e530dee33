// A page of a Vite build: the core as a file of the page's origin, workflows in a worker that Vite
// bundles.
import { open, silentLogger, useCore } from "temporalex/slim";
import engine from "temporalex/engine.wasm?url";
import worker from "temporalex/worker.wasm?url";
import * as activities from "../app/activities.ts";
import { addItem, cart, checkout } from "../app/workflows.ts";

try {
  useCore({ worker, engine });
  const realmEntry = () => new Worker(new URL("./realm.ts", import.meta.url), { type: "module" });
  const app = await open({ activities, logger: silentLogger, worker: { realmEntry } });
  const handle = await app.client.start(cart, { id: "cart", args: ["ada"] });
  const counts = [await handle.update(addItem, "tea"), await handle.update(addItem, "milk")];
  await handle.signal(checkout);
  const result = await handle.result();
  await app.close();
  document.title = JSON.stringify({ counts, result });
} catch (e) {
  document.title = `failed: ${(e as Error).stack}`;
}
