// Plain JavaScript on Node: a SQLite file, workflows in TypeScript, activities of a thread.
import { writeFile } from "node:fs/promises";
import * as temporalex from "temporalex";
import { runCart } from "./run.mjs";

const { open, silentLogger } = temporalex;
const charge = (customer, items) => Promise.resolve(`${customer} pays for ${items.join(" and ")}`);
const workflows = new URL("./workflows.ts", import.meta.url);
const cart = await runCart(
  temporalex,
  { path: "main.sqlite", workflows, activities: { charge } },
  (json) => writeFile("history.json", json),
);

const app = await open({
  workflows: [workflows, new URL("./packaged.ts", import.meta.url)],
  worker: { activityThreads: { module: new URL("./threaded.mjs", import.meta.url), size: 1 } },
  logger: silentLogger,
});
const computed = await app.client.execute("Computed", { id: "computed", args: [20] });
const packaged = await app.client.execute("Packaged", { id: "packaged" });
await app.close();
console.log(JSON.stringify({ cart, computed, packaged }));
