// The two halves of the core: their build features, the exports of their glue, and their committed
// bytes.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Keyed by file name: `worker.wasm` and `engine.wasm`. */
export const HALVES = {
  worker: { feature: "replay", exported: "Run", what: "the worker's half" },
  engine: { feature: "engine", exported: "Engine", what: "the engine's half" },
};

/** The path of the TypeScript file with the bytes of a half. */
export const textOf = (root, half) => join(root, `ts/core/generated/${half}_wasm.ts`);

/** Decodes the committed bytes of a half. */
export function bytesOf(root, half) {
  const lines = readFileSync(textOf(root, half), "utf8").matchAll(/^ {2}"([A-Za-z0-9+/=]*)",$/gm);
  return Buffer.from([...lines].map((m) => m[1]).join(""), "base64");
}
