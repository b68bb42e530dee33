// runtime: node
// A branch as a test: the file that is written holds how the branch ended, in each runner, and
// fails where the code of today ends otherwise.
// takes: 13 s
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { historyJson, type TestRunner } from "../../../ts/debug/mod.ts";
import { createWorkerRealm } from "../../../ts/realm/mod.ts";
import { branchTestFiles, type Edit, runBranch } from "../../../ts/what_if/mod.ts";
import { missing, project, runTests } from "../cli/support/exported_tests.ts";
import { eventId, live } from "./support.ts";

/** As `order` of the programs, but for what it does with a charge that fails. */
const code = (refused: string) =>
  `import { activities, workflow } from "temporalex/workflow";
const { charge } = activities({ startToClose: "1m", retry: { maximumAttempts: 1 } });
export const order = workflow("Order", async () => {
  try {
    return await charge("ada");
  } catch {
    return ${JSON.stringify(refused)};
  }
});
`;

async function recorded(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-branch-"));
  try {
    project(folder);
    const path = join(folder, "workflows.js");
    writeFileSync(path, code("refused"));
    return await live({ of: pathToFileURL(path), type: "Order", args: [], acts: [] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const runner of ["node", "vitest", "deno"] as const satisfies readonly TestRunner[]) {
  test(`what if: a branch's test for ${runner} passes, and fails with code that ends differently`, async (t) => {
    const how = missing(runner);
    if (how !== undefined) return t.skip(`${runner} is not installed: ${how}`);
    const folder = mkdtempSync(join(tmpdir(), "temporalex-branch-"));
    try {
      project(folder);
      const module = join(folder, "workflows.ts");
      writeFileSync(module, code("refused"));
      const history = await recorded();
      const end = { kind: "failed", failure: { message: "card declined \u2028" } } as const;
      const edits: Edit[] = [{
        kind: "activity",
        eventId: eventId(history, "activityTaskScheduled"),
        end,
      }];
      const realm = await createWorkerRealm({ workflows: module });
      try {
        const result = await runBranch(history, { realm, edits });
        assert.equal(result.outcome.kind, "completed");
        const title = "what if: the payment fails";
        const files = branchTestFiles(history, {
          runner,
          name: "order",
          workflows: "./workflows.ts",
          edits,
          result,
          title,
        });
        assert.equal(files.history.text, historyJson(history));
        for (const { name, text } of [files.test, files.history]) {
          writeFileSync(join(folder, name), text);
        }
        assert.deepEqual([...await runTests(runner, folder, [files.test.name])], [[title, ""]]);
        writeFileSync(module, code("asked again"));
        assert.match(
          (await runTests(runner, folder, [files.test.name])).get(title) ?? "",
          /asked again/,
        );
      } finally {
        await realm.dispose();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
