// A process that backfills a schedule until it is killed. Writes the number of each backfill that
// was acknowledged. Arguments: the store's path, the number of the first backfill.
import process from "node:process";
import { Client, silentLogger } from "../../../../ts/client/mod.ts";
import { EmbeddedEngine } from "../../../../ts/engine/mod.ts";
import { BACKFILL_MS, FIRST_MS, PERIOD } from "./backfills.ts";

const [path = "", first = "0"] = process.argv.slice(2);
const engine = await EmbeddedEngine.open({ path, synchronous: "NORMAL" });
const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
const handle = Number(first) > 0 ? client.schedule.getHandle("s") : await client.schedule.create({
  scheduleId: "s",
  spec: { intervals: [{ every: PERIOD }] },
  action: { type: "startWorkflow", workflowType: "W", workflowId: "w" },
  state: { paused: true },
});
for (let n = Number(first);; n++) {
  const start = FIRST_MS + n * BACKFILL_MS;
  await handle.backfill({
    start: new Date(start),
    end: new Date(start + BACKFILL_MS - 1000),
    overlap: "ALLOW_ALL",
  });
  process.stdout.write(`${n}\n`);
}
