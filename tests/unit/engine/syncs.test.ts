// Each driver asks the system for a sync per acknowledged commit with FULL, and for none with
// NORMAL. Counted from outside, by strace.
// takes: 6 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inFolder, sqliteDrivers } from "./support/stores.ts";

const COMMITS = 25;
const child = fileURLToPath(
  new URL(
    import.meta.url.endsWith(".js") ? "./support/commits.js" : "./support/commits.ts",
    import.meta.url,
  ),
);
const runtime = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : ["--no-warnings"];
const TRACE = ["-f", "-qq", "-e", "trace=fsync,fdatasync"];

/** Some containers have strace and forbid it. */
function noStrace(): string | false {
  const tried = spawnSync("strace", [...TRACE, process.execPath, "--version"], {
    encoding: "utf8",
  });
  return tried.status === 0
    ? false
    : `strace cannot count syncs here (${tried.error?.message ?? tried.stderr.trim()})`;
}
const missing = noStrace();

/** Syncs of a process that commits so often. */
function syncs(folder: string, driver: string, synchronous: string, commits: number): number {
  const trace = join(folder, `${commits}.trace`);
  const path = join(folder, `${commits}.db`);
  const argv = [
    ...TRACE,
    "-o",
    trace,
    process.execPath,
    ...runtime,
    child,
    path,
    driver,
    synchronous,
    String(commits),
  ];
  const { status, stderr } = spawnSync("strace", argv, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return readFileSync(trace, "utf8").match(/\bf(?:data)?sync\(/g)?.length ?? 0;
}

for (const { driver, skip } of sqliteDrivers) {
  const check = (name: string, body: (folder: string) => void) =>
    test(`${driver}: ${name}`, { skip: skip || missing }, () => inFolder(body));

  for (const synchronous of ["FULL", "default"]) {
    check(`${synchronous} is a sync for each commit`, (folder) => {
      const took = syncs(folder, driver, synchronous, COMMITS) -
        syncs(folder, driver, synchronous, 0);
      assert.equal(took, COMMITS);
    });
  }

  check("a commit with NORMAL does not sync", (folder) => {
    const took = syncs(folder, driver, "NORMAL", COMMITS) - syncs(folder, driver, "NORMAL", 0);
    assert.equal(took, 0);
  });
}
