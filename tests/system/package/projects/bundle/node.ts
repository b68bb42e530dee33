// Bundled whole for Node, the package included; `realmEntry` names the bundle of realm.ts.
import { createWorkerRealm, open, silentLogger } from "temporalex";
import * as activities from "../app/activities.ts";
import { addItem, cart, checkout } from "../app/workflows.ts";

// Without an entry no file can be started, and the error says what to do.
const refusal = await createWorkerRealm({ workflows: "x.ts", sources: { "x.ts": "export {};" } })
  .then(
    () => "",
    (e: Error) => e.message,
  );
const app = await open({
  activities,
  logger: silentLogger,
  worker: { realmEntry: new URL("./realm.js", import.meta.url) },
});
const handle = await app.client.start(cart, { id: "cart", args: ["ada"] });
const counts = [await handle.update(addItem, "tea"), await handle.update(addItem, "milk")];
await handle.signal(checkout);
const result = await handle.result();
await app.close();
console.log(JSON.stringify({ counts, result, refusal }));
