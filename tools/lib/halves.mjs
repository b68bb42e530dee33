// The two halves of the core, as tools need them: how each is built, what its glue exports, and its bytes as they are committed.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** By the name of its file: `worker.wasm` and `engine.wasm`. */
export const HALVES = {
  worker: { feature: "replay", exported: "Run", what: "the worker's half" },
  engine: { feature: "engine", exported: "Engine", what: "the engine's half" },
};

/** Where the text of a half lies in the checkout. */
export const textOf = (root, half) => join(root, `ts/core/generated/${half}_wasm.ts`);

/** The bytes of a half, from the text in which they are committed. */
export function bytesOf(root, half) {
  const lines = readFileSync(textOf(root, half), "utf8").matchAll(/^ {2}"([A-Za-z0-9+/=]*)",$/gm);
  return Buffer.from([...lines].map((m) => m[1]).join(""), "base64");
}
