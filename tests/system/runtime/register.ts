// Declares the runtime-neutral cases (tests/cases/*.ts) as tests of Node and, from the same file,
// of Deno. In Deno they are Deno's own tests: its node:test fails a test for every unhandled
// rejection, also for those that a listener takes, and the executor takes those of workflow code.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Case, type CaseGroup, runCase } from "../../cases/case.ts";
import { type Part, partOf } from "./parts.ts";

const folder = fileURLToPath(new URL("../../cases/", import.meta.url));

interface DenoTest {
  (
    test: { name: string; sanitizeOps: false; sanitizeResources: false; fn: () => Promise<void> },
  ): void;
}
const denoTest = (globalThis as { Deno?: { test?: DenoTest } }).Deno?.test;

function declare(file: string, one: Case): void {
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

/** Declares the cases of a part. */
export async function register(part: Part): Promise<void> {
  for (
    const file of readdirSync(folder).filter((name) =>
      /\.[jt]s$/.test(name) && partOf(name) === part
    ).sort()
  ) {
    if (!/export const cases\b/.test(readFileSync(join(folder, file), "utf8"))) continue;
    const { cases } = await import(
      new URL(file, new URL("../../cases/", import.meta.url)).href
    ) as CaseGroup;
    for (const one of cases) declare(file, one);
  }
}
