// Serves a folder of bundles to a page from a loopback port, as an ordinary site would: no
// isolation headers.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm" };

/**
 * Returns the port of a server that listens on an address.
 *
 * @param {import("node:http").Server} server
 */
export const portOf = (server) =>
  /** @type {import("node:net").AddressInfo} */ (server.address()).port;

/** Returns { url, close }. "/" is an empty page. */
export async function serveFolder(dir) {
  const server = createServer((req, res) => {
    const path = new URL(req.url ?? "/", "http://localhost").pathname;
    if (path === "/") {
      return res.writeHead(200, { "content-type": "text/html" }).end(
        "<!doctype html><meta charset=utf-8>",
      );
    }
    try {
      const file = readFileSync(join(dir, path.replace(/[^a-z0-9_.-]/gi, "")));
      const type = TYPES[path.slice(path.lastIndexOf("."))] ?? "application/octet-stream";
      res.writeHead(200, { "content-type": type }).end(file);
    } catch {
      res.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  return { url: `http://127.0.0.1:${portOf(server)}/`, close: () => server.close() };
}
