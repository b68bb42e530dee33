// The long crash loop of application transactions: `node dist/tools/soak/transaction_kills.js --kills
// 1000 [--each 50]`. Every `--each` kills it continues with a new file. One JSON line per file and
// one for the end; exit code 1 when rows and histories disagree.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { transactionLoop } from "../../tests/faults/crash/transactions/loop.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    kills: { type: "string", default: "1000" },
    each: { type: "string", default: "50" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: transaction_kills [--kills 1000] [--each 50]\n\n--each: kills of one file.\nKills a process between application transactions again and again; compares rows and histories.",
  );
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "temporalex-transactions-"));
const [kills, each] = [Number(values.kills), Number(values.each)];
const began = performance.now();
let done = 0, transactions = 0;
try {
  while (done < kills) {
    const path = join(folder, `transactions-${done}.sqlite`);
    const now = Math.min(each, kills - done);
    const rows = await transactionLoop(path, now, Math.random);
    done += now;
    transactions += rows;
    console.log(JSON.stringify({ kills: done, transactions: rows }));
    for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(JSON.stringify({ ok: true, kills: done, transactions, seconds }));
} catch (error) {
  // The files stay, for an inspection.
  console.log(JSON.stringify({ ok: false, kills: done, folder, error: String(error) }));
  process.exitCode = 1;
}
if (process.exitCode !== 1) rmSync(folder, { recursive: true, force: true });
