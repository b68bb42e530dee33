// Lets this Node load TypeScript as newer ones do by themselves: types are stripped, nothing is
// checked. For the documentation's projects.
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

// A module that is loaded before the loader is registered does not pass through the loader's
// thread: half the time for this package.
if (isMainThread) await import("../../../dist/ts/mod.js");
register("./ts_loader.mjs", import.meta.url);
