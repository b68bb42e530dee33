// The loader behind ts_hook.mjs.
import { readFile } from "node:fs/promises";
import { transform } from "sucrase";

export async function load(url, context, next) {
  if (!url.startsWith("file:") || !/\.ts(\?|$)/.test(url)) return next(url, context);
  const source = await readFile(new URL(url), "utf8");
  const { code } = transform(source, {
    transforms: ["typescript"],
    disableESTransforms: true,
    preserveDynamicImport: true,
  });
  return { format: "module", source: code, shortCircuit: true };
}
