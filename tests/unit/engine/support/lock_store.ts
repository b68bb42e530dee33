// A separate process that locks a store's file for writing, as a viewer of databases does:
// `lock_store PATH DRIVER` prints "locked".
import process from "node:process";
import { builtins } from "../../../../ts/engine/sqlite/builtins.ts";
import type { DriverName } from "../../../../ts/engine/sqlite/driver.ts";
import { loadLibrary } from "../../../../ts/engine/sqlite/libraries.ts";

const database = loadLibrary(builtins()!, process.argv[3] as DriverName).open(process.argv[2]!);
database.exec("BEGIN IMMEDIATE");
console.log("locked");
setInterval(() => database.prepare("SELECT 1").get([]), 1000);
