// A call of a Nexus operation where there are no endpoints: the workflow's task fails by name, and the run can be ended.
// runtime: node
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { open } from "../../ts/mod.ts";
import { silentLogger } from "../../ts/base/logger.ts";
import { until } from "../support/until.ts";

const PROGRAM = `import * as wf from "@temporalio/workflow";
const service = { name: "desk", operations: { ask: { name: "ask" } } };
const client = wf.createNexusServiceClient({ endpoint: "front", service });
export async function asks() { return await client.executeOperation("ask", 1); }
`;

test("on the embedded engine a Nexus operation fails the task by the name of its command", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-nexus-"));
  const workflows = join(folder, "workflows.ts");
  writeFileSync(workflows, PROGRAM);
  const app = await open({ workflows, logger: silentLogger });
  try {
    const handle = await app.client.start("asks", { id: "asks" });
    const failed = await until("the failed task", async () => {
      const { events } = await handle.fetchHistory();
      return events.map(({ attributes }) => attributes).find(({ case: kind }) => kind === "workflowTaskFailedEventAttributes");
    });
    const { failure } = failed.value as { failure?: { message: string } };
    assert.match(failure!.message, /COMMAND_TYPE_SCHEDULE_NEXUS_OPERATION is not supported by this engine/);
    await handle.terminate("seen");
    await assert.rejects(handle.result(), /terminated/);
  } finally {
    await app.close();
    rmSync(folder, { recursive: true });
  }
});
