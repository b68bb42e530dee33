// A process that is killed at any moment between transactions of rows, signals, starts and
// broadcasts: each transaction is there as a whole or not at all, in order, and no acknowledged one
// is lost. TRANSACTION_KILLS sets the number of kills, for soak runs.
// takes: 24 s
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { open, silentLogger } from "../../../ts/mod.ts";
import { startModule } from "../engine/support/child.ts";
import { inFolder } from "../engine/support/stores.ts";
import { hears, listener } from "./transactions/workflows.ts";

const KILLS = Number(process.env["TRANSACTION_KILLS"] ?? 20);
const child = new URL(
  import.meta.url.endsWith(".js")
    ? "../../faults/crash/transactions/child.js"
    : "../../faults/crash/transactions/child.ts",
  import.meta.url,
);

test("transactions around kill -9 are whole and in order, and acknowledged ones are kept", () =>
  inFolder(async (folder) => {
    const path = join(folder, "transactions.sqlite");
    let acknowledged = 0;
    for (let life = 0; life < KILLS; life++) {
      const running = startModule(child, [path]);
      let lines = 0;
      const killAfter = 1 + Math.floor(Math.random() * 20);
      for await (const line of running.lines) {
        acknowledged = Math.max(acknowledged, Number(line) + 1);
        if (++lines === killAfter) running.process.kill("SIGKILL");
      }
      await running.exited;
      assert.ok(lines >= killAfter, running.errors());
    }
    const app = await open({
      path,
      workflows: { listener, hears },
      serve: false,
      logger: silentLogger,
    });
    try {
      const rows = app.engine.tables.all<{ line: string }>("SELECT line FROM line ORDER BY id")
        .map(({ line }) => line);
      assert.deepEqual(rows, rows.map((_, i) => String(i)));
      assert.ok(rows.length >= acknowledged, `${rows.length} rows of ${acknowledged}`);
      for (const { name } of [listener, hears]) {
        const { events } = await app.client.getHandle(undefined, name).fetchHistory();
        const signals = events.flatMap(({ attributes }) =>
          attributes.case === "workflowExecutionSignaledEventAttributes"
            ? [JSON.parse(new TextDecoder().decode(attributes.value.input!.payloads[0]!.data))]
            : []
        );
        assert.deepEqual(signals, rows, name);
      }
      assert.equal(await app.client.count(), rows.length + 2);
      assert.deepEqual(app.engine.store.check(), []);
    } finally {
      await app.close();
    }
  }));
