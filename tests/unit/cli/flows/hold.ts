// A process that holds a store with a worker: writes where it is served, and ends by SIGTERM.
import process from "node:process";
import { open } from "../../../../ts/mod.ts";
import * as activities from "./activities.ts";

const [, , path, umask] = process.argv;
if (umask !== undefined) process.umask(Number(umask));
const app = await open({
  path: path!,
  workflows: new URL("./workflows.ts", import.meta.url),
  activities,
});
// Before the signal that allows it to be ended.
process.on("SIGTERM", () => void app.close().then(() => process.exit(0)));
console.log(`served ${await app.served}`);
