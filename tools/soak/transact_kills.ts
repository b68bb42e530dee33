// The long crash loop of reducers: `node dist/tools/soak/transact_kills.js --rounds 300 [--each 50]
// [--clerks 8]`. Every `--each` kills it continues with a new file, because checking one takes
// longer the more runs are in it. One JSON line per round and one for the end; exit code 1 when
// tables and histories disagree.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { bankLoop } from "../../tests/faults/crash/bank/loop.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    rounds: { type: "string", default: "300" },
    clerks: { type: "string", default: "8" },
    each: { type: "string", default: "50" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: transact_kills [--rounds 300] [--each 50] [--clerks 8]\n\n--each: kills of one file.\nKills a process whose workflows use transact again and again; compares tables and histories after each kill.",
  );
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "temporalex-bank-"));
const began = performance.now();
const [rounds, each] = [Number(values.rounds), Number(values.each)];
const sum = { runs: 0, done: 0, thrown: 0 };
let kills = 0;
const problems: string[] = [];
try {
  for (let before = 0; before < rounds && problems.length === 0; before += each) {
    const path = join(folder, `bank-${before}.db`);
    const judgement = await bankLoop({
      path,
      rounds: Math.min(each, rounds - before),
      clerks: Number(values.clerks),
      killWithinMs: 2000,
      onRound: (round, found) => {
        kills++;
        console.log(JSON.stringify({ round: before + round, ...found }));
      },
    });
    for (const figure of ["runs", "done", "thrown"] as const) sum[figure] += judgement[figure];
    problems.push(...judgement.problems);
    if (problems.length === 0) {
      for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
    }
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(JSON.stringify({ kills, files: Math.ceil(kills / each), ...sum, problems, seconds }));
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  if (problems.length === 0) rmSync(folder, { recursive: true, force: true });
  else console.error(`the files are kept in ${folder}`);
}
