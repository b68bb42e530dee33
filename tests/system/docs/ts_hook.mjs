// Lets this Node load TypeScript as newer ones do by themselves: types are stripped, nothing is
// checked. For the documentation's projects.
import { createRequire, register } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";

// A module that is loaded before the loader is registered does not pass through the loader's
// thread: half the time for this package.
if (isMainThread) {
  const { resolve } = createRequire(join(process.cwd(), "project.js"));
  await import(pathToFileURL(resolve("temporalex")).href);
}
register("./ts_loader.mjs", import.meta.url);
