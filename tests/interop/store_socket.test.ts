// Temporal's own command line on the socket beside a store.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { open, silentLogger } from "../../ts/mod.ts";
import * as activities from "../cli/flows/activities.ts";
import { noServer, temporalCli } from "./support/dev_server.ts";

test("Temporal's own command line starts, lists, updates, queries, signals and waits", { skip: noServer }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-theirs-"));
  const app = await open({
    path: join(folder, "shop.sqlite"),
    workflows: new URL("../cli/flows/workflows.ts", import.meta.url),
    activities,
    logger: silentLogger,
  });
  try {
    const address = `unix://${await app.served}`;
    const temporal = async (...args: string[]) =>
      JSON.parse((await promisify(execFile)(temporalCli()!, ["workflow", ...args, "--address", address, "-o", "json"])).stdout);
    const at = ["--workflow-id", "theirs"];
    await temporal("start", "--type", "Cart", "--task-queue", "default", "--input", '"ada"', ...at);
    assert.equal((await temporal("update", "execute", "--name", "add_item", "--input", '"BOOK"', ...at)).result, 1);
    assert.equal((await temporal("query", "--name", "status", ...at)).queryResult[0], "open");
    assert.equal((await temporal("list"))[0].execution.workflowId, "theirs");
    assert.equal((await temporal("describe", ...at)).workflowExecutionInfo.status, "WORKFLOW_EXECUTION_STATUS_RUNNING");
    await promisify(execFile)(temporalCli()!, ["workflow", "signal", "--name", "checkout", "--address", address, ...at]);
    assert.equal((await temporal("result", ...at)).result.receipt, "ada pays for BOOK");
    const theirs = await temporal("show", ...at);
    assert.deepEqual(theirs, JSON.parse(await app.client.getHandle(undefined, "theirs").historyJson()));
  } finally {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
