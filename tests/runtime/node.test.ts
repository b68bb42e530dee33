// Runs the runtime-neutral cases (tests/cases/*.ts) in Node and, the same file, in Deno. In Deno they are Deno's own tests: its node:test
// fails a test for every unhandled rejection, also for those that a listener takes, and the executor takes those of workflow code.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Case, type CaseGroup, runCase } from "../cases/case.ts";

const folder = fileURLToPath(new URL("../cases/", import.meta.url));
const files = readdirSync(folder).filter((name) =>
  /\.[jt]s$/.test(name) && /export const cases\b/.test(readFileSync(join(folder, name), "utf8"))
).sort();

interface DenoTest {
  (test: { name: string; sanitizeOps: false; sanitizeResources: false; fn: () => Promise<void> }): void;
}
const denoTest = (globalThis as { Deno?: { test?: DenoTest } }).Deno?.test;

function register(file: string, one: Case): void {
  const name = `${file.replace(/\.[jt]s$/, "")}: ${one.name}`;
  const run = async (skip: (reason: string) => void) => {
    const result = await runCase(file, one);
    if (result.status === "skipped") skip(result.error ?? "");
    else assert.equal(result.status, "passed", result.error);
  };
  if (denoTest === undefined) test(name, (t) => run((reason) => t.skip(reason)));
  else {
    denoTest({
      name,
      sanitizeOps: false,
      sanitizeResources: false,
      fn: () => run((reason) => console.log(`skipped: ${name}: ${reason}`)),
    });
  }
}

for (const file of files) {
  const { cases } = await import(new URL(`../cases/${file}`, import.meta.url).href) as CaseGroup;
  for (const one of cases) register(file, one);
}
