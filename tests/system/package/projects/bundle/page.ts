// Bundled for browsers with the core inside: engine in memory, workflows in a worker.
import { open, silentLogger } from "temporalex";
import * as activities from "../app/activities.ts";
import { addItem, cart, checkout } from "../app/workflows.ts";

const realmEntry = () => new Worker(new URL("./realm.js", import.meta.url), { type: "module" });
const app = await open({ activities, logger: silentLogger, worker: { realmEntry } });
const handle = await app.client.start(cart, { id: "cart", args: ["ada"] });
const counts = [await handle.update(addItem, "tea"), await handle.update(addItem, "milk")];
await handle.signal(checkout);
const result = await handle.result();
await app.close();
document.title = JSON.stringify({ counts, result });
