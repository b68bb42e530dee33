// A page and the entry of its realm, bundled and served with the two halves of the core, in
// Chromium.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = process.cwd();
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";

interface Launched {
  browser?: {
    newPage(): Promise<{
      on(
        event: "pageerror" | "console",
        listener: (value: { message?: string; text?(): string }) => void,
      ): void;
      goto(url: string): Promise<unknown>;
      evaluate<T>(body: string): Promise<T>;
    }>;
    close(): Promise<void>;
  };
  reason?: string;
}

/**
 * The value of the page's `globalThis.answer`, the requested paths, and the console output; or the
 * reason if no browser was found.
 */
export type PageAnswer =
  | {
    readonly answer: unknown;
    readonly asked: readonly string[];
    readonly said: readonly string[];
    readonly reason?: undefined;
  }
  | { readonly reason: string };

/**
 * Opens the page. `policy` is its Content-Security-Policy; by default the strictest one that
 * WebAssembly allows.
 */
export async function inPage(
  contents: { page: string; realm: string },
  policy = POLICY,
): Promise<PageAnswer> {
  const { launchChromium } = await import(
    pathToFileURL(join(root, "tools/lib/chromium.mjs")).href
  ) as {
    launchChromium(): Promise<Launched>;
  };
  const { browser, reason } = await launchChromium();
  if (browser === undefined) return { reason: reason! };
  const dir = mkdtempSync(join(tmpdir(), "temporalex-slim-"));
  const shared = {
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    logLevel: "error",
    alias: Object.fromEntries(
      ["slim", "realm", "workflow"].map((
        room,
      ) => [`temporalex/${room}`, join(root, `ts/${room}/mod.ts`)]),
    ),
  } as const;
  await build({
    ...shared,
    stdin: { contents: contents.page, resolveDir: root },
    outfile: join(dir, "page.js"),
  });
  await build({
    ...shared,
    stdin: { contents: contents.realm, resolveDir: root },
    outfile: join(dir, "realm.js"),
  });
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    const send = (type: string, body: Uint8Array | string) =>
      response.writeHead(200, { "content-type": type, "content-security-policy": policy }).end(
        body,
      );
    if (request.url === "/") {
      return send("text/html", `<!doctype html><script type="module" src="/page.js"></script>`);
    }
    if (/^\/(worker|engine)\.wasm$/.test(request.url!)) {
      return send("application/wasm", readFileSync(join(root, "dist/ts/core", request.url!)));
    }
    if (/^\/(page|realm)\.js$/.test(request.url!)) {
      return send("text/javascript", readFileSync(join(dir, request.url!)));
    }
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
    return { answer: await Promise.race([page.evaluate("globalThis.answer"), late]), asked, said };
  } finally {
    await browser.close();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
