// A codec module that is pasted or dropped: the page shows it and runs it after a click, in a
// sandboxed worker without network and storage. All views and replays use the decoded values.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { codecModule, encryptedRun, encryptedTimerRun } from "./support/encrypted.ts";
import { type App, expect, test } from "./support/story.ts";

const vault = (name = "vault.json") => ({ name, content: encryptedRun("right") });
const form = (app: App) => app.page.locator("#pasted-codec");
const said = (app: App) => app.page.locator("#pasted-said");

async function openWith(app: App, text: string): Promise<void> {
  await app.start();
  await app.drop([vault()]);
  await app.page.locator("#decode").click();
  await form(app).locator("textarea").fill(text);
}
/** Opens the view of the code, then runs it. */
async function runIt(app: App): Promise<void> {
  await expect(app.page.locator("#run-codec")).toHaveText("Show what will run");
  await app.page.locator("#run-codec").click();
  await expect(app.page.locator("#run-codec")).toHaveText("Run and decode");
  await app.page.locator("#run-codec").click();
}

test("a pasted Temporal codec is shown, runs after a click, and decodes all views; saved files stay encoded", async ({ app }) => {
  const { page } = app;
  await openWith(app, codecModule("right"));
  await expect(page.locator("iframe[title='Workflow code']")).toHaveCount(0);
  await page.locator("#run-codec").click();
  await expect(page.getByLabel("What will run")).toContainText("METADATA_ENCODING_KEY");
  await expect(form(app)).toContainText("without access to the network, storage or this page");
  // Edited code is new code: the page shows it before it runs.
  await form(app).locator("textarea").press("End");
  await form(app).locator("textarea").pressSequentially("// again");
  await runIt(app);
  await expect(said(app)).toHaveText("2 values decoded.");
  await form(app).getByRole("button", { name: "Close" }).click();
  await expect(page.locator("iframe[title='Workflow code']")).toHaveCount(0);
  await expect(page.locator(".of-events")).toContainText("the left one");
  await page.locator("#go-start").click();
  await expect(page.locator("#thing")).toContainText("the combination is 4711");
  await page.locator("#share").click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#save-as-is").click(),
  ]);
  const parts: Buffer[] = [];
  for await (const part of await download.createReadStream()) parts.push(part as Buffer);
  expect(Buffer.concat(parts).toString()).not.toContain(btoa('{"door":"the left one"}'));
  await page.keyboard.press("Escape");
  await page.reload();
  await expect(page.locator("#decode")).toHaveText("Decode");
  await expect(page.locator("body")).not.toContainText("4711");
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).not
    .toContain(
      "METADATA_ENCODING_KEY",
    );
});

test("a dropped codec opens the dialog and decodes all open runs; code replays the decoded values", async ({ app }) => {
  const { page } = app;
  await app.start();
  await app.drop(
    ["vault-1", "vault-2"].map((id) => ({
      name: `${id}.json`,
      content: encryptedTimerRun("right", id),
    })),
  );
  await app.drop([{
    name: "vault.ts",
    content: `import { sleep, workflow } from "temporalex/workflow";
export const vault = workflow("Vault", async (combination: string) => {
  if (combination === "the combination is 4711") await sleep("1h");
});`,
  }]);
  await page.getByRole("button", { name: "Show what will run" }).click();
  await page.getByRole("button", { name: "Run code", exact: true }).click();
  await app.drop([{ name: "codec.ts", content: codecModule("right") }]);
  await expect(page.locator("#codec-dialog")).toBeVisible();
  await page.locator("#run-codec").click();
  await form(app).locator("[name=all]").check();
  await page.locator("#run-codec").click();
  await expect(said(app)).toHaveText("2 values decoded in 2 runs.");
  await form(app).getByRole("button", { name: "Close" }).click();
  await expect(page.locator("#decode")).toHaveText("Decoded");
  await expect(page.locator("#verdict")).toHaveText(/Replays/);
  await expect(page.locator(".of-code")).toContainText("the combination is 4711");
});

