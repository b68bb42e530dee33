// The long crash loop with poison: `node dist/tools/soak/poison.js --rounds 200 [--path FILE]`. One
// JSON line per round and one for the end; exit code 1 when an innocent workflow was lost or held,
// or a poison one was not held.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { poisonLoop } from "../../tests/faults/crash/poison_loop.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    rounds: { type: "string", default: "200" },
    path: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: poison [--rounds 200] [--path FILE]\n\nKills processes, and lets them die of workflows on which V8 ends the process, again and again on one store.",
  );
  process.exit(0);
}
const folder = values.path === undefined
  ? mkdtempSync(join(tmpdir(), "temporalex-poison-"))
  : undefined;
const began = performance.now();
try {
  const judgement = await poisonLoop({
    path: values.path ?? join(folder!, "store.db"),
    rounds: Number(values.rounds),
    onRound: (round, figures) => console.log(JSON.stringify({ round, ...figures })),
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
