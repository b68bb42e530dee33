// A call of a Nexus operation without a matching endpoint: the workflow task fails with advice, and
// the run can be ended. Native workflows and workflows of `@temporalio/workflow` in one module.
// runtime: node
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { open } from "../../../ts/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { until } from "../../support/until.ts";

const PROGRAM = `import * as wf from "@temporalio/workflow";
const service = { name: "desk", operations: { ask: { name: "ask" } } };
const client = wf.createNexusServiceClient({ endpoint: "front", service });
export async function asks() { return await client.executeOperation("ask", 1); }
import { nexus, workflow } from "temporalex/workflow";
export const native = workflow("native", () => nexus("desk", { endpoint: "front" }).ask(1));
`;

test("on the embedded engine a Nexus operation fails the task with advice", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-nexus-"));
  const workflows = join(folder, "workflows.ts");
  writeFileSync(workflows, PROGRAM);
  const app = await open({ workflows, logger: silentLogger });
  try {
    for (const type of ["asks", "native"]) {
      const handle = await app.client.start(type, { id: type });
      const failed = await until("the failed task", async () => {
        const { events } = await handle.fetchHistory();
        return events.map(({ attributes }) => attributes).find(({ case: kind }) =>
          kind === "workflowTaskFailedEventAttributes"
        );
      });
      const { failure } = failed.value as { failure?: { message: string } };
      assert.match(
        failure!.message,
        /^FeatureDisabled: Nexus operations need a Temporal cluster or temporalex dev, .*: connect the worker to one \(temporalex worker --address <host:port>\)/,
      );
      await handle.terminate("seen");
      await assert.rejects(handle.result(), /terminated/);
    }
  } finally {
    await app.close();
    rmSync(folder, { recursive: true });
  }
});
