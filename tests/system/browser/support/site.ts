// The test page, bundled with esbuild as an application would be, and served from a loopback port
// under a strict content security policy: no eval, no blob:, no inline script.
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

export const CSP =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'";
const TYPES: { [extension: string]: string } = { js: "text/javascript", wasm: "application/wasm" };

export interface Site {
  readonly url: string;
  /** The paths that were asked for. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/**
 * Bundles `entries` (name to source file, from the checkout's root) and serves them as /name.js
 * next to an empty page. `connect`: further origins to which the page may connect. `isolated`:
 * pages and workers may share memory.
 */
export async function serveSite(
  entries: { readonly [name: string]: string },
  connect = "",
  isolated = false,
): Promise<Site> {
  const { build } = await import("esbuild");
  const root = process.cwd();
  const dir = mkdtempSync(join(tmpdir(), "temporalex-site-"));
  await build({
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, file]) => [name, join(root, file)]),
    ),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    outdir: dir,
    absWorkingDir: root,
    alias: {
      "temporalex/workflow": join(root, "ts/workflow/mod.ts"),
      "temporalex/browser": join(root, "ts/browser/mod.ts"),
      "temporalex/realm": join(root, "ts/realm/mod.ts"),
    },
    logLevel: "error",
  });
  // esbuild does not resolve `new URL("sqlite3.wasm", import.meta.url)`, so the file is copied next
  // to the bundle.
  copyFileSync(
    join(root, "node_modules/@sqlite.org/sqlite-wasm/sqlite-wasm/jswasm/sqlite3.wasm"),
    join(dir, "sqlite3.wasm"),
  );
  const asked: string[] = [];
  const isolation = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  };
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    asked.push(path);
    const headers = {
      "content-security-policy": `${CSP} ${connect}`.trim(),
      "cache-control": "no-store",
      ...(isolated && isolation),
    };
    if (path === "/") {
      const html =
        '<!doctype html><meta charset=utf-8><title>tab</title><script type=module src="/page.js"></script>';
      return response.writeHead(200, { ...headers, "content-type": "text/html" }).end(html);
    }
    try {
      const file = readFileSync(join(dir, path.replace(/[^a-zA-Z0-9_.-]/g, "")));
      const type = TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream";
      response.writeHead(200, { ...headers, "content-type": type }).end(file);
    } catch {
      response.writeHead(404, headers).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export const SITE = {
  page: "tests/system/browser/app/page.ts",
  engine: "tests/system/browser/app/engine.ts",
  realm: "tests/system/browser/app/realm.ts",
  refusing: "tests/system/browser/app/engine_refusing.ts",
  newer: "tests/system/browser/app/newer.ts",
  vandal: "tests/system/browser/app/vandal.ts",
  contract: "tests/system/browser/app/contract.ts",
  game_engine: "tests/system/browser/app/game_engine.ts",
  coded_engine: "tests/system/browser/app/coded_engine.ts",
  game_realm: "tests/system/browser/app/game_realm.ts",
};
