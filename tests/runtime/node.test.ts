// Runs the runtime-neutral cases (tests/cases/*.ts) under node:test: in Node and, the same file, in Deno.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type CaseGroup, runCase } from "../cases/case.ts";

const folder = fileURLToPath(new URL("../cases/", import.meta.url));
const files = readdirSync(folder).filter((name) =>
  /\.[jt]s$/.test(name) && /export const cases\b/.test(readFileSync(join(folder, name), "utf8"))
).sort();

for (const file of files) {
  const { cases } = await import(new URL(`../cases/${file}`, import.meta.url).href) as CaseGroup;
  for (const one of cases) {
    test(`${file.replace(/\.[jt]s$/, "")}: ${one.name}`, async (t) => {
      const result = await runCase(file, one);
      if (result.status === "skipped") t.skip(result.error);
      else assert.equal(result.status, "passed", result.error);
    });
  }
}
