// Kills a process between transactions of rows, signals, starts and broadcasts, again and again, and
// compares rows and histories: each transaction is there as a whole or not at all, in order, and no
// acknowledged one is lost.
import assert from "node:assert/strict";
import { open, silentLogger } from "../../../../ts/mod.ts";
import { hears, listener } from "../../../unit/app/transactions/workflows.ts";
import { startModule } from "../../../unit/engine/support/child.ts";

const child = new URL(
  import.meta.url.endsWith(".js") ? "./child.js" : "./child.ts",
  import.meta.url,
);

/** Kills with SIGKILL after 1 to 20 acknowledged transactions. Returns the number of rows. */
export async function transactionLoop(
  path: string,
  kills: number,
  random: () => number,
): Promise<number> {
  let acknowledged = 0;
  for (let life = 0; life < kills; life++) {
    const running = startModule(child, [path]);
    let lines = 0;
    const killAfter = 1 + Math.floor(random() * 20);
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
    return rows.length;
  } finally {
    await app.close();
  }
}
