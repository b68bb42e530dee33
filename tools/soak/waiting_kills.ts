// Kills of processes all of whose runs wait in a local activity: `node
// dist/tools/soak/waiting_kills.js [--kills 20] [--runs 20]`. One JSON line per life and one for
// the end; exit code 1 when a run was held.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { waitingLoop } from "../../tests/faults/crash/waiting_loop.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    kills: { type: "string", default: "20" },
    runs: { type: "string", default: "20" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log("usage: waiting_kills [--kills 20] [--runs 20]\n\nExit code 1: a run was held.");
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "temporalex-waiting-"));
try {
  const lives = await waitingLoop({
    path: join(folder, "store.db"),
    kills: Number(values.kills),
    runs: Number(values.runs),
    onLife: (life, figures) => console.log(JSON.stringify({ life, ...figures })),
  });
  const [first, ...later] = lives.map(({ fastMs }) => fastMs);
  const held = Math.max(...lives.map((life) => life.held));
  console.log(
    JSON.stringify({
      kills: later.length,
      held,
      fastMsBeforeKills: first,
      fastMsMax: Math.max(...later),
    }),
  );
  process.exitCode = held === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
