// Builds the page. It takes the package's sources as they are (no build step before it but
// dist/ts/core/*.wasm, which tools/demo.mjs makes), works from any path of any server (`base:
// "./"`), and keeps source maps, with which the debugger shows lines of the examples.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { CSP, headersOf } from "./csp.mjs";
import { sandbox } from "./tools/sandbox.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const rooms = [
  "workflow",
  "client",
  "activity",
  "worker",
  "realm",
  "engine",
  "testing",
  "core",
  "slim",
  "debug",
  "browser",
];

export default defineConfig({
  root: here("."),
  base: "./",
  resolve: {
    alias: [
      ...["worker.wasm", "engine.wasm"].map((file) => ({
        find: `temporalex/${file}`,
        replacement: here(`../dist/ts/core/${file}`),
      })),
      ...rooms.map((room) => ({
        find: `temporalex/${room}`,
        replacement: here(`../ts/${room}/mod.ts`),
      })),
      { find: /^temporalex$/, replacement: here("../ts/mod.ts") },
    ],
  },
  plugins: [sandbox(), {
    name: "csp",
    configurePreviewServer: ({ middlewares }) => {
      middlewares.use((request, response, next) => {
        for (const [name, value] of Object.entries(headersOf(request.url.split("?")[0]))) {
          response.setHeader(name, value);
        }
        next();
      });
    },
    // Vite's own server for developing injects code that the policy forbids.
    transformIndexHtml: (html, { server }) =>
      server === undefined ? html.replace("%CSP%", CSP) : html.replace(/.*%CSP%.*\n/, ""),
  }],
  worker: { format: "es" },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: here("dist"),
    emptyOutDir: true,
    target: "es2022",
    sourcemap: true,
    // Data URLs would need more of the policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
    reportCompressedSize: false,
    // What a part of the page does not use of "temporalex/debug" (what explains divergences, for
    // one) is not loaded with it.
    rolldownOptions: {
      treeshake: { moduleSideEffects: [{ test: /\/ts\/debug\//, sideEffects: false }] },
    },
  },
  server: { host: "127.0.0.1" },
  preview: { host: "127.0.0.1" },
});
