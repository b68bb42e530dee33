// runtime: node
// A page in a browser with temporalex/slim: each half of the core comes from the page's own origin,
// once, for the page, its engine and its realm; no loaded script contains the core; and the
// strictest policy that WebAssembly allows is enough. A realm there has native workflows of its
// entry and programs of `@temporalio/workflow` that the page posts.
// takes: 5 s
import assert from "node:assert/strict";
import { test } from "node:test";
import { inPage } from "./page_support.ts";

const PAGE = `
  import { open, useCore } from "temporalex/slim";
  useCore({ worker: "/worker.wasm", engine: "/engine.wasm" });
  globalThis.answer = (async () => {
    const app = await open({
      worker: { realmEntry: "/realm.js" },
      activities: { reserve: async (item) => "reserved " + item, charge: async () => "charged", ship: async () => "shipped" },
    });
    const handle = await app.client.start("Greeting", { id: "greeting-1", args: ["Ada"] });
    const result = await handle.result();
    await app.close();
    return result;
  })();
`;
const REALM = `
  import { serveRealm } from "temporalex/realm";
  import { activities, workflow } from "temporalex/workflow";
  const { reserve } = activities({ startToClose: "1 minute" });
  serveRealm({ greeting: workflow("Greeting", async (name) => "Hello " + name + ", " + await reserve("a seat")) });
`;

test(
  "a page fetches the core from its own origin and needs no unsafe-eval",
  { timeout: 240_000 },
  async (t) => {
    const page = await inPage({ page: PAGE, realm: REALM });
    if (page.reason !== undefined) return t.skip(page.reason);
    assert.equal(page.answer, "Hello Ada, reserved a seat", page.said.join("\n"));
    assert.deepEqual(page.asked.filter((path) => path.endsWith(".wasm")).sort(), [
      "/engine.wasm",
      "/worker.wasm",
    ]);
    assert.deepEqual([...new Set(page.asked.filter((path) => path.endsWith(".js")))].sort(), [
      "/page.js",
      "/realm.js",
    ]);
  },
);

// Workflow modules that are posted are evaluated from their text.
const EVALUATING =
  "default-src 'none'; script-src 'self' 'unsafe-eval'; connect-src 'self'; worker-src 'self'";
const TEMPORAL =
  `import { CancellationScope, proxyActivities, sleep, workflowInfo } from "@temporalio/workflow";
let calls = 0;
const { reserve } = proxyActivities({ startToCloseTimeout: "1 minute" });
export async function Temporal(name) {
  calls++;
  const scope = await CancellationScope.cancellable(async () => { await sleep(1); return CancellationScope.current() !== undefined; });
  return [workflowInfo().workflowType, name, calls, scope, await reserve("a seat")].join(" ");
}`;
const BOTH = PAGE.replace(
  `worker: {`,
  `workflows: "flows.js", worker: { sources: { "flows.js": ${JSON.stringify(TEMPORAL)} },`,
)
  .replace(
    `return result;`,
    `return [result, ...others];`,
  ).replace(
    `await app.close();`,
    `const others = [];
    for (const id of ["t-1", "t-2"]) others.push(await app.client.execute("Temporal", { id, args: [id] }));
    await app.close();`,
  );

test("a realm of a page runs native workflows and programs of @temporalio/workflow", {
  timeout: 240_000,
}, async (t) => {
  const page = await inPage({ page: BOTH, realm: REALM }, EVALUATING);
  if (page.reason !== undefined) return t.skip(page.reason);
  const each = (id: string) => `Temporal ${id} 1 true reserved a seat`;
  assert.deepEqual(
    page.answer,
    ["Hello Ada, reserved a seat", each("t-1"), each("t-2")],
    page.said.join("\n"),
  );
});
