// Builds the page's sandboxed frame. "virtual:sandbox" is the address of the worker's script, one
// file without imports, because nothing can be imported into an opaque origin. sandbox.html is
// written next to the page, with a separate policy and the frame's script, which is allowed by its
// hash.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { codecCsp, frameCsp } from "../csp.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const ID = "virtual:sandbox";
/**
 * The samples that a spare worker replays while it waits, as bytes of
 * temporal.api.history.v1.History in base64.
 */
const REHEARSAL = "virtual:rehearsal";
const REHEARSED = [
  "counter",
  "shopping_cart",
  "inventory",
  "batch_process",
  "event_collector",
  "onboarding",
  "order_processing",
];

const rehearsal = {
  name: "rehearsal",
  resolveId: (id) => id === REHEARSAL ? `\0${REHEARSAL}` : undefined,
  async load(id) {
    if (id !== `\0${REHEARSAL}`) return undefined;
    const { readHistoryFile } = await import("../../dist/ts/history_files/history_file.js");
    const bytes = await Promise.all(
      REHEARSED.map(async (name) =>
        (await readHistoryFile(readFileSync(here(`../samples/${name}.json`)))).bytes
      ),
    );
    return `export default ${
      JSON.stringify(bytes.map((each) => Buffer.from(each).toString("base64")))
    };`;
  },
};

/** One script from an entry and all that it imports. */
async function script(entry) {
  const [{ output }] = [
    await build({
      configFile: false,
      logLevel: "error",
      root: here(".."),
      // A script has no import.meta: its frames in stack traces have the address of the blob.
      // The samples' code is of the same modules as the realm.
      resolve: { alias: { "temporalex/workflow": here("../../ts/workflow/mod.ts") } },
      plugins: [rehearsal],
      define: { "import.meta.url": "self.location.href" },
      build: {
        write: false,
        target: "es2022",
        lib: {
          entry: here(`../src/${entry}.ts`),
          formats: ["iife"],
          name: "sandbox",
          fileName: "script",
        },
        rolldownOptions: { output: { codeSplitting: false } },
      },
    }),
  ].flat();
  return output[0].code.trim();
}

/** A document whose one script is allowed by its hash. */
const documentOf = (title, text, csp) =>
  `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${
    csp(createHash("sha256").update(text).digest("base64"))
  }">
    <title>${title}</title>
    <script>${text}</script>
  </head>
</html>
`;

/** The plugin. */
export function sandbox() {
  let made;
  const frame = () => made ??= script("realm/frame/frame_main");
  return {
    name: "sandbox",
    resolveId: (id) => id === ID ? `\0${ID}` : undefined,
    async load(id) {
      if (id !== `\0${ID}`) return undefined;
      const file = this.emitFile({
        type: "asset",
        name: "sandbox_worker.js",
        source: await script("realm/frame/worker_main"),
      });
      const codec = this.emitFile({
        type: "asset",
        name: "sandbox_codec.js",
        source: await script("codec/sandbox/worker_main"),
      });
      const version = createHash("sha256").update(await frame()).digest("hex").slice(0, 16);
      return [
        `export default import.meta.ROLLUP_FILE_URL_${file};`,
        `export const codecScriptUrl = import.meta.ROLLUP_FILE_URL_${codec};`,
        `export const frameUrl = "sandbox.html?v=${version}";`,
      ].join("\n");
    },
    async generateBundle() {
      const documents = [
        ["sandbox.html", "Workflow code", await frame(), frameCsp],
        ["codec.html", "Codec endpoint", await script("codec/frame/codec_main"), codecCsp],
      ];
      for (const [fileName, title, text, csp] of documents) {
        this.emitFile({ type: "asset", fileName, source: documentOf(title, text, csp) });
      }
    },
  };
}
