// Writes sw.js next to the page: the service worker with the list of the page's files. The files of
// the rooms Open and Runs are fetched when it is installed; the engine and SQLite are kept after
// their first use.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Kept when they are fetched, and not before. */
const LATER = /^assets\/(?:engine|sqlite|shop|part)/;

/** `unused`: names of bundled files that the page never fetches. */
export function writeServiceWorker(dist, unused) {
  const assets = readdirSync(join(dist, "assets")).filter((name) =>
    !name.endsWith(".map") && !unused.test(name)
  ).sort();
  const all = ["index.html", "sandbox.html", ...assets.map((name) => `assets/${name}`)];
  const hash = createHash("sha256");
  for (const file of all) hash.update(file).update(readFileSync(join(dist, file)));
  const files = { all, first: all.filter((file) => !LATER.test(file)) };
  const text = readFileSync(new URL("service_worker.js", import.meta.url), "utf8")
    .replace('"%FILES%"', JSON.stringify(files)).replace(
      "%VERSION%",
      hash.digest("hex").slice(0, 16),
    );
  writeFileSync(join(dist, "sw.js"), text);
}
