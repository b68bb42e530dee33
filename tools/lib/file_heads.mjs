// The comment at the head of a file, in which test files state their time, runtime and process.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { root } from "./steps.mjs";

/** `file` is a path from the root of the checkout, or an absolute one. */
export const head = (file) =>
  /^(?:\/\/.*\n)*/.exec(readFileSync(resolve(root, file), "utf8"))?.[0] ?? "";
