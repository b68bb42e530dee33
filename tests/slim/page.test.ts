// runtime: node
// A page in a browser with temporalex/slim: each half of the core comes from the page's own origin, once, for the page, its engine and its realm; no
// script that was loaded holds the core; and the strictest policy that WebAssembly allows is enough.
// takes: 3 s
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = process.cwd();
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";

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

interface Launched {
  browser?: {
    newPage(): Promise<{
      on(event: "pageerror" | "console", listener: (value: { message?: string; text?(): string }) => void): void;
      goto(url: string): Promise<unknown>;
      evaluate<T>(body: string): Promise<T>;
    }>;
    close(): Promise<void>;
  };
  reason?: string;
}

test("a page fetches the core from its own origin and needs no unsafe-eval", { timeout: 240_000 }, async (t) => {
  const { launchChromium } = await import(pathToFileURL(join(root, "tools/lib/chromium.mjs")).href) as {
    launchChromium(): Promise<Launched>;
  };
  const { browser, reason } = await launchChromium();
  if (browser === undefined) return t.skip(reason!);
  const dir = mkdtempSync(join(tmpdir(), "temporalex-slim-"));
  const shared = {
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    logLevel: "error",
    alias: Object.fromEntries(
      ["slim", "realm", "workflow"].map((room) => [`temporalex/${room}`, join(root, `ts/${room}/mod.ts`)]),
    ),
  } as const;
  await build({ ...shared, stdin: { contents: PAGE, resolveDir: root }, outfile: join(dir, "page.js") });
  await build({ ...shared, stdin: { contents: REALM, resolveDir: root }, outfile: join(dir, "realm.js") });
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    const send = (type: string, body: Uint8Array | string) =>
      response.writeHead(200, { "content-type": type, "content-security-policy": POLICY }).end(body);
    if (request.url === "/") return send("text/html", `<!doctype html><script type="module" src="/page.js"></script>`);
    if (/^\/(worker|engine)\.wasm$/.test(request.url!)) {
      return send("application/wasm", readFileSync(join(root, "dist/ts/core", request.url!)));
    }
    if (/^\/(page|realm)\.js$/.test(request.url!)) return send("text/javascript", readFileSync(join(dir, request.url!)));
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const page = await browser.newPage();
    const said: string[] = [];
    page.on("pageerror", (e) => said.push(String(e.message)));
    page.on("console", (e) => said.push(e.text!()));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const late = new Promise((_, reject) =>
      setTimeout(() => reject(new Error(`no answer; said: ${said.join("\n")}`)), 180_000).unref()
    );
    assert.equal(await Promise.race([page.evaluate("globalThis.answer"), late]), "Hello Ada, reserved a seat", said.join("\n"));
    assert.deepEqual(asked.filter((path) => path.endsWith(".wasm")).sort(), ["/engine.wasm", "/worker.wasm"]);
    assert.deepEqual([...new Set(asked.filter((path) => path.endsWith(".js")))].sort(), ["/page.js", "/realm.js"]);
  } finally {
    await browser.close();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
