// The long crash loop: `node dist/tools/soak/kill9.js --rounds 300 [--driver
// node:sqlite|libsql|node-sqlite3-wasm] [--synchronous FULL|NORMAL] [--clients 4] [--path FILE]`
// (or with Deno: `deno run -A tools/soak/kill9.ts`). One JSON line per round and one for the end;
// exit code 1 when anything was lost, invented or recorded twice.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { crashLoop } from "../../tests/faults/crash/loop.ts";
import type { DriverName, Synchronous } from "../../ts/engine/mod.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    rounds: { type: "string", default: "300" },
    driver: { type: "string" },
    synchronous: { type: "string", default: "FULL" },
    clients: { type: "string", default: "4" },
    path: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: kill9 [--rounds 300] [--driver NAME] [--synchronous FULL|NORMAL] [--clients 4] [--path FILE]\n\nKills a working process again and again and judges its store after each kill.",
  );
  process.exit(0);
}
const folder = values.path === undefined
  ? mkdtempSync(join(tmpdir(), "temporalex-kill9-"))
  : undefined;
const began = performance.now();
try {
  const judgement = await crashLoop({
    path: values.path ?? join(folder!, "store.db"),
    rounds: Number(values.rounds),
    clients: Number(values.clients),
    synchronous: values.synchronous as Synchronous,
    ...(values.driver !== undefined && { driver: values.driver as DriverName }),
    onRound: (round, { problems, ...figures }) =>
      console.log(JSON.stringify({ round, ...figures, problems })),
  });
  console.log(
    JSON.stringify({
      rounds: Number(values.rounds),
      ...judgement,
      seconds: Math.round((performance.now() - began) / 1000),
    }),
  );
  process.exitCode = judgement.problems.length === 0 ? 0 : 1;
} finally {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
