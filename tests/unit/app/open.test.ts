// open(): everything in one object, on a file, over restarts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { open, type OpenOptions, silentLogger, StoreLockedError } from "../../../ts/mod.ts";
import * as shop from "./shop.ts";
import { approve, order, status } from "./workflows/order.ts";
import { until } from "../../support/until.ts";

const workflows = new URL("./workflows/order.ts", import.meta.url);
const options = (more: OpenOptions = {}): OpenOptions => ({
  workflows,
  activities: shop,
  logger: silentLogger,
  ...more,
});

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-open-"));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("a misspelled option is rejected: without `path` the store would not be persistent", async () => {
  const misspelt = { ...options(), paht: "shop.sqlite" } as OpenOptions;
  await assert.rejects(open(misspelt), {
    name: "TypeError",
    message: /^open has no option "paht"; did you mean path\?$/,
  });
});

test("a value that is not a workflow or message definition is rejected with its name, in every API", async () => {
  const app = await open(options());
  try {
    const missing =
      (shop as unknown as { [name: string]: typeof order & typeof status & typeof approve })[
        "oder"
      ]!;
    const refusal = {
      name: "TypeError",
      message: /expected a definition or a name of a workflow or message, not undefined/,
    };
    await assert.rejects(
      async () => app.client.start(missing as typeof order, { id: "o", args: ["book"] }),
      refusal,
    );
    const handle = app.client.getHandle(order, "o");
    await assert.rejects(async () => handle.signal(missing, "ada"), refusal);
    await assert.rejects(async () => handle.query(missing), refusal);
  } finally {
    await app.close();
  }
});

test("a primitive that is called outside of a workflow prints its error message if nothing catches it", async () => {
  const { sleep } = await import("../../../ts/workflow/mod.ts");
  await assert.rejects(
    async () => await sleep(1),
    (error: Error) => error.stack!.includes("outside of a workflow turn"),
  );
});

test("an interrupted order in a file store continues after the next open", () =>
  withFolder(async (folder) => {
    const path = join(folder, "shop.sqlite");
    const first = await open(options({ path }));
    const handle = await first.client.start(order, { id: "order-1", args: ["book"] });
    await until("it waits", async () => await handle.query(status) === "waiting");
    await assert.rejects(open(options({ path })), StoreLockedError);
    await first.close();
    await first.done;
    assert.equal(first.worker.state, "stopped");

    const second = await open(options({ path }));
    const again = second.client.getHandle(order, "order-1");
    assert.equal(await again.query(status), "waiting");
    await again.signal(approve, "ada");
    assert.deepEqual(await again.result(), {
      reservation: "reserved book",
      by: "ada",
      tracking: "reserved book shipped in attempt 1",
    });
    assert.equal((await again.describe()).status, "COMPLETED");
    await second.close();
    await second.close();
  }));

test("without a path the store is in memory; engine, worker and client take separate options", async () => {
  const app = await open(options({
    taskQueue: "mine",
    engine: { namespace: "shop" },
    client: { identity: "me" },
    worker: { cachedWorkflows: 0, identity: "worker" },
  }));
  const handle = await app.client.signalWithStart(order, {
    id: "1",
    args: ["pen"],
    signal: approve,
    signalArgs: ["bob"],
  });
  assert.equal((await handle.result()).by, "bob");
  const description = await handle.describe();
  assert.equal(description.taskQueue, "mine");
  const started = (await handle.fetchHistory()).events[0]!;
  assert.equal((started.attributes.value as { identity: string }).identity, "me");
  await app.close();
});

test("if workflows fail to load, open() closes everything that it opened", () =>
  withFolder(async (folder) => {
    const path = join(folder, "shop.sqlite");
    await assert.rejects(
      open({
        path,
        workflows: new URL("./workflows/missing.ts", import.meta.url),
        logger: silentLogger,
      }),
    );
    const app = await open(options({ path }));
    await app.close();
  }));
