// A process that opens a store, commits COUNT times, and dies without closing it: `commits PATH
// DRIVER FULL|NORMAL|default COUNT`. A test counts its syncs for two values of COUNT; the
// difference is the cost of the commits.
import process from "node:process";
import type { DriverName } from "../../../../ts/engine/sqlite/driver.ts";
import type { Synchronous } from "../../../../ts/engine/sqlite/open.ts";
import { SqliteStore } from "../../../../ts/engine/sqlite/store.ts";
import { batch, created, row, write } from "./records.ts";

const [path = "", driver, synchronous, count] = process.argv.slice(2);
const store = SqliteStore.open(path, {
  driver: driver as DriverName,
  ...(synchronous !== "default" && { synchronous: synchronous as Synchronous }),
});
store.commit([created("wf", "run", 1)]);
for (let i = 2; i < Number(count) + 2; i++) {
  store.commit([write(row("wf", "run", { historyLength: i }), { append: [batch(i, i)] })]);
}
process.exit(0);
