#!/usr/bin/env node
// `npm start` and `npm run example`: installs what is missing, strips the types into dist/, runs
// examples/start or examples/main.
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { leaveWithParent } from "./lib/leave.mjs";
import { ensureInstalled, root } from "./lib/steps.mjs";

leaveWithParent();
ensureInstalled();
const { buildDist } = await import("./build_dist.mjs");
buildDist();
const examples = process.argv.indexOf("--examples");
if (examples >= 0) process.argv.splice(examples, 1);
await import(
  pathToFileURL(join(root, examples >= 0 ? "dist/examples/main.js" : "dist/examples/start/main.js"))
    .href
);
