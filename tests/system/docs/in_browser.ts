// Runs a page's entry of the documentation in Chromium: it, and the workers that it and they name,
// are bundled, each under its own name, and served. `?raw` gives a file's text, as with Vite, and
// the package's plugin resolves imports of `@temporalio`.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";
import type { Browser } from "playwright-core";
import { esbuildPlugin } from "../../../ts/compat/plugin/mod.ts";

const root = process.cwd();

/** A page that has not printed everything by then prints no more. */
const LINES_MS = 60_000;
/** On a busy machine a new browser may never open its page: another one is started. */
const ATTEMPT_MS = 120_000;

async function launch(): Promise<{ browser?: Browser; reason?: string }> {
  const { launchChromium } = await import(
    pathToFileURL(join(root, "tools/lib/chromium.mjs")).href
  ) as {
    launchChromium(): Promise<{ browser?: Browser; reason?: string }>;
  };
  return await launchChromium();
}

const raw: Plugin = {
  name: "raw",
  setup(build) {
    build.onResolve(
      { filter: /\?raw$/ },
      ({ path, resolveDir }) => ({ path: join(resolveDir, path.slice(0, -4)), namespace: "raw" }),
    );
    build.onLoad(
      { filter: /./, namespace: "raw" },
      ({ path }) => ({ contents: readFileSync(path, "utf8"), loader: "text" }),
    );
  },
};

/** The bundles of an entry and of the files that `new URL` names, by their addresses. */
async function bundlesOf(folder: string, entry: string): Promise<Map<string, Uint8Array>> {
  const { build } = await import("esbuild");
  const bundles = new Map<string, Uint8Array>();
  const names = new Set([entry]);
  for (const name of names) {
    const { outputFiles } = await build({
      entryPoints: [join(folder, name)],
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
      target: "es2022",
      logLevel: "silent",
      sourcemap: false,
      plugins: [raw, esbuildPlugin()],
    });
    bundles.set(`/${name}`, outputFiles[0]!.contents);
    for (
      const [, named] of readFileSync(join(folder, name), "utf8").matchAll(
        /new URL\("\.\/([^"]+\.ts)", import\.meta\.url\)/g,
      )
    ) {
      names.add(named!);
    }
  }
  return bundles;
}

/**
 * What a page has written to its console once it has as many lines as expected, or after a minute;
 * or why no browser starts.
 */
export async function runInBrowser(
  folder: string,
  entry: string,
  lines: number,
): Promise<{ printed: string } | { reason: string | undefined }> {
  for (let again = false;; again = true) {
    const { browser, reason } = await launch();
    if (browser === undefined) return { reason };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) =>
      timer = setTimeout(() => resolve(undefined), ATTEMPT_MS)
    );
    try {
      const printed = await Promise.race([runPage(browser, folder, entry, lines), late]);
      if (printed !== undefined) return { printed };
      if (again) throw new Error(`two browsers did not open ${entry}`);
    } finally {
      clearTimeout(timer);
      // Not awaited: a browser that hangs does not close either.
      void browser.close().catch(() => {});
    }
  }
}

async function runPage(
  browser: Browser,
  folder: string,
  entry: string,
  lines: number,
): Promise<string> {
  const bundles = await bundlesOf(folder, entry);
  bundles.set(
    "/sqlite3.wasm",
    readFileSync(
      join(root, "node_modules/@sqlite.org/sqlite-wasm/sqlite-wasm/jswasm/sqlite3.wasm"),
    ),
  );
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
    await Promise.race([enough, new Promise((resolve) => timer = setTimeout(resolve, LINES_MS))]);
    clearTimeout(timer);
  } finally {
    await page.close();
    server.closeAllConnections();
    server.close();
  }
  return printed.join("\n");
}