test("codec errors are reported with file and line: syntax, imports, a missing codec, a wrong key, a wrong result", async ({ app }) => {
  await openWith(app, "export default { decode( }");
  await runIt(app);
  await expect(said(app)).toContainText(/SyntaxError.*\(1:\d+\)/);
  const tryText = async (text: string, wanted: RegExp) => {
    await form(app).locator("textarea").fill(text);
    await runIt(app);
    await expect(said(app)).toHaveText(wanted);
  };
  await tryText(
    `\nimport { gunzipSync } from "node:zlib";\nexport default { decode: gunzipSync, encode() {} };`,
    /line 2: cannot import "node:zlib"; .*DecompressionStream/,
  );
  await tryText(`export const encode = 1, decode = 2;`, /does not export a codec/);
  await tryText(
    `export default { encode() {}, async decode(p) { return Buffer.from(p); } };`,
    /ReferenceError: Buffer is not defined; the codec runs in a browser/,
  );
  await tryText(
    codecModule("wrong"),
    /^event 1 \(WorkflowExecutionStarted\), input: OperationError/,
  );
  await tryText(
    `export default { encode() {}, async decode(all) { return all.map((p) => { if (p.data.length < 60) throw new RangeError("too short"); return p; }); } };`,
    /^(?:event \d+ \(\w+\), input(?:, encoded value \d of \d)?: RangeError: too short|no value was decoded)/,
  );
  await tryText(
    `export default { encode() {}, decode: async () => [] };`,
    /TypeError: decode returned 0 payloads, expected \d/,
  );
  await tryText(
    `export default { encode() {}, decode: async (all) => all };`,
    /no value was decoded; 2 values still have the encoding binary\/encrypted/,
  );
});

test("a hostile codec cannot reach network, storage or page, and Stop ends it", async ({ app, watch }) => {
  const { page } = app;
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? "");
    response.writeHead(200, { "access-control-allow-origin": "*" }).end("");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const there = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    await openWith(
      app,
      `const results = {};
for (const [name, attempt] of Object.entries({
  fetch: () => fetch("${there}fetch"),
  own: () => fetch("${app.url}"),
  beacon: () => { if (!navigator.sendBeacon) throw 1; navigator.sendBeacon("${there}b"); },
  socket: () => new Promise((y, n) => { const w = new WebSocket("${
        there.replace("http", "ws")
      }"); w.onopen = y; w.onerror = n; }),
  scripts: () => importScripts("${there}s.js"),
  module: () => import("${there}m.js"),
  storage: () => localStorage.getItem("x"),
  database: () => new Promise((y, n) => { const r = indexedDB.open("temporalex-debugger"); r.onsuccess = y; r.onerror = n; }),
  files: () => navigator.storage.getDirectory(),
  caches: () => caches.open("x"),
  page: () => parent.document.title,
})) {
  try { await attempt(); results[name] = "reached"; } catch { results[name] = "refused"; }
}
export default { encode() {}, async decode() { throw new Error(JSON.stringify(results)); } };`,
    );
    await runIt(app);
    await expect(said(app)).toContainText('"fetch":"refused"');
    expect(await said(app).innerText()).not.toContain("reached");
    expect(hits).toEqual([]);
    watch.taken();
    const hang = async (text: string) => {
      await form(app).locator("textarea").fill(text);
      await runIt(app);
      await expect(page.locator("#stop-codec")).toBeVisible();
      await page.waitForTimeout(500);
      await page.locator("#stop-codec").click();
      await expect(said(app)).toHaveText("the codec was stopped");
      await expect(page.locator("iframe[title='Workflow code']")).toHaveCount(0);
    };
    await hang(`export default { encode() {}, decode() { for (;;); } };`);
    await hang(`for (;;);`);
    await hang(`export default { encode() {}, decode: () => new Promise(() => {}) };`);
    // Modules that flood the page or return oversized results are terminated automatically.
    await form(app).locator("textarea").fill(
      `export default { encode() {}, decode() { for (;;) postMessage({ t: "decoded", id: 99, payloads: [] }); } };`,
    );
    await runIt(app);
    await expect(said(app)).toHaveText(
      /the codec was terminated: (?:the worker sent more than 50000 messages in a second|decoding took longer)/,
      {
        timeout: 40_000,
      },
    );
    await form(app).locator("textarea").fill(
      `export default { encode() {}, decode() { postMessage({ t: "decoded", id: 1, payloads: [{ metadata: { __proto__: null }, data: document }] }); } };`,
    );
    await runIt(app);
    await expect(said(app)).toContainText("document is not defined");
    await form(app).locator("textarea").fill(
      `export default { encode() {}, async decode() { postMessage({ t: "loaded", more: new Map([[1, new Date()]]) }); } };`,
    );
    await runIt(app);
    await expect(said(app)).toContainText("the worker sent an invalid message");
  } finally {
    server.close();
    server.closeAllConnections();
  }
  watch.taken();
});
