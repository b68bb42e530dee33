#!/usr/bin/env node
// `npm run demo`: builds the page of web-demo/ and serves it on loopback, with the headers that it
// should be served with anywhere.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { readCommandLine } from "./lib/command_line.mjs";
import { leaveWithParent } from "./lib/leave.mjs";
import { portOf } from "./lib/serve.mjs";
import { ensureInstalled, root, say } from "./lib/steps.mjs";

const HELP = `usage: npm run demo [-- --port=N] [--path=/sub/] [--no-build] [--build-only]

Builds web-demo/ into web-demo/dist, prints the size of its parts, serves it on 127.0.0.1 until Ctrl-C and prints the URL.

--port=N       port; 0: any free port (default)
--path=/sub/   path of the page (default: /)
--no-build     serve the page as it was built before
--build-only   build the page without serving it`;

export const dist = join(root, "web-demo/dist");
/**
 * Limit in KiB after gzip of the page's first load: its code and worker.wasm. What is loaded on
 * demand is printed with it.
 */
const BUDGET_KIB = 300;

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".map": "application/json",
  ".wasm": "application/wasm",
};

/** Builds the page. Returns lines with its size; throws when the first load is over the budget. */
export async function buildDemo() {
  const { buildDist } = await import("./build_dist.mjs");
  buildDist();
  const { build } = await import("vite");
  await build({ configFile: join(root, "web-demo/vite.config.mjs"), logLevel: "error" });
  const { writeServiceWorker } = await import("../web-demo/tools/service_worker.mjs");
  writeServiceWorker(dist, UNUSED);
  return sizes();
}

/**
 * Bundled because a bundler follows every address in the package, and never fetched by this page:
 * it says where core and code are.
 */
const UNUSED =
  /^(worker_wasm|engine_wasm|sqlite3-worker1|sqlite3-opfs|__vite|worker_entry|activity_thread)/;

/** What the browser fetches: with the page, and when a part is opened. */
function sizes() {
  const files = readdirSync(join(dist, "assets")).filter((name) => !name.endsWith(".map"));
  const kib = (path) => gzipSync(readFileSync(join(dist, path)), { level: 9 }).length / 1024;
  const html = readFileSync(join(dist, "index.html"), "utf8");
  const atOnce = new Set([
    "index.html",
    ...[...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map((m) => m[1]),
  ]);
  for (const name of files) if (/^worker-.*\.wasm$/.test(name)) atOnce.add(`assets/${name}`);
  for (const name of [...atOnce]) if (name.endsWith(".js")) follow(name, atOnce);
  const rest = files.filter((name) => !atOnce.has(`assets/${name}`));
  const sized = (names) =>
    names.map((name) => [name, kib(`assets/${name}`)]).sort((a, b) => b[1] - a[1]);
  const first = [...atOnce].map((path) => ({ path: path.replace("assets/", ""), size: kib(path) }))
    .sort((a, b) => b.size - a.size).map(({ path, size }) => [path, size]);
  const later = sized(rest.filter((name) => !UNUSED.test(name)));
  const unused = sized(rest.filter((name) => UNUSED.test(name)));
  const sum = (list) => list.reduce((n, [, size]) => n + size, 0);
  const lines = (list) =>
    list.map(([name, size]) => `  ${name.padEnd(40)} ${size.toFixed(1).padStart(7)} KiB`);
  const report = [
    `first load: ${sum(first).toFixed(1)} KiB gzipped, worker.wasm included (budget ${BUDGET_KIB})`,
    ...lines(first),
    `when they are needed: ${sum(later).toFixed(1)} KiB`,
    ...lines(later),
    `never fetched by this page: ${sum(unused).toFixed(1)} KiB in ${unused.length} files`,
  ];
  if (sum(first) > BUDGET_KIB) {
    throw new Error(`the first load is over its budget\n${report.join("\n")}`);
  }
  return report;
}

const text = (asset) => readFileSync(join(dist, "assets", asset), "utf8");

/** Adds what a file imports statically. */
function follow(path, into) {
  for (
    const m of text(path.replace("assets/", "")).matchAll(
      /(?:from|import)\s*["']\.\/([^"']+\.js)["']/g,
    )
  ) {
    const next = `assets/${m[1]}`;
    if (into.has(next)) continue;
    into.add(next);
    follow(next, into);
  }
}

/**
 * Serves the built page. `path`: the folder of the site under which it lies. `headers: false` is a
 * server that knows nothing of it.
 */
export async function serveDemo({ port = 0, path = "/", headers = true } = {}) {
  const { headersOf } = await import("../web-demo/csp.mjs");
  const server = createServer((req, res) => {
    const send = (status, type, body, own = headersOf("")) => {
      // Files that have their version or hash in the address never change: they come from the
      // browser's cache, also without a network.
      const isFixed = /\?v=\w+$|\/assets\/[^/?]+-[\w-]{8}\.\w+$/.test(req.url ?? "");
      const caching = status === 200 && isFixed ? "max-age=31536000, immutable" : "no-cache";
      res.writeHead(status, {
        "content-type": type,
        "cache-control": caching,
        ...(headers ? own : {}),
      }).end(body);
    };
    const { host = "" } = req.headers;
    // A page of another site must not reach this server through a host name that resolves to it.
    if (!/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host)) {
      return send(403, "text/plain", "this server accepts loopback names only");
    }
    if (req.method !== "GET" && req.method !== "HEAD") return send(405, "text/plain", "GET only");
    let wanted;
    try {
      wanted = decodeURIComponent(new URL(req.url ?? "/", "http://localhost").pathname);
    } catch {
      return send(400, "text/plain", "invalid path");
    }
    if (!wanted.startsWith(path)) return send(404, "text/plain", `the page is at ${path}`);
    const file = normalize(join(dist, wanted.slice(path.length) || "index.html"));
    if (!file.startsWith(dist)) return send(404, "text/plain", "file not found");
    try {
      if (!statSync(file).isFile()) throw new Error("a folder");
      send(
        200,
        TYPES[extname(file)] ?? "application/octet-stream",
        readFileSync(file),
        headersOf(wanted),
      );
    } catch {
      send(404, "text/plain", "file not found");
    }
  });
  await new Promise((resolve, reject) =>
    server.once("error", reject).listen(port, "127.0.0.1", () => resolve(undefined))
  );
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${portOf(server)}${path}`, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = readCommandLine(HELP, {
    port: { type: "string" },
    path: { type: "string" },
    "no-build": { type: "boolean" },
    "build-only": { type: "boolean" },
  });
  const { port = "0", path = "/" } = values;
  if (!/^\d+$/.test(port) || !path.startsWith("/")) {
    console.error(`--port is a number and --path begins with "/"\n\n${HELP}`);
    process.exit(2);
  }
  leaveWithParent();
  ensureInstalled();
  try {
    if (!values["no-build"]) { for (const line of await buildDemo()) say(line); }
  } catch (e) {
    const isMissing = e.code === "ERR_MODULE_NOT_FOUND" && /'vite'/.test(e.message);
    console.error(
      isMissing
        ? "vite, which builds the page, is not installed: run npm ci (without --omit=dev) first"
        : e.message,
    );
    process.exit(1);
  }
  if (!values["build-only"]) {
    try {
      const { url } = await serveDemo({
        port: Number(port),
        path: path.endsWith("/") ? path : `${path}/`,
      });
      say(`the page is at ${url} (Ctrl-C ends it)`);
    } catch (e) {
      console.error(`the page cannot be served: ${e.message}`);
      process.exit(1);
    }
  }
}
