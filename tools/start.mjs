#!/usr/bin/env node
// `npm start`: installs what is missing, strips the types into dist/, runs examples/start.
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { ensureInstalled, root } from "./lib/steps.mjs";

ensureInstalled();
const { buildDist } = await import("./build_dist.mjs");
buildDist();
await import(pathToFileURL(join(root, "dist/examples/start/main.js")).href);
