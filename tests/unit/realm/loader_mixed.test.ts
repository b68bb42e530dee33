// JavaScript modules need no TypeScript compiler; if one of them imports TypeScript the loader
// loads it. A separate file, because a process loads the compiler once.
// process: own (sucrase is not loaded)
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadGraph } from "../../../ts/modules/loader/graph.ts";
import { mapSources } from "../../../ts/modules/loader/source_host.ts";
import { SucraseNotLoadedError } from "../../../ts/modules/loader/strip.ts";
import { loadSources } from "../../../ts/modules/sources.ts";

const sources = {
  "main.js":
    'import { workflow } from "temporalex/workflow"; import { n } from "./n.ts"; export default workflow("w", async () => n);',
  "n.ts": "export const n: number = 1;",
};

test("JavaScript that imports TypeScript is loaded", async () => {
  const provided = (module: string) => module === "workflow" ? ["workflow"] : [];
  assert.throws(
    () => loadGraph(["file:///main.js"], { host: mapSources(sources), provided }),
    SucraseNotLoadedError,
  );
  const { graph } = await loadSources({ workflows: "main.js", sources });
  assert.deepEqual(graph.modules.map(({ url }) => url), ["file:///main.js", "file:///n.ts"]);
  assert.match(graph.modules[1]!.code, /n *= 1/);
  assert.doesNotMatch(graph.modules[1]!.code, /: number/);
});
