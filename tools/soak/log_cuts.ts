// The long loop of logs that are cut during commits: `node dist/tools/soak/log_cuts.js [--rounds
// 100] [--driver NAME] [--what log|file] [--seed N]` (or with Deno: `deno run -A
// tools/soak/log_cuts.ts`). One JSON line for each driver; exit code 1 when a commit was
// acknowledged too late, or when what is left is damaged.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { seeded } from "../../tests/faults/chaos/proxy.ts";
import { cutLoop } from "../../tests/faults/crash/log_cuts.ts";
import { sqliteDrivers } from "../../tests/unit/engine/support/stores.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    rounds: { type: "string", default: "100" },
    driver: { type: "string" },
    what: { type: "string", default: "log" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: log_cuts [--rounds 100] [--driver NAME] [--what log|file] [--seed N]\n\n" +
      "Cuts a store's log, or its file, from another process during commits, and checks what is acknowledged and what is left.",
  );
  process.exit(0);
}
let bad = false;
for (const { driver, skip } of sqliteDrivers) {
  if (skip !== false || (values.driver ?? driver) !== driver) continue;
  const folder = mkdtempSync(join(tmpdir(), "temporalex-cuts-"));
  try {
    const figures = await cutLoop({
      folder,
      driver,
      what: values.what === "file" ? "file" : "log",
      rounds: Number(values.rounds),
      random: seeded(Number(values.seed)),
    });
    bad ||= figures.problems.length > 0;
    console.log(JSON.stringify({ driver, what: values.what, ...figures }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exitCode = bad ? 1 : 0;
