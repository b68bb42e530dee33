// runtime: node
// A loop of a test's program ends by itself. Deno leaves a terminated thread computing
// (docs/dev/decisions/018-spinning-threads-in-deno.md): one without an end takes a core from all
// tests that follow in the process, and those that wait for rest never see it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ENDLESS = /\b(?:for \(\s*;;\s*\)|while \((?:true|1)\)) ?(?:;|\{\s*\})/;

const walk = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === "node_modules") return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? walk(path) : path.endsWith(".ts") ? [path] : [];
  });

test("the loops of test programs that Deno runs end by themselves", () => {
  const endless = walk("tests").flatMap((path) => {
    const text = readFileSync(path, "utf8");
    if (/^\/\/ runtime: node\b/m.test(text.slice(0, 600))) return [];
    return text.split("\n").flatMap((line, i) =>
      ENDLESS.test(line) && !line.startsWith("const ENDLESS") ? [`${path}:${i + 1}`] : []
    );
  });
  assert.deepEqual(
    endless,
    [],
    "count far beyond the time that the test gives: for (let i = 0; i < 1.5e10; i++);",
  );
});
