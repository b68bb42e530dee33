// The long crash loop of reducers: `node dist/tools/soak/transact_kills.js --rounds 300 [--clerks 8] [--path FILE]`. One JSON line per round
// and one for the end; exit code 1 when tables and histories disagree.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { bankLoop } from "../../tests/crash/bank/loop.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    rounds: { type: "string", default: "300" },
    clerks: { type: "string", default: "8" },
    path: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: transact_kills [--rounds 300] [--clerks 8] [--path FILE]\n\nKills a process whose workflows use transact again and again; compares tables and histories after each kill.",
  );
  process.exit(0);
}
const folder = values.path === undefined ? mkdtempSync(join(tmpdir(), "temporalex-bank-")) : undefined;
const began = performance.now();
try {
  const judgement = await bankLoop({
    path: values.path ?? join(folder!, "bank.db"),
    rounds: Number(values.rounds),
    clerks: Number(values.clerks),
    killWithinMs: 2000,
    onRound: (round, each) => console.log(JSON.stringify({ round, ...each })),
  });
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(JSON.stringify({ rounds: Number(values.rounds), ...judgement, seconds }));
  process.exitCode = judgement.problems.length === 0 ? 0 : 1;
} finally {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
