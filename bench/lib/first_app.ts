// A separate process for the size bench: the whole way of a first run, as an application has it.
// Imports the published package from the folder that is named, opens an application with a worker
// realm over a TypeScript module, and runs a workflow to its result. Node and Deno.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type * as Temporalex from "../../ts/mod.ts";

const [entry, store, workflows] = process.argv.slice(2) as [string, "memory" | "sqlite", string];
const dir = mkdtempSync(join(tmpdir(), "temporalex-first-"));
const began = performance.now();
const { open } = await import(entry) as typeof Temporalex;
const imported = performance.now();
const app = await open({
  ...(store === "sqlite" && { path: join(dir, "store.sqlite") }),
  workflows: new URL(workflows),
});
const opened = performance.now();
const result = await app.client.execute("Nothing", { id: "first", args: [] });
const done = performance.now();
if (result !== 1) throw new Error(`the workflow returned ${result}`);
await app.close();
rmSync(dir, { recursive: true });
const { user, system } = process.cpuUsage();
process.stdout.write(JSON.stringify({
  importMs: imported - began,
  openMs: opened - imported,
  firstResultMs: done - opened,
  totalMs: done - began,
  cpuMs: (user + system) / 1000,
}));
