// A process that opens a store and holds it until it is killed: `hold_store <path> <driver>` prints
// "open" or the error's name.
import process from "node:process";
import type { DriverName } from "../../../../ts/engine/sqlite/driver.ts";
import { SqliteStore } from "../../../../ts/engine/sqlite/store.ts";

try {
  const store = SqliteStore.open(process.argv[2]!, { driver: process.argv[3] as DriverName });
  console.log(`open ${process.pid}`);
  setInterval(() => store.nextWake(), 1000);
} catch (e) {
  console.log(`${(e as Error).name}: ${(e as Error).message}`);
}
