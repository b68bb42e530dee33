// Temporal's own command line on the socket of a store, or on the port with its secret where Deno
// has no sockets.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { fitsSocket, portPath } from "../../../ts/app/socket_path.ts";
import { open, silentLogger } from "../../../ts/mod.ts";
import * as activities from "../../unit/cli/flows/activities.ts";
import { noServer, temporalCli } from "./support/dev_server.ts";

test("Temporal's own command line starts, lists, updates, queries, signals and waits", {
  skip: noServer,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-theirs-"));
  const app = await open({
    path: join(folder, "shop.sqlite"),
    workflows: new URL("../../unit/cli/flows/workflows.ts", import.meta.url),
    activities,
    logger: silentLogger,
  });
  try {
    const store = join(folder, "shop.sqlite");
    const served = await app.served;
    const { secret = "" } = fitsSocket(store)
      ? {}
      : JSON.parse(readFileSync(portPath(store), "utf8")) as { secret?: string };
    const to = secret === ""
      ? ["--address", `unix://${served}`]
      : ["--address", served!, "--grpc-meta", `authorization=Bearer ${secret}`];
    const temporal = async (...args: string[]) =>
      JSON.parse(
        (await promisify(execFile)(temporalCli()!, ["workflow", ...args, ...to, "-o", "json"]))
          .stdout,
      );
    const at = ["--workflow-id", "theirs"];
    await temporal("start", "--type", "Cart", "--task-queue", "default", "--input", '"ada"', ...at);
    assert.equal(
      (await temporal("update", "execute", "--name", "add_item", "--input", '"BOOK"', ...at))
        .result,
      1,
    );
    assert.equal((await temporal("query", "--name", "status", ...at)).queryResult[0], "open");
    assert.equal((await temporal("list"))[0].execution.workflowId, "theirs");
    assert.equal(
      (await temporal("describe", ...at)).workflowExecutionInfo.status,
      "WORKFLOW_EXECUTION_STATUS_RUNNING",
    );
    await promisify(execFile)(temporalCli()!, [
      "workflow",
      "signal",
      "--name",
      "checkout",
      ...to,
      ...at,
    ]);
    assert.equal((await temporal("result", ...at)).result.receipt, "ada pays for BOOK");
    const theirs = await temporal("show", ...at);
    assert.deepEqual(
      theirs,
      JSON.parse(await app.client.getHandle(undefined, "theirs").historyJson()),
    );
  } finally {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
