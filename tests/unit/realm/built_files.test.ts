// Projects that a compiler turns into JavaScript: `new URL("./workflows.ts", import.meta.url)` in
// dist/main.js names a file that is not there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createWorkerRealm } from "../../../ts/realm/mod.ts";

const workflow = (name: string) =>
  `import { workflow } from "temporalex/workflow"; export const w = workflow("${name}", async () => 1);`;

async function typesOf(
  named: string,
  sources: { readonly [path: string]: string },
): Promise<readonly string[]> {
  const realm = await createWorkerRealm({ workflows: named, sources });
  try {
    return realm.workflowTypes;
  } finally {
    await realm.dispose();
  }
}

test("a missing TypeScript module is resolved to its JavaScript file", async () => {
  assert.deepEqual(
    await typesOf("/dist/workflows.ts", { "/dist/workflows.js": workflow("Built") }),
    ["Built"],
  );
  assert.deepEqual(
    await typesOf("/dist/workflows.mts", { "/dist/workflows.mjs": workflow("Built") }),
    ["Built"],
  );
  assert.deepEqual(
    await typesOf("/dist/workflows.tsx", { "/dist/workflows.js": workflow("Built") }),
    ["Built"],
  );
});

test("an existing TypeScript module is used, whatever files are next to it", async () => {
  const both = { "/src/workflows.ts": workflow("Source"), "/src/workflows.js": workflow("Built") };
  assert.deepEqual(await typesOf("/src/workflows.ts", both), ["Source"]);
});

test("a module without either file is reported by the given name", async () => {
  await assert.rejects(
    typesOf("/dist/workflows.ts", { "/dist/workflows.mjs": workflow("Other") }),
    /dist\/workflows\.ts/,
  );
});
