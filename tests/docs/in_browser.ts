// Runs a page's entry of the documentation in Chromium: its TypeScript files are bundled one by one, under their own names, and served.
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";

const root = process.cwd();

/** A browser, or why there is none. */
export async function browser(): Promise<{ browser?: Browser; reason?: string }> {
  const { launchChromium } = await import(pathToFileURL(join(root, "tools/lib/chromium.mjs")).href) as {
    launchChromium(): Promise<{ browser?: Browser; reason?: string }>;
  };
  return await launchChromium();
}

/** What the page has written to its console once it has as many lines as expected, or after two minutes. */
export async function runPage(browser: Browser, folder: string, entry: string, lines: number): Promise<string> {
  const { build } = await import("esbuild");
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const bundles = new Map<string, Uint8Array>();
  for (const name of files) {
    const { outputFiles } = await build({
      entryPoints: [join(folder, name)],
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      target: "es2022",
      logLevel: "silent",
      sourcemap: false,
    });
    bundles.set(`/${name}`, outputFiles[0]!.contents);
  }
  bundles.set("/sqlite3.wasm", readFileSync(join(root, "node_modules/@sqlite.org/sqlite-wasm/sqlite-wasm/jswasm/sqlite3.wasm")));
  const server = createServer((request, response) => {
    const path = new URL(request.url!, "http://localhost").pathname;
    const bytes = bundles.get(path);
    if (path === "/") {
      const html =
        `<!doctype html><title>snippet</title><link rel="icon" href="data:,"><script type="module" src="/${entry}"></script>`;
      return void response.writeHead(200, { "content-type": "text/html" }).end(html);
    }
    if (bytes === undefined) return void response.writeHead(404).end();
    const type = path.endsWith(".wasm") ? "application/wasm" : "text/javascript";
    response.writeHead(200, { "content-type": type }).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const page = await browser.newPage();
  const printed: string[] = [];
  try {
    const enough = new Promise<void>((resolve) => {
      const heard = (text: string) => {
        printed.push(text);
        if (printed.length >= lines) resolve();
      };
      page.on("console", (message) => void heard(message.text()));
      page.on("pageerror", (error) => void heard(`uncaught ${error.name}: ${error.message}`));
    });
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([enough, new Promise((resolve) => timer = setTimeout(resolve, 120_000))]);
    clearTimeout(timer);
  } finally {
    await page.close();
    server.closeAllConnections();
    server.close();
  }
  return printed.join("\n");
}
