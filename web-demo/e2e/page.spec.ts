// The page as a whole: the files that it loads, the data that it stores, its content security
// policy, its server.
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, serveDemo, test } from "./support/story.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const { CSP } = await import(pathToFileURL(here("../csp.mjs")).href) as { readonly CSP: string };

test("the page stores no data and loads no engine, SQLite or editor before they are needed", async ({ app, site, watch }) => {
  await app.start();
  await expect(app.page.locator("#position")).toHaveText(/^Event \d+ of 41/);
  // The browser does not report the end of every request of a worker, so the list is polled until
  // it no longer changes.
  let seen = -1;
  await expect.poll(() => seen === (seen = watch.requests.length), { intervals: [1000] }).toBe(
    true,
  );
  const loaded = watch.requests.map((url) => url.slice(site.url.length));
  expect(loaded.filter((file) => /sqlite|engine|codemirror/.test(file))).toEqual([]);
  const kept = await app.page.evaluate(async () => {
    const names: string[] = [];
    const folder = await navigator.storage.getDirectory() as unknown as {
      entries(): AsyncIterable<[string]>;
    };
    for await (const [name] of folder.entries()) names.push(name);
    return [
      ...names,
      ...Object.keys(localStorage),
      ...(await indexedDB.databases()).map(({ name }) => name),
    ];
  });
  expect(kept).toEqual([]);
});

test("the first load of the page is at most 300 KiB gzipped", () => {
  const html = readFileSync(here("../dist/index.html"), "utf8");
  const files = new Set(
    [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map((m) => m[1]!),
  );
  for (const file of files) {
    if (!file.endsWith(".js")) continue;
    const text = readFileSync(here(`../dist/${file}`), "utf8");
    for (const m of text.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)) {
      files.add(`assets/${m[1]!}`);
    }
  }
  const bytes = [...files].reduce(
    (sum, file) => sum + gzipSync(readFileSync(here(`../dist/${file}`)), { level: 9 }).length,
    0,
  );
  expect(bytes / 1024).toBeGreaterThan(20);
  expect(bytes / 1024).toBeLessThan(300);
});

test("the policy is set by meta tag and by header, and the page works without the header", async ({ page, site }) => {
  const bare = await serveDemo({ headers: false, path: "/" });
  try {
    const { headers } = await fetch(site.url);
    expect(headers.get("content-security-policy")).toBe(`${CSP}; frame-ancestors 'none'`);
    for (
      const part of [
        /default-src 'none'/,
        /script-src 'self' 'wasm-unsafe-eval'(;|$)/,
        /connect-src 'self'(;|$)/,
        /style-src 'self'(;|$)/,
      ]
    ) {
      expect(CSP).toMatch(part);
    }
    expect(CSP).not.toMatch(/'unsafe-(eval|inline)'|blob:|https?:/);
    expect((await fetch(bare.url)).headers.get("content-security-policy")).toBe(null);
    const breaches: string[] = [];
    await page.exposeFunction("tellBreach", (text: string) => void breaches.push(text));
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (e) => {
        (globalThis as unknown as { tellBreach(text: string): void }).tellBreach(
          e.effectiveDirective,
        );
      });
    });
    await page.goto(`${bare.url}#/open?run=sample:counter`);
    await expect(page.locator("meta[http-equiv=Content-Security-Policy]")).toHaveAttribute(
      "content",
      CSP,
    );
    await expect(page.locator("#verdict")).toHaveText(/Replays/);
    expect(breaches).toEqual([]);
    // The policy is in force: it blocks a request, and the test observes the violation.
    const refused = await page.evaluate(async () => {
      // In a later task: code that a driver evaluates is exempt from the policy while it runs.
      const evaluates = await new Promise((resolve) =>
        setTimeout(() => {
          try {
            resolve(Boolean(Function("return 1")()));
          } catch {
            resolve(false);
          }
        })
      );
      const inline = document.createElement("script");
      inline.textContent = "globalThis.inlined = true";
      document.body.append(inline);
      const away = await fetch("https://example.invalid/").then(() => "sent", () => "refused");
      return { evaluates, inlined: (globalThis as { inlined?: boolean }).inlined === true, away };
    });
    expect(refused).toEqual({ evaluates: false, inlined: false, away: "refused" });
    await expect.poll(() => [...new Set(breaches)].sort()).toEqual([
      "connect-src",
      "script-src",
      "script-src-elem",
    ]);
  } finally {
    await bare.close();
  }
});

test("the server accepts loopback host names only and serves only the page's folder", async ({ site }) => {
  const { port, pathname } = new URL(site.url);
  const ask = (path: string, headers = {}, method = "GET") =>
    new Promise<number>((resolve, reject) =>
      request({ host: "127.0.0.1", port, path, headers, method }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      }).on("error", reject).end()
    );
  expect(await ask(pathname)).toBe(200);
  expect(await ask(pathname, { host: "evil.example" })).toBe(403);
  expect(await ask(pathname, {}, "POST")).toBe(405);
  expect(await ask("/")).toBe(404);
  const outside = [
    "../package.json",
    "..%2f..%2fpackage.json",
    "%2e%2e/%2e%2e/package.json",
    "assets/..%5c..%5c..%5cpackage.json",
    "assets",
    "%zz",
  ];
  for (const path of outside) expect(await ask(`${pathname}${path}`), path).not.toBe(200);
});

test("the browser caches files that have a hash in their name; the server is asked for others", async ({ site }) => {
  const html = await (await fetch(site.url)).text();
  const [script] = /assets\/index-[^"]+\.js/.exec(html)!;
  const caching = async (path: string) =>
    (await fetch(`${site.url}${path}`)).headers.get("cache-control");
  expect(await caching(script)).toBe("max-age=31536000, immutable");
  for (const path of ["", "sw.js", "sandbox.html", "assets/index-AAAAAAAA.js"]) {
    expect(await caching(path), path).toBe("no-cache");
  }
});

test("Runs on a static page shows the commands to start a server, and a button copies them", async ({ app }) => {
  await app.start("#/runs");
  const { page } = app;
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy npx temporalex ui --store shop.sqlite" }).click();
  await expect(page.getByRole("button", { name: "Copy npx temporalex ui --store" })).toHaveText(
    "Copied",
  );
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    "npx temporalex ui --store shop.sqlite",
  );
  await page.getByRole("main").getByRole("link", { name: "Live" }).click();
  await expect(page).toHaveURL(/#\/live$/);
});
