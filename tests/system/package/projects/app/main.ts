// TypeScript as it is, for runtimes that take it: everything typed, a SQLite file.
import { open, silentLogger } from "temporalex";
import * as activities from "./activities.ts";
import { addItem, cart, checkout, status } from "./workflows.ts";

const app = await open({
  path: "typed.sqlite",
  workflows: new URL("./workflows.ts", import.meta.url),
  activities,
  logger: silentLogger,
});
const handle = await app.client.start(cart, { id: "cart", args: ["ada"] });
const counts: number[] = [
  await handle.update(addItem, "tea"),
  await handle.update(addItem, "milk"),
];
const seen: string = await handle.query(status);
await handle.signal(checkout);
const result: string = await handle.result();
await app.close();
console.log(JSON.stringify({ counts, status: seen, result }));
